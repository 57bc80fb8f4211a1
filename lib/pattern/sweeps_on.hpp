// Implements SearchSweeps for an executor, that of the host or of CUDA (backend/makers.hpp).
#pragma once

#include "pattern/rules.hpp"
#include "pattern/search.hpp"

namespace cudaopt {

template <class Executor> class SearchSweepsOn final : public SearchSweeps {
    template <class T> using Array = typename Executor::template Array<T>;

  public:
    explicit SearchSweepsOn(int device)
        : executor_(device, "a kernel of the search", "a reduction of the search", "the work before a copy",
                    "cudaMemcpyAsync") {}

    void begin(int n, int64_t walks, const SearchSettings &settings, const double *box,
               const Resources &resources) override {
        executor_.template start<NotBegun, Draw, JudgeStart, WriteTrials, JudgeTrials, EndIteration, BeginRound,
                                 Summarise, CopyBest>(resources);
        executor_.reserve_selection(walks, "a selection of walks");
        const auto need = [&](auto &array, int64_t count) { return executor_.allocate(array, count); };
        const double *const lower = need(box_, int64_t{3} * n), *const upper = lower + n;
        const auto halvings = static_cast<int>(settings.halvings);
        const auto seed = static_cast<uint64_t>(settings.seed);
        const pattern::Rules rules{walks, n,     halvings,  settings.rule(),          seed,
                                   lower, upper, upper + n, settings.round_iterations};
        double *const best_x = rules.has_lives() ? need(best_x_, n * walks) : nullptr;
        const pattern::Walks of{need(x_, n * walks), best_x, need(walk_, walks)};
        all_ = active_ = selected_ = {rules, of, need(mark_, walks), walks, nullptr};
        if (settings.rule() != AtSmallestStep::restart_step) need(list_, walks);
        need(point_, n);
        map(NotBegun{all_});
        executor_.copy_in(box_.get(), box, static_cast<std::size_t>(box_.bytes()));
    }

    void draw(double *points) override { map(Draw{selected_, points}); }
    void judge_starts(const double *values) override { map(JudgeStart{selected_, values}); }
    void write_trials(int j, bool all_rows, double *points) override { map(WriteTrials{active_, points, j, all_rows}); }
    void judge_trials(int j, const double *values) override { map(JudgeTrials{active_, values, j}); }
    int64_t end_iteration() override {
        map(EndIteration{active_});
        if (all_.rules.at_smallest == AtSmallestStep::restart_step) return 0;
        WalkBatch &listed = all_.rules.at_smallest == AtSmallestStep::stop ? active_ : selected_;
        listed.list = list_.get();
        return listed.size = executor_.select(all_.size, all_.mark, list_.get());
    }
    void begin_round() override {
        map(BeginRound{all_});
        selected_ = all_;
    }

    SearchSummary summary() override { return executor_.reduce(all_.size, Summarise{all_}); }
    void read_walks(pattern::Walk *walk) override {
        executor_.copy_out(walk, walk_.get(), static_cast<std::size_t>(walk_.bytes()));
    }
    void read_point(int64_t walk, double *x) override {
        executor_.map(all_.rules.n, CopyBest{all_, walk, point_.get()});
        executor_.copy_out(x, point_.get(), static_cast<std::size_t>(point_.bytes()));
    }
    int64_t workspace_bytes() const override {
        return x_.bytes() + best_x_.bytes() + box_.bytes() + point_.bytes() + walk_.bytes() + list_.bytes() +
               mark_.bytes() + executor_.bytes();
    }

  private:
    // Applies a rule to the walks of its batch.
    template <class Rule> void map(const Rule &rule) { executor_.map(rule.size, rule); }

    Array<double> x_, best_x_, box_, point_;
    Array<pattern::Walk> walk_;
    Array<int64_t> list_;
    Array<unsigned char> mark_;
    // all_ contains all walks, active_ those whose trial points are evaluated, and selected_ those that draw a random
    // point.
    WalkBatch all_{}, active_{}, selected_{};
    Executor executor_; // the last member, so that its destructor waits before the arrays are freed
};

} // namespace cudaopt
