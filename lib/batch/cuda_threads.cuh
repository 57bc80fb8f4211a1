// Batches with one thread per problem. There is one translation unit per number of pairs, to shorten the compilation.
#pragma once

#include "batch/cuda_teams.cuh"

namespace cudaopt {

template <class Real, int m, bool weights> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads() {
    using Shape = batch::ThreadShape<m, true, weights>;
    constexpr auto of_thread = static_cast<int>(batch::workspace_bytes(Shape{batch::most_of_thread}));
    return std::make_unique<BatchMachineOn<Real, CudaTeams<ByThreads<of_thread>>, Shape>>();
}

template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_in_shared() {
    using Shape = batch::ThreadShape<m, false>;
    // m determines the stride; n may be 0 here
    constexpr auto of_thread = static_cast<int>(batch::shared_stride(Shape{}));
    using How = ByThreadsInShared<of_thread>;
    if (!How::serves_current_device()) return nullptr;
    return std::make_unique<BatchMachineOn<Real, CudaTeams<How>, Shape>>();
}

} // namespace cudaopt
