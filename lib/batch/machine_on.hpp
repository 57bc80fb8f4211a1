// Implements a batch by reverse communication for an executor, which is the host or CUDA. The executor allocates
// arrays, applies a functor (a rule, rules.hpp) to each problem by a team of threads, and lists the problems that are
// marked as active.
#pragma once

#include <algorithm>

#include "batch/rules.hpp"

namespace cudaopt {

template <class Real, class Executor, class ShapeOf = batch::Shape> class BatchMachineOn final : public BatchMachine {
  public:
    void allocate(const BatchShape &shape, void *stream, CancellationToken &cancellation) override {
        executor_.start(batch::workspace_bytes(batch::shape_of<ShapeOf>(shape.one)), shape.threads, stream,
                        cancellation);
        const auto need = [&](auto &array, int64_t count) {
            if (array.bytes() == 0) executor_.allocate(array, count);
        };
        need(blocks_, batch::blocks_bytes<Real>(batch::shape_of<ShapeOf>(shape.one), shape.count));
        need(codes_, shape.count);
        need(marks_, shape.count);
        need(active_, shape.count);
        need(gathered_, std::max(shape.count, record_words));
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

    int64_t begin(const BatchArrays &arrays, const Settings &settings, bool stop) override {
        bind(arrays);
        all_.list = nullptr;
        executor_.each(count_, Advance{all_, own(settings), batch::Purpose::begin, stop, 0});
        return select();
    }
    int64_t resume(const BatchArrays &arrays, const Settings &settings, bool stop, double seconds) override {
        bind(arrays);
        executor_.each(selected_, Advance{all_, own(settings), batch::Purpose::resume, stop, seconds});
        return select();
    }
    void give_up(const BatchArrays &arrays, const Settings &settings, bool stop_requested, double seconds) override {
        bind(arrays);
        all_.list = nullptr;
        const auto purpose = stop_requested ? batch::Purpose::stop_waiting : batch::Purpose::end_of_time;
        executor_.each(count_, Advance{all_, own(settings), purpose, false, seconds});
        if (all_.packed) executor_.each(count_, batch::WriteEnded<Real, ShapeOf>{all_});
    }
    const int64_t *active() const override { return active_.get(); }

    void read_codes(int32_t *to) override {
        executor_.copy_out(to, codes_.get(), sizeof(int32_t) * static_cast<std::size_t>(count_));
    }
    void read(const BatchResult &which, void *to) override {
        const auto offset = [](const Iteration &it) { return &it.results; };
        gather(-1, offset_of(offset) + which.offset, count_, to);
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
        batch::Problems<Real, ShapeOf> all = all_;
        all.list = nullptr;
        executor_.each(words, batch::Gather<Real, ShapeOf>{all, of_one, offset, gathered_.get()});
        executor_.copy_out(to, gathered_.get(), static_cast<std::size_t>(words * word));
    }
    using Advance = batch::Advance<Real, ShapeOf>;

    Settings own(const Settings &settings) const {
        return batch::for_small_problems(settings, batch::in_metric(all_.shape) ? settings.metric : Metric::one_number);
    }
    void bind(const BatchArrays &arrays) {
        all_.x = static_cast<Real *>(arrays.x);
        all_.g = static_cast<Real *>(arrays.g);
        all_.f = arrays.f;
        all_.lower = static_cast<const Real *>(arrays.lower);
        all_.upper = static_cast<const Real *>(arrays.upper);
        all_.bounds_for_each = arrays.bounds_for_each;
        all_.lower_all = arrays.lower_all;
        all_.upper_all = arrays.upper_all;
        all_.diagonal = static_cast<const Real *>(arrays.diagonal);
        all_.diagonal_for_each = arrays.diagonal_for_each;
    }
    int64_t select() {
        selected_ = executor_.select(count_, marks_.get(), active_.get());
        all_.list = active_.get();
        if (!all_.packed) return selected_;
        if (selected_ > 0) {
            executor_.each(selected_, batch::PackActive<Real, ShapeOf>{all_});
        } else {
            all_.list = nullptr;
            executor_.each(count_, batch::WriteEnded<Real, ShapeOf>{all_});
        }
        return selected_;
    }

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
