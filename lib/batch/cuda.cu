// A batch on CUDA: a thread for each problem where there are many small ones, a warp else.
#include "batch/cuda_teams.cuh"
#include "batch/cuda_threads.hpp"

namespace cudaopt {

template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch(batch::Shape shape, int64_t count, bool bounds) {
    const bool by_threads = !shape.metric && count >= batch::many_problems && shape.n <= batch::most_of_thread;
    if (!bounds) return by_threads && shape.m == 5 ? make_cuda_batch_near<Real, 5>() : nullptr;
    if (by_threads && shape.m == 5) return make_cuda_batch_of_threads<Real, 5>();
    if (by_threads && shape.m == 10) return make_cuda_batch_of_threads<Real, 10>();
    return std::make_unique<BatchMachineOn<Real, CudaTeams<ByWarps>>>();
}
template std::unique_ptr<BatchMachine> make_cuda_batch<double>(batch::Shape, int64_t, bool);
template std::unique_ptr<BatchMachine> make_cuda_batch<float>(batch::Shape, int64_t, bool);

} // namespace cudaopt
