// Replaces cuda.cu if the library is built without a CUDA compiler.
#include "pattern/sweeps.hpp"

namespace cudaopt {

std::unique_ptr<SearchSweeps> make_cuda_search() { return nullptr; }

} // namespace cudaopt
