#include "sweeps/backend.hpp"

#include <type_traits>

#include "cuda_opt.h"

namespace cudaopt {

namespace {

template <class Real, class History> std::unique_ptr<Sweeps> make(int backend, int64_t n, int device) {
    if (backend == CUDA_OPT_BACKEND_CUDA) return make_cuda_sweeps<Real, History>(n, device);
    return make_host_sweeps<Real, History>(n);
}

} // namespace

template <class Real> std::unique_ptr<Sweeps> make_sweeps(int backend, int64_t n, int history_bits, int device) {
    if (history_bits == 16) return make<Real, bfloat16>(backend, n, device);
    if (history_bits == 32) return make<Real, float>(backend, n, device);
    return make<Real, Real>(backend, n, device);
}
template std::unique_ptr<Sweeps> make_sweeps<double>(int, int64_t, int, int);
template std::unique_ptr<Sweeps> make_sweeps<float>(int, int64_t, int, int);

} // namespace cudaopt
