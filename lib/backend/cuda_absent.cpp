// Replaces cuda.cu if the library is built without a CUDA compiler. The functions are not called.
#include "backend/makers.hpp"

namespace cudaopt {
const Makers cuda_makers{};
} // namespace cudaopt
