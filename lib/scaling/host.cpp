// Scaled variables on the host's threads, and the choice between host and CUDA.
#include "cuda_opt.h"

#include <cstring>

#include "exec/map_reduce_host.hpp"
#include "scaling/scaled_variables_on.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

namespace {

class HostExecutor {
  public:
    template <class T> using Array = HostArray<T>;

    void start(int threads, void *, CancellationToken &) { threads_ = threads; }
    template <class T> void allocate(Array<T> &array, int64_t count) { array.allocate(count); }
    template <class Real> void reserve() {}
    int64_t bytes() const { return 0; }
    template <class Rule> void map(int64_t n, const Rule &rule) { map_host(n, rule, threads_); }
    template <class Rule> ScaleRecord reduce(int64_t n, const Rule &rule) {
        return map_reduce_host<ScaleRecord>(n, rule, threads_);
    }
    void copy_out(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  private:
    int threads_ = 0;
};

} // namespace

std::unique_ptr<ScaledVariables> make_host_scaled_variables(int64_t n, int bits) {
    if (bits == 32) return std::make_unique<ScaledVariablesOn<HostExecutor, float>>(n);
    return std::make_unique<ScaledVariablesOn<HostExecutor, double>>(n);
}

std::unique_ptr<ScaledVariables> make_scaled_variables(int backend, int64_t n, int bits, int device) {
    if (backend == CUDA_OPT_BACKEND_CUDA) return make_cuda_scaled_variables(n, bits, device);
    return make_host_scaled_variables(n, bits);
}

} // namespace cudaopt
