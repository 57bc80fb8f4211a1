#include "backend/makers_on.hpp"
#include "sweeps/host/executor.hpp"

const cudaopt::Makers cudaopt::host_makers = makers_on<HostExecutor>;
