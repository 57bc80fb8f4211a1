// Compiles batches on the host in double precision.
#include "batch/host_machine.hpp"

template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_host_batch<double>(batch::Shape, bool);
