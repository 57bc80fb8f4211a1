// Solves a batch with a functor on CUDA, with one thread and one warp per problem, or on the host if there is no
// device.
#include <cuda_opt/batch.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct Rosenbrock { // the function has two variables
    template <class Team> CUDA_OPT_HD double operator()(const Team &team, int64_t, const double *x, double *g) const {
        const double a = x[1] - x[0] * x[0], b = 1 - x[0];
        if (team.lane() == 0) {
            g[0] = -400 * x[0] * a - 2 * b;
            g[1] = 200 * a;
        }
        return 100 * a * a + b * b;
    }
};

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::printf("CUDA failed: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

// Allocates memory that the host and the device can access, if there is a device.
template <class T> static T *allocate(bool cuda, int64_t count) {
    void *memory = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (cuda) check(cudaMallocManaged(&memory, bytes));
    else memory = std::malloc(bytes);
    return static_cast<T *>(memory);
}

int main() {
    int devices = 0;
    const bool cuda = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    const int count = 1000;
    double *const x = allocate<double>(cuda, 2 * count), *const upper = allocate<double>(cuda, 2 * count);
    auto *const ends = allocate<cudaopt::BatchEnd>(cuda, count);
    for (int p = 0; p < count; p++) upper[2 * p] = p / 1000.0, upper[2 * p + 1] = INFINITY;
    cudaopt::BatchOptions options;
    options.settings.pgtol = 1e-8;
    cudaopt::HostBatch<2, 5> on_host;
    cudaopt::CudaBatch<2, 5, Rosenbrock> on_device;
    for (const int lanes : {1, 32}) {
        options.lanes = lanes;
        std::fill(x, x + 2 * count, -1.0);
        if (cuda) {
            check(on_device.run(Rosenbrock(), count, x, {nullptr, upper, true}, ends, options));
            check(cudaDeviceSynchronize());
        } else {
            on_host.run(Rosenbrock(), count, x, {nullptr, upper, true}, ends, options);
        }
        std::printf("code %d, f = %.4f, x = (%.2f, %.2f)\n", ends[500].code, ends[500].f, x[1000], x[1001]);
    }
    return 0;
}
