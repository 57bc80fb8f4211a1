// Implements a batch by reverse communication for an executor, the host or CUDA. The executor allocates arrays, applies
// a rule (rules.hpp) to each problem by a team, and lists the problems that are marked as active.
#pragma once

#include <algorithm>

#include "batch/rules.hpp"

namespace cudaopt {

template <class Real, class Executor, class ShapeOf = batch::Shape> class BatchMachineOn final : public BatchMachine {
  public:
    void allocate(const BatchShape &shape, void *stream, CancellationToken &cancellation) override {
        executor_.start(batch::workspace_bytes(batch::shape_of<ShapeOf>(shape.one)), shape, stream, cancellation);
        executor_.allocate(blocks_, batch::blocks_bytes<Real>(batch::shape_of<ShapeOf>(shape.one), shape.count));
        executor_.allocate(codes_, shape.count);
        executor_.allocate(marks_, shape.count);
        executor_.allocate(active_, shape.count);
        executor_.allocate(gathered_, std::max(shape.count, record_words));
        executor_.template reserve<Advance, batch::PackActive<Real, ShapeOf>, batch::WriteEnded<Real, ShapeOf>,
                                   batch::Gather<Real, ShapeOf>>(shape.count);
        count_ = shape.count;
        all_.shape = batch::shape_of<ShapeOf>(shape.one);
        all_.packed = shape.packed;
        all_.blocks = blocks_.get();
        all_.codes = codes_.get();
        all_.marks = marks_.get();
    }
    int64_t workspace_bytes() const override {
        return blocks_.bytes() + codes_.bytes() + marks_.bytes() + active_.bytes() + gathered_.bytes() +
               executor_.bytes();
    }

    int64_t advance(const BatchArrays &arrays, const Settings &settings, Purpose purpose, bool stop,
                    double seconds) override {
        all_.arrays = arrays;
        if (purpose != Purpose::resume) all_.list = nullptr;
        const int64_t metric = batch::in_metric(all_.shape) ? settings.metric : Metric::one_number;
        executor_.each(all_.list ? selected_ : count_,
                       Advance{all_, batch::for_small_problems(settings, metric), purpose, stop, seconds});
        selected_ = 0;
        if (purpose == Purpose::begin || purpose == Purpose::resume) {
            selected_ = executor_.select(count_, marks_.get(), active_.get());
            all_.list = active_.get();
        }
        if (!all_.packed) return selected_;
        if (selected_ > 0) {
            executor_.each(selected_, batch::PackActive<Real, ShapeOf>{all_});
        } else {
            all_.list = nullptr;
            executor_.each(count_, batch::WriteEnded<Real, ShapeOf>{all_});
        }
        return selected_;
    }
    const int64_t *active() const override { return active_.get(); }

    void read_codes(int32_t *to) override {
        executor_.copy_out(to, codes_.get(), sizeof(int32_t) * static_cast<std::size_t>(count_));
    }
    void read(int64_t offset, void *to) override {
        gather(-1, offset_of([](const Iteration &it) { return &it.results; }) + offset, count_, to);
    }
    Iteration record(int64_t problem) override {
        Iteration record;
        gather(problem, offset_of([](const Iteration &it) { return &it; }), record_words, &record);
        return record;
    }

  private:
    static constexpr int64_t word = sizeof(int64_t), record_words = sizeof(Iteration) / word;
    static_assert(sizeof(Iteration) % word == 0);
    // Returns the offset of the member of Iteration to which member() points, in the memory block of a problem.
    template <class Member> static int64_t offset_of(const Member &member) {
        const batch::Persistent<ShapeOf> persistent;
        return reinterpret_cast<const char *>(member(persistent.iteration)) -
               reinterpret_cast<const char *>(&persistent);
    }
    void gather(int64_t of_one, int64_t offset, int64_t words, void *to) {
        executor_.each(words, batch::Gather<Real, ShapeOf>{all_, of_one, offset, gathered_.get()});
        executor_.copy_out(to, gathered_.get(), static_cast<std::size_t>(words * word));
    }
    using Advance = batch::Advance<Real, ShapeOf>;

    template <class T> using Array = typename Executor::template Array<T>;
    Array<unsigned char> blocks_, marks_;
    Array<int32_t> codes_;
    Array<int64_t> active_, gathered_;
    int64_t count_ = 0, selected_ = 0;
    batch::Problems<Real, ShapeOf> all_{};
    // The last member is destroyed first, because its destructor waits for the work that still uses the arrays.
    Executor executor_;
};

} // namespace cudaopt
