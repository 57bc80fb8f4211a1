// Compiles batches on the host in double precision.
#include "batch/host_machine.hpp"

namespace cudaopt {

template std::unique_ptr<BatchMachine> make_host_batch<double>(batch::Shape, bool);

} // namespace cudaopt
