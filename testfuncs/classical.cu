// The five functions of the 2013 manual on CUDA. All their kernels are instantiated here.
#include "testfuncs/classical.hpp"
#include "testfuncs/cuda_executor.cuh"

namespace cudaopt::testfuncs {

void evaluate_cuda(const Classical &function, const double *x, double *f, double *g, DeviceScratch &scratch,
                   void *stream) {
    evaluate_family(function, x, f, g, scratch, stream);
}

void evaluate_cuda(const Classical &function, const float *x, double *f, float *g, DeviceScratch &scratch,
                   void *stream) {
    evaluate_family(function, x, f, g, scratch, stream);
}

} // namespace cudaopt::testfuncs
