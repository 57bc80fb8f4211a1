// Implements SearchSweeps for an executor, which is the host (sweeps/host/executor.hpp) or CUDA
// (sweeps/cuda/executor.cuh).
#pragma once

#include "pattern/rules.hpp"
#include "pattern/sweeps.hpp"

namespace cudaopt {

template <class Executor> class SearchSweepsOn final : public SearchSweeps {
    template <class T> using Array = typename Executor::template Array<T>;

  public:
    explicit SearchSweepsOn(int device)
        : executor_(device, "a kernel of the search", "a reduction of the search", "the work before a copy",
                    "cudaMemcpyAsync") {}

    void begin(int n, int64_t walks, const SearchSettings &settings, const double *box, void *stream,
               CancellationToken &cancellation) override {
        executor_.start(static_cast<int>(settings.threads), stream, cancellation);
        executor_.template load<NotBegun, Draw, JudgeStart, WriteTrials, JudgeTrials, EndIteration, BeginRound,
                                Summarise, CopyBest>();
        executor_.reserve_selection(walks, "a selection of walks");
        const auto need = [&](auto &array, int64_t count) {
            if (array.bytes() == 0) executor_.allocate(array, count);
            return array.get();
        };
        const double *const lower = need(box_, int64_t{3} * n), *const upper = lower + n;
        const auto halvings = static_cast<int>(settings.halvings);
        const auto seed = static_cast<uint64_t>(settings.seed);
        rules_ = {walks, n, halvings, settings.rule(), seed, lower, upper, upper + n, settings.round_iterations};
        walks_ = {need(x_, n * walks), rules_.has_lives() ? need(best_x_, n * walks) : nullptr, need(walk_, walks)};
        need(mark_, walks);
        if (settings.rule() != AtSmallestStep::restart_step) need(list_, walks);
        need(point_, n);
        active_ = selected_ = {nullptr};
        executor_.map(walks, NotBegun{walks_.walk});
        executor_.copy_in(box_.get(), box, static_cast<std::size_t>(box_.bytes()));
    }

    void draw(int64_t count, double *points) override { executor_.map(count, Draw{rules_, walks_, selected_, points}); }
    void judge_starts(int64_t count, const double *values) override {
        executor_.map(count, JudgeStart{walks_, selected_, values});
    }
    void write_trials(int64_t active, int j, bool all_rows, double *points) override {
        executor_.map(active, WriteTrials{rules_, walks_, active_, points, active, j, all_rows});
    }
    void judge_trials(int64_t active, int j, const double *values) override {
        executor_.map(active, JudgeTrials{rules_, walks_, active_, values, active, j, mark_.get()});
    }
    int64_t end_iteration(int64_t active) override {
        executor_.map(active, EndIteration{rules_, walks_, active_, mark_.get()});
        if (rules_.at_smallest == AtSmallestStep::restart_step) return 0;
        const int64_t count = executor_.select(rules_.walks, mark_.get(), list_.get());
        (rules_.at_smallest == AtSmallestStep::stop ? active_ : selected_) = Batch{list_.get()};
        return count;
    }
    void begin_round() override {
        executor_.map(rules_.walks, BeginRound{rules_, walks_});
        selected_ = {nullptr};
    }

    SearchSummary summary() override { return executor_.reduce(rules_.walks, Summarise{rules_, walks_}); }
    void read_walks(pattern::Walk *walk) override {
        executor_.copy_out(walk, walk_.get(), sizeof(pattern::Walk) * static_cast<std::size_t>(rules_.walks));
    }
    void read_point(int64_t walk, double *x) override {
        executor_.map(rules_.n, CopyBest{rules_, walks_, walk, point_.get()});
        executor_.copy_out(x, point_.get(), sizeof(double) * static_cast<std::size_t>(rules_.n));
    }
    int64_t workspace_bytes() const override {
        return x_.bytes() + best_x_.bytes() + box_.bytes() + point_.bytes() + walk_.bytes() + list_.bytes() +
               mark_.bytes() + executor_.bytes();
    }

  private:
    Array<double> x_, best_x_, box_, point_;
    Array<pattern::Walk> walk_;
    Array<int64_t> list_;
    Array<unsigned char> mark_;
    pattern::Rules rules_{};
    pattern::Walks walks_{};
    // active_ contains the walks whose trial points are evaluated. selected_ contains those that draw a random point.
    Batch active_{}, selected_{};
    Executor executor_; // the last member, so that its destructor waits before the arrays are freed
};

} // namespace cudaopt
