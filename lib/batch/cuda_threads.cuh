// What cuda_threads.hpp promises: a translation unit for each number of pairs.
#pragma once

#include "batch/cuda_teams.cuh"
#include "batch/cuda_threads.hpp"
#include "batch/machine_on.hpp"

namespace cudaopt {

template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads() {
    using Shape = batch::ThreadShape<m>;
    constexpr Shape largest{batch::most_of_thread};
    constexpr auto desk = static_cast<int>(batch::vectors_offset(largest) + batch::scratch_bytes(largest));
    return std::make_unique<BatchMachineOn<Real, CudaTeams<desk>, Shape>>();
}

} // namespace cudaopt
