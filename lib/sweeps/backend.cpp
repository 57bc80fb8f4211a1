#include "sweeps/backend.hpp"

#include <type_traits>

#include "cuda_opt.h"

namespace cudaopt {

namespace {

template <class Real, class History> std::unique_ptr<Sweeps> make(int backend, int64_t n) {
    return backend == CUDA_OPT_BACKEND_CUDA ? make_cuda_sweeps<Real, History>(n) : make_host_sweeps<Real, History>(n);
}

} // namespace

template <class Real> std::unique_ptr<Sweeps> make_sweeps(int backend, int64_t n, int history_bits) {
    if (history_bits == 16) return make<Real, bfloat16>(backend, n);
    if (history_bits == 32) return make<Real, float>(backend, n);
    return make<Real, Real>(backend, n);
}
template std::unique_ptr<Sweeps> make_sweeps<double>(int, int64_t, int);
template std::unique_ptr<Sweeps> make_sweeps<float>(int, int64_t, int);

} // namespace cudaopt
