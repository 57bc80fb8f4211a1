// Replaces cuda.cu if the library is built without a CUDA compiler. The functions are not called.
#include "backend/makers.hpp"

const cudaopt::Makers cudaopt::cuda_makers{};
