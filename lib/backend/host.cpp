#include "backend/makers_on.hpp"
#include "sweeps/host/executor.hpp"

namespace cudaopt {
const Makers host_makers = makers_on<HostExecutor>;
} // namespace cudaopt
