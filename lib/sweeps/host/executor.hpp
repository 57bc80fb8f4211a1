// HostExecutor applies functors, called rules, to all variables on the host threads. Classes that are written once for
// both host and CUDA use it. The counterpart with the same members for CUDA is in sweeps/cuda/executor.cuh.
#pragma once

#include <cstring>

#include "exec/cancellation.hpp"
#include "exec/map_reduce_host.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

class HostExecutor {
  public:
    template <class T> using Array = HostArray<T>;

    void start(int threads, void *, CancellationToken &) { threads_ = threads; }
    template <class T> void allocate(Array<T> &array, int64_t count) { array.allocate(count); }
    template <class... Rules> void load_maps() {}
    template <class Record, class Rule> void load_reduction() {}
    int64_t bytes() const { return 0; }

    template <class Rule> void map(int64_t n, const Rule &rule) { map_host(n, rule, threads_); }
    template <class Record, class Rule> Record reduce(int64_t n, const Rule &rule) {
        return map_reduce_host<Record>(n, rule, threads_);
    }
    void copy_out(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  private:
    int threads_ = 0;
};

} // namespace cudaopt
