// Creates batches on CUDA with one thread per problem, if the capacity of the history is a compile-time constant.
#pragma once

#include "batch/machine.hpp"

namespace cudaopt {

template <class Real, int m, bool weights = false> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads();
// Creates a batch for problems without bounds, whose persistent data is stored in shared memory. Returns NULL if the
// device has too little shared memory.
template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_in_shared();

} // namespace cudaopt
