// Replaces cuda.cu if the library is built without a CUDA compiler.
#include "scaling/scaled_variables.hpp"

namespace cudaopt {

std::unique_ptr<ScaledVariables> make_cuda_scaled_variables(int64_t, int, int) { return nullptr; }

} // namespace cudaopt
