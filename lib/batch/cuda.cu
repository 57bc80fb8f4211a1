// Implements a batch on CUDA: one thread per problem for many problems with few variables, otherwise one warp.
#include "batch/cuda_teams.cuh"

namespace cudaopt {

template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch(batch::Shape shape, int64_t count, bool bounds) {
    const bool by_threads = count >= batch::many_problems && shape.n <= batch::most_of_thread;
    if (shape.m == 5) {
        if (by_threads && shape.metric) return make_cuda_batch_of_threads<Real, 5, true>();
        if (by_threads && bounds) return make_cuda_batch_of_threads<Real, 5>();
        if (by_threads)
            if (auto in_shared = make_cuda_batch_in_shared<Real, 5>()) return in_shared;
        if (!shape.metric && bounds)
            return std::make_unique<BatchMachineOn<Real, CudaTeams<ByWarps>, batch::ShapeOfPairs<5>>>();
        if (!shape.metric)
            return std::make_unique<BatchMachineOn<Real, CudaTeams<ByWarps>, batch::ShapeOfPairs<5, false>>>();
    }
    if (!bounds) return nullptr;
    if (by_threads && !shape.metric && shape.m == 10) return make_cuda_batch_of_threads<Real, 10>();
    return std::make_unique<BatchMachineOn<Real, CudaTeams<ByWarps>>>();
}
template std::unique_ptr<BatchMachine> make_cuda_batch<double>(batch::Shape, int64_t, bool);
template std::unique_ptr<BatchMachine> make_cuda_batch<float>(batch::Shape, int64_t, bool);

} // namespace cudaopt
