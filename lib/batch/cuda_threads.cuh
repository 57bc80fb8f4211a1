// What cuda_threads.hpp promises: a translation unit for each number of pairs.
#pragma once

#include "batch/cuda_teams.cuh"
#include "batch/cuda_threads.hpp"
#include "batch/machine_on.hpp"

namespace cudaopt {

template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads() {
    using Shape = batch::ThreadShape<m>;
    constexpr Shape largest{batch::most_of_thread};
    constexpr auto of_thread = static_cast<int>(batch::working_bytes(largest));
    return std::make_unique<BatchMachineOn<Real, CudaTeams<of_thread>, Shape>>();
}

} // namespace cudaopt
