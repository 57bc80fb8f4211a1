// Replaces dgemm.cu in a build without cuBLAS.
#include "dgemm.hpp"

namespace cudaopt::bench {

std::unique_ptr<Dgemm> make_dgemm(int64_t, int, void *) { return nullptr; }

} // namespace cudaopt::bench
