// Implements a batch on the threads of the host. Each thread solves one problem at a time. host_double.cpp and
// host_float.cpp include this file once each: together they are the longest part of the library's compile time, so that
// two processors share it.
#pragma once

#include "batch/machine_on.hpp"
#include "cuda_opt.h"
#include "exec/thread_pool.hpp"
#include "sweeps/host/executor.hpp"

namespace cudaopt {

namespace { // the compiler then knows that each function is called in one file only, and can inline it

class HostTeams : public HostExecutor {
  public:
    HostTeams() : HostExecutor(0) {}
    void start(int64_t working_bytes, const BatchShape &shape, void *, CancellationToken &) {
        threads_ = HostThreads(shape.threads);
        work_of_one_ = int64_t{shape.one.n + shape.one.m} * shape.one.m;
        working_stride_ = (working_bytes + 127) / 128 * 128; // two threads never write to the same cache line
    }
    template <class... Rules> void reserve(int64_t) {
        const int64_t bytes = threads_.most * working_stride_;
        if (working_.bytes() < bytes) working_ = Array<unsigned char>(bytes);
    }
    int64_t bytes() const { return working_.bytes(); }
    template <class Rule> void each(int64_t count, const Rule &rule) {
        const auto body = [&](int64_t k, int place) {
            rule(batch::OneThread{}, k, working_.get() + place * working_stride_);
        };
        share_host(count, body, count > 1 ? threads_.for_work(count * work_of_one_) : HostThreads(1));
    }

  private:
    HostThreads threads_ = 1;
    int64_t working_stride_ = 0, work_of_one_ = 0;
    Array<unsigned char> working_;
};

} // namespace

template <class Real> std::unique_ptr<BatchMachine> make_host_batch(batch::Shape shape, bool bounds) {
    const auto known = [&](auto shape_of) -> std::unique_ptr<BatchMachine> {
        return std::make_unique<BatchMachineOn<Real, HostTeams, decltype(shape_of)>>();
    };
    if (shape.m == 5 && shape.metric) return known(batch::ShapeOfPairs<5, true, true>{});
    if (shape.m == 5) return bounds ? known(batch::ShapeOfPairs<5>{}) : known(batch::ShapeOfPairs<5, false>{});
    if (!bounds) return nullptr;
    return std::make_unique<BatchMachineOn<Real, HostTeams>>();
}

} // namespace cudaopt
