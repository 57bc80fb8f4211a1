// A batch on CUDA with a thread for each problem, for numbers of pairs that the compiler knows.
#pragma once

#include "batch/machine.hpp"

namespace cudaopt {

template <class Real, int m, bool weights = false> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads();
// For problems without bounds, with their states in shared memory. NULL: the device has too little of it.
template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_in_shared();

} // namespace cudaopt
