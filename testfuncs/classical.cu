// The five test functions of the 2013 manual (CMCC RP0167) on CUDA. All kernels for them are instantiated in this file.
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
