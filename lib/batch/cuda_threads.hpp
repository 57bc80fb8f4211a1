// A batch on CUDA with one thread per problem, for numbers of pairs that are compile-time constants.
#pragma once

#include "batch/machine.hpp"

namespace cudaopt {

template <class Real, int m, bool weights = false> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads();
// For problems without bounds, with their persistent data in shared memory. Returns NULL if the device has too little
// of it.
template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_in_shared();

} // namespace cudaopt
