// This program uses the manual's names on the GPU. It minimises the extended Rosenbrock function with the headers and
// the calls of the manual's example, which include cublasInit(), cudaThreadSynchronize() and cudaSetDevice(1). It is
// linked with -lcublas. Usage: manual_program [n [m]], where n is even. The exit status is 77 if there is no device.
#include "cu_lbfgs_dp.h"
#include "driver.h"
#include "functions.h"
#include "utils.h"
#include <cublas.h>
#include <vector>

namespace {

constexpr int threads = 256;
int blocks(int rows) { return (rows + threads - 1) / threads; }

__global__ void set_start(double *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i % 2 == 0 ? -1.2 : 1;
}

// Runs one thread per pair.
__global__ void evaluate_pairs(const double *x, double *terms, double *g, int pairs) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const double a = x[2 * pair], b = x[2 * pair + 1];
    const double valley = b - a * a, slope = 1 - a;
    terms[pair] = 100 * valley * valley + slope * slope;
    g[2 * pair] = -400 * a * valley - 2 * slope;
    g[2 * pair + 1] = 200 * valley;
}

double *d_temp, *d_odata;
int red_threads, red_blocks;

void Rosenbrock(double *dev_x, double *dev_f, double *dev_g, int n) {
    evaluate_pairs<<<blocks(n / 2), threads>>>(dev_x, d_temp, dev_g, n / 2);
    my_reduce(n / 2, red_threads, red_blocks, d_temp, d_odata, dev_f);
}

double *device_vector(std::size_t values) {
    double *vector = nullptr;
    if (cudaMalloc(&vector, values * sizeof(double)) != cudaSuccess) exit(2);
    return vector;
}

} // namespace

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000000;
    const int m = argc > 2 ? atoi(argv[2]) : 7;
    if (n < 2 || m < 1) return 2;
    const int deviceId = get_best_device_id();
    if (deviceId < 0) return 77;
    set_device_ID(deviceId);
    cudaSetDevice(1); // without a second GPU this fails, and the first one stays current
    cublasInit();
    gpu_mem_info();
    getNumBlocksAndThreads(n / 2, &red_blocks, &red_threads);
    double *const dev_x = device_vector(n), *const dev_grad = device_vector(n), *const dev_objf = device_vector(1);
    double *const dev_workvec = device_vector(static_cast<std::size_t>(n) * (2 * m + 1) + 2 * m);
    d_temp = device_vector(n / 2);
    d_odata = device_vector(red_blocks);
    int *dev_istate = nullptr;
    if (cudaMalloc(&dev_istate, sizeof(int)) != cudaSuccess || cudaMemset(dev_istate, 0, sizeof(int)) != cudaSuccess)
        return 2;
    set_start<<<blocks(n), threads>>>(dev_x, n);
    cudaThreadSynchronize();

    printf("Function to minimize: Rosenbrock\n");
    const int info =
        cuda_opt_unlp_solve(n, m, Rosenbrock, dev_x, dev_objf, dev_grad, nullptr, dev_workvec, 1e-5, dev_istate);
    cudaThreadSynchronize();
    std::vector<double> h_x(n);
    double f = 0;
    int istate = -1;
    get_solution(h_x.data(), dev_x, n);
    get_solution(&f, dev_objf, 1);
    cudaMemcpy(&istate, dev_istate, sizeof istate, cudaMemcpyDeviceToHost);
    print_vector(dev_x, 2);
    printf("info = %d, istate = %d, f = %.4e, x[0] = %.6f\n", info, istate, f, h_x[0]);
    for (double *array : {dev_x, dev_grad, dev_objf, dev_workvec, d_temp, d_odata}) cudaFree(array);
    cudaFree(dev_istate);
    cublasShutdown();
    return info;
}
