// The manual's example on the GPU: it minimises the extended Rosenbrock function from (-1.2, 1, -1.2, 1, ...) and
// prints the log. Usage: manual_example [n [m]], where n is even. The exit status is 77 if there is no device.
#include <cuda_opt_unlp.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int threads = 256;
int blocks(int rows) { return (rows + threads - 1) / threads; }

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

double *device_vector(int n) {
    double *vector = nullptr;
    check(cudaMalloc(&vector, sizeof(double) * n));
    return vector;
}

__global__ void start(int n, double *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i % 2 == 0 ? -1.2 : 1;
}

// One thread per pair (a, b) computes its term 100 (b - a^2)^2 + (1 - a)^2 and its two components of the gradient.
__global__ void rosenbrock_pairs(int pairs, const double2 *x, double *terms, double2 *g) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const double a = x[pair].x, b = x[pair].y;
    const double valley = b - a * a, slope = 1 - a;
    terms[pair] = 100 * valley * valley + slope * slope;
    g[pair] = make_double2(-400 * a * valley - 2 * slope, 200 * valley);
}

double *terms; // the terms of the pairs, in device memory

// f stays on the device, because my_reduce writes the sum of the terms to dev_objf.
void rosenbrock(int n, double *dev_x, double *dev_objf, double *dev_grad) {
    const int pairs = n / 2;
    rosenbrock_pairs<<<blocks(pairs), threads>>>(pairs, reinterpret_cast<const double2 *>(dev_x), terms,
                                                 reinterpret_cast<double2 *>(dev_grad));
    check(cudaGetLastError());
    cuda_opt_unlp_my_reduce(pairs, terms, dev_objf);
}

} // namespace

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000000;
    const int m = argc > 2 ? std::atoi(argv[2]) : 7;
    if (n < 2 || n % 2 != 0) {
        std::fprintf(stderr, "usage: manual_example [n [m]], n even\n");
        return 2;
    }
    if (cuda_opt_unlp_set_device_ID(0) != 0) {
        std::fprintf(stderr, "%s\n", cuda_opt_unlp_message());
        return 77;
    }

    double *const dev_x = device_vector(n), *const dev_grad = device_vector(n), *const dev_objf = device_vector(1);
    terms = device_vector(n / 2);
    int *dev_istate = nullptr;
    check(cudaMalloc(&dev_istate, sizeof *dev_istate));
    start<<<blocks(n), threads>>>(n, dev_x);
    check(cudaGetLastError());

    std::printf("  Extended Rosenbrock\n");
    cuda_opt_unlp_set_iprint(1, 0);
    cuda_opt_unlp_solve(n, m, rosenbrock, dev_x, dev_objf, dev_grad, nullptr, nullptr, 1e-5, dev_istate);

    int istate;
    double f;
    std::vector<double> x(n);
    check(cudaMemcpy(&istate, dev_istate, sizeof istate, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(&f, dev_objf, sizeof f, cudaMemcpyDeviceToHost));
    cuda_opt_unlp_get_solution(n, dev_x, x.data());
    if (istate != 0) std::fprintf(stderr, "istate = %d: %s\n", istate, cuda_opt_unlp_message());

    double farthest = 0;
    for (const double component : x) farthest = std::max(farthest, std::fabs(component - 1));
    std::printf("ISTATE = %d   F = %.4e   MAX |X(I) - 1| = %.0e\n", istate, f, farthest);
    for (void *array : {static_cast<void *>(dev_x), static_cast<void *>(dev_grad), static_cast<void *>(dev_objf),
                        static_cast<void *>(terms), static_cast<void *>(dev_istate)})
        check(cudaFree(array));
    return istate == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
