// HostExecutor applies functors, called rules, to all variables on the host threads. Classes that are written once for
// both host and CUDA use it. The counterpart with the same members for CUDA is in sweeps/cuda/executor.cuh.
#pragma once

#include <cstring>

#include "exec/accumulators.hpp"
#include "exec/cancellation.hpp"
#include "exec/map_reduce_host.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

class HostExecutor {
  public:
    template <class T> using Array = HostArray<T>;

    // The arguments are those of CudaExecutor. The host needs no device, and its work cannot fail.
    template <class... Names> explicit HostExecutor(int, Names...) {}
    template <class... Rules> void start(const Resources &resources) { threads_ = resources.threads; }
    template <class T> T *allocate(Array<T> &array, int64_t count) {
        if (!array) array = Array<T>(count);
        return array.get();
    }
    void reserve_selection(int64_t, const char *) {}
    int64_t bytes() const { return 0; }

    template <class Rule> void map(int64_t n, const Rule &rule) { map_host(n, rule, threads_); }
    template <class Rule> RecordOf<Rule> reduce(int64_t n, const Rule &rule) {
        return map_reduce_host<RecordOf<Rule>>(n, rule, threads_);
    }
    int64_t select(int64_t count, const unsigned char *marks, int64_t *list) {
        int64_t selected = 0;
        for (int64_t i = 0; i < count; i++)
            if (marks[i]) list[selected++] = i;
        return selected;
    }
    void copy_in(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }
    void copy_out(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  private:
    int threads_ = 0;
};

} // namespace cudaopt
