// Evaluates a test function on the host by two operations, which CudaExecutor provides as well.
#pragma once

#include "exec/map_reduce_host.hpp"

#include <cstdint>

namespace cudaopt::testfuncs {

class HostExecutor {
  public:
    explicit HostExecutor(int threads) : threads_(threads) {}

    // Calls rule(i, record) for 0 <= i < n, combines the records of all threads, and calls finish(combined record).
    template <class Record, class Rule, class Finish>
    void map_reduce(int64_t n, const Rule &rule, const Finish &finish) {
        finish(map_reduce_host<Record>(n, rule, threads_));
    }

    // Returns storage for one record that one sweep over the variables computes and the next sweep reads.
    template <class Record> Record *between_passes() {
        static_assert(sizeof(Record) <= sizeof(storage_));
        return reinterpret_cast<Record *>(storage_);
    }

  private:
    int threads_;
    alignas(16) unsigned char storage_[256];
};

} // namespace cudaopt::testfuncs
