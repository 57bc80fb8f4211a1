// Implements the pattern search on the threads of the host.
#include <cstring>

#include "cuda_opt.h"
#include "exec/map_reduce_host.hpp"
#include "pattern/sweeps_on.hpp"
#include "sweeps/backend.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

namespace {

class HostExecutor {
  public:
    template <class T> using Array = HostArray<T>;

    void start(int threads, void *, CancellationToken &) { threads_ = threads; }
    template <class T> void allocate(Array<T> &array, int64_t count) { array.allocate(count); }
    void reserve(int64_t) {}
    int64_t bytes() const { return 0; }
    template <class Rule> void map(int64_t count, const Rule &rule) { map_host(count, rule, threads_); }
    template <class Rule> SearchSummary sum(int64_t count, const Rule &rule) {
        return map_reduce_host<SearchSummary>(count, rule, threads_);
    }
    int64_t select(int64_t walks, const unsigned char *mark, int64_t *list) {
        int64_t count = 0;
        for (int64_t w = 0; w < walks; w++)
            if (mark[w]) list[count++] = w;
        return count;
    }
    void copy_in(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }
    void copy_out(void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  private:
    int threads_ = 0;
};

} // namespace

std::unique_ptr<SearchSweeps> make_host_search() { return std::make_unique<SearchSweepsOn<HostExecutor>>(); }

} // namespace cudaopt
