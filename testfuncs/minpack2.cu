// The minimisation problems of MINPACK-2 on CUDA. All kernels for them are instantiated in this file.
#include "testfuncs/cuda_executor.cuh"
#include "testfuncs/minpack2.hpp"

namespace cudaopt::testfuncs {

void evaluate_cuda(const Minpack2 &function, const double *x, double *f, double *g, DeviceScratch &scratch,
                   void *stream) {
    evaluate_family(function, x, f, g, scratch, stream);
}

void evaluate_cuda(const Minpack2 &function, const float *x, double *f, float *g, DeviceScratch &scratch,
                   void *stream) {
    evaluate_family(function, x, f, g, scratch, stream);
}

} // namespace cudaopt::testfuncs
