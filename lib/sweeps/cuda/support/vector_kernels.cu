#include "sweeps/cuda/support/vector_kernels.hpp"

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

namespace {

template <class... Parameters> void load_now(void (*kernel)(Parameters...)) {
    check(load(kernel), "the loading of a kernel");
}
template <class Record, class Rule> void load_reduction() {
    load_now(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>);
}
template <class Record, class Rule>
cudaError_t reduce_to(int64_t n, const Rule &rule, Record *to, void *scratch, cudaStream_t stream) {
    return map_reduce_cuda<Record>(n, rule, StoreRecord<Record>{to}, scratch, stream);
}

} // namespace

template <class Real> void VectorKernels<Real>::load() {
    load_now(map_kernel<WriteVector<Real>>);
    load_reduction<StartRecord, CheckStart<Real>>();
    load_reduction<FirstIndex, FindBadDiagonal<Real>>();
}

template <class Real>
cudaError_t VectorKernels<Real>::map(int64_t n, const MoveIntoBox<Real> &rule, cudaStream_t stream) {
    return map_cuda(n, WriteVector<Real>{rule, {}}, stream);
}
template <class Real> cudaError_t VectorKernels<Real>::map(int64_t n, const Restore<Real> &rule, cudaStream_t stream) {
    return map_cuda(n, WriteVector<Real>{{}, rule}, stream);
}
template <class Real>
cudaError_t VectorKernels<Real>::map(int64_t n, const RemoveInfiniteSlope<Real> &rule, cudaStream_t stream) {
    return map_cuda(n, WriteVector<Real>{{}, {}, rule}, stream);
}
template <class Real>
cudaError_t VectorKernels<Real>::reduce(int64_t n, const CheckStart<Real> &rule, StartRecord *to, void *scratch,
                                        cudaStream_t stream) {
    return reduce_to(n, rule, to, scratch, stream);
}
template <class Real>
cudaError_t VectorKernels<Real>::reduce(int64_t n, const FindBadDiagonal<Real> &rule, FirstIndex *to, void *scratch,
                                        cudaStream_t stream) {
    return reduce_to(n, rule, to, scratch, stream);
}

template struct VectorKernels<double>;
template struct VectorKernels<float>;

} // namespace cudaopt
