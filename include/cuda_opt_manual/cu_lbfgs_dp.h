/* This header defines the names of the 2013 manual of L-BFGS for GPU-CUDA (CMCC RP0167). With it, a program that was
 * written from the manual compiles without changes. Compile with the flags of `pkg-config cuda_opt_unlp`, or with this
 * folder and the folder of cuda_opt_unlp.h on the include path. The symbols of the library remain cuda_opt_unlp_*.
 * Functions that the manual declares void return 0 or a negative code here; cuda_opt_unlp_message() explains the
 * code. */
#ifndef CUDA_OPT_MANUAL_CU_LBFGS_DP_H
#define CUDA_OPT_MANUAL_CU_LBFGS_DP_H

#include <cuda_opt_unlp.h>

/* In libcuda_opt, cuda_opt_unlp_solve() calls the user's function with n as the first argument. In the 2013 manual of
 * L-BFGS for GPU-CUDA n is the last argument. This macro selects the function with the manual's order. A program that
 * declares the function itself, without this header, has to be linked with libcuda_opt_unlp, in which
 * cuda_opt_unlp_solve has the manual's order. */
#undef cuda_opt_unlp_solve
#define cuda_opt_unlp_solve cuda_opt_unlp_manual_solve

static inline int enable_first_Hessian(void) { return cuda_opt_unlp_enable_first_Hessian(1); }
static inline int change_eps(double new_eps) { return cuda_opt_unlp_change_eps(new_eps); }
static inline int set_iprint(int i_one, int i_two) { return cuda_opt_unlp_set_iprint(i_one, i_two); }

static inline int get_solution(double *h_x, double *dev_x, int n) { return cuda_opt_unlp_get_solution(n, dev_x, h_x); }
static inline int set_device_ID(int id) { return cuda_opt_unlp_set_device_ID(id); }
static inline int print_vector(double *d_v, int size) { return cuda_opt_unlp_print_vector(size, d_v); }
static inline int get_best_device_id(void) { return cuda_opt_unlp_get_best_device_id(); }
static inline int gpu_mem_info(void) { return cuda_opt_unlp_gpu_mem_info(); }
static inline int getNumBlocksAndThreads(int n, int *blocks, int *threads) {
    return cuda_opt_unlp_getNumBlocksAndThreads(n, blocks, threads);
}

/* The 2013 manual of L-BFGS for GPU-CUDA describes my_reduce with eight arguments, but calls it with six in its
 * example. The library chooses the numbers of threads and blocks by n, so the arguments for them and d_odata are not
 * used. */
static inline int cuda_opt_manual_reduce_8(int n, int numThreads, int numBlocks, int maxThreads, int maxBlocks,
                                           double *d_idata, double *d_odata, double *d_result) {
    (void)numThreads, (void)numBlocks, (void)maxThreads, (void)maxBlocks, (void)d_odata;
    return cuda_opt_unlp_my_reduce(n, d_idata, d_result);
}
static inline int cuda_opt_manual_reduce_6(int n, int numThreads, int numBlocks, double *d_idata, double *d_odata,
                                           double *d_result) {
    return cuda_opt_manual_reduce_8(n, numThreads, numBlocks, numThreads, numBlocks, d_idata, d_odata, d_result);
}
#ifdef __cplusplus
static inline int my_reduce(int n, int numThreads, int numBlocks, int maxThreads, int maxBlocks, double *d_idata,
                            double *d_odata, double *d_result) {
    return cuda_opt_manual_reduce_8(n, numThreads, numBlocks, maxThreads, maxBlocks, d_idata, d_odata, d_result);
}
static inline int my_reduce(int n, int numThreads, int numBlocks, double *d_idata, double *d_odata, double *d_result) {
    return cuda_opt_manual_reduce_6(n, numThreads, numBlocks, d_idata, d_odata, d_result);
}
#else
/* The macro my_reduce selects the function by the number of arguments. Any other number than 6 or 8 is a compile-time
 * error. */
#define CUDA_OPT_MANUAL_NINTH(a1, a2, a3, a4, a5, a6, a7, a8, name, ...) name
#define my_reduce(...)                                                                                                 \
    CUDA_OPT_MANUAL_NINTH(__VA_ARGS__, cuda_opt_manual_reduce_8, my_reduce_takes_6_or_8_arguments,                     \
                          cuda_opt_manual_reduce_6, my_reduce_takes_6_or_8_arguments,                                  \
                          my_reduce_takes_6_or_8_arguments, my_reduce_takes_6_or_8_arguments,                          \
                          my_reduce_takes_6_or_8_arguments, my_reduce_takes_6_or_8_arguments, )                        \
    (__VA_ARGS__)
#endif

/* The example of the 2013 manual of L-BFGS for GPU-CUDA calls cudaThreadSynchronize(), which CUDA 13 no longer has.
 * nvcc includes cuda_runtime.h automatically. A program for another compiler has to include it before this file. */
#if defined(CUDART_VERSION) && !defined(cudaThreadSynchronize)
#if CUDART_VERSION >= 13000
static inline cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
#endif
#endif

#endif
