#include "bench/batch/on_cuda.cuh"

namespace cudaopt::bench {

template std::vector<BatchRow> rows_on_cuda<100>(const BatchTask &task);

} // namespace cudaopt::bench
