#include <stdexcept>

#include "bench/batch/multistart.hpp"

namespace cudaopt::bench {

MultistartRow multistart_on_cuda(const Multistart &) { throw std::runtime_error("built without CUDA"); }

} // namespace cudaopt::bench
