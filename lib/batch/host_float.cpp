// Compiles batches on the host in single precision.
#include "batch/host_machine.hpp"

namespace cudaopt {

template std::unique_ptr<BatchMachine> make_host_batch<float>(batch::Shape, bool);

} // namespace cudaopt
