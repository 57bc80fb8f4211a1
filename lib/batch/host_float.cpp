// Compiles batches on the host in single precision.
#include "batch/host_machine.hpp"

template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_host_batch<float>(batch::Shape, bool);
