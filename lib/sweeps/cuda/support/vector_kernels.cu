#include "sweeps/cuda/support/vector_kernels.hpp"

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

namespace {

template <class... Parameters> void load_now(void (*kernel)(Parameters...)) {
    check(load(kernel), "the loading of a kernel");
}

} // namespace

template <class Real> void VectorKernels<Real>::load() {
    load_now(map_kernel<WriteVector<Real>>);
    load_now(map_reduce_kernel<StartRecord, most_resident, CheckStart<Real>, StoreRecord<StartRecord>>);
    load_now(map_reduce_kernel<FirstIndex, most_resident, FindBadDiagonal<Real>, StoreRecord<FirstIndex>>);
}

template <class Real>
cudaError_t VectorKernels<Real>::map(int64_t n, const WriteVector<Real> &rule, cudaStream_t stream) {
    return map_cuda(n, rule, stream);
}
template <class Real>
cudaError_t VectorKernels<Real>::reduce(int64_t n, const CheckStart<Real> &rule, StartRecord *to, void *scratch,
                                        cudaStream_t stream) {
    return map_reduce_cuda<StartRecord>(n, rule, StoreRecord<StartRecord>{to}, scratch, stream);
}
template <class Real>
cudaError_t VectorKernels<Real>::reduce(int64_t n, const FindBadDiagonal<Real> &rule, FirstIndex *to, void *scratch,
                                        cudaStream_t stream) {
    return map_reduce_cuda<FirstIndex>(n, rule, StoreRecord<FirstIndex>{to}, scratch, stream);
}

template struct VectorKernels<double>;
template struct VectorKernels<float>;

} // namespace cudaopt
