// This header declares the kernels that do not depend on the history precision. They are compiled once for each
// precision of x (vector_kernels.cu). The other kernels are compiled once for each combination of the precisions of x
// and of the history.
#pragma once

#include <cuda_runtime.h>

#include "sweeps/rules.hpp"

namespace cudaopt {

// WriteVector projects x onto the box, removes infinite slopes or restores an iterate. It applies the rule whose output
// array is not NULL.
template <class Real> struct WriteVector {
    MoveIntoBox<Real> move_into_box{};
    Restore<Real> restore{};
    RemoveInfiniteSlope<Real> remove{};
    CUDA_OPT_HD void operator()(int64_t i) const {
        if (move_into_box.x) move_into_box(i);
        else if (remove.g) remove(i);
        else restore(i);
    }
};

// These functions launch a kernel as map_cuda() and map_reduce_cuda() do. They return the status of the launch.
template <class Real> struct VectorKernels {
    // Loads the kernels onto the current device.
    static void load();
    static cudaError_t map(int64_t n, const WriteVector<Real> &rule, cudaStream_t stream);
    static cudaError_t reduce(int64_t n, const CheckStart<Real> &rule, StartRecord *to, void *scratch,
                              cudaStream_t stream);
    static cudaError_t reduce(int64_t n, const FindBadDiagonal<Real> &rule, FirstIndex *to, void *scratch,
                              cudaStream_t stream);
};

extern template struct VectorKernels<double>;
extern template struct VectorKernels<float>;

} // namespace cudaopt
