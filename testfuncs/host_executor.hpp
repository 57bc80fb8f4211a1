// Evaluates a test function on the host by two operations: a sum over the variables, and storage for data between two
// sweeps over them. CudaExecutor provides both operations, too.
#pragma once

#include "exec/map_reduce_host.hpp"

#include <cstdint>

namespace cudaopt::testfuncs {

class HostExecutor {
  public:
    explicit HostExecutor(int threads) : threads_(threads) {}

    // Calls rule(i, record) for 0 <= i < n. A record accumulates results, for example a sum. The records of all threads
    // are joined to one, and finish(record) is called with it.
    template <class Record, class Rule, class Finish>
    void map_reduce(int64_t n, const Rule &rule, const Finish &finish) {
        finish(map_reduce_host<Record>(n, rule, threads_));
    }

    // Returns storage for a record that is computed in one sweep over the variables and read in the next.
    template <class Record> Record *between_passes() {
        static_assert(sizeof(Record) <= sizeof(storage_));
        return reinterpret_cast<Record *>(storage_);
    }

  private:
    int threads_;
    alignas(16) unsigned char storage_[256];
};

} // namespace cudaopt::testfuncs
