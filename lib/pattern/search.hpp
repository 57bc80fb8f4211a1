// The multi-walk pattern search by reverse communication (Zhu and Curry 2009, figure 1). All state is in this object:
// resume() takes the values at the last batch of points and writes the next batch. Only SearchSweeps loop over walks.
//
//   start -> starts -> trials of coordinate 0 -> ... -> n - 1 -> [starts] -> trials of coordinate 0 -> ... -> ended
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "boundary/message.hpp"
#include "pattern/sweeps.hpp"

namespace cudaopt {

struct SearchSettings {
    int64_t max_iterations = 2000, max_evaluations = 0, threads = 0, seed = 0, at_smallest = 0, halvings = 16,
            round_iterations = 0;
    double max_seconds = 0, f_target = -std::numeric_limits<double>::infinity();
};

class Search {
  public:
    Search(int n, int64_t walks, std::unique_ptr<SearchSweeps> sweeps);

    SearchSettings settings;
    std::vector<double> lower, upper, steps; // empty if not given; without steps the default is used
    void *stream = nullptr;                  // CUDA
    std::atomic<bool> stop_requested{false};

    bool started() const { return phase_ != Phase::start; }
    int n() const { return n_; }
    int64_t walks() const { return walks_; }
    int64_t iterations() const { return iterations_; }
    int64_t evaluations() const { return evaluations_; }
    int64_t batch() const { return batch_; }
    int64_t active() const { return active_; }
    int64_t stop_test() const { return stop_test_; }
    int64_t workspace_bytes() const { return sweeps_->workspace_bytes(); }
    Message &message() { return message_; }
    const Message &message() const { return message_; }
    const double *points() const { return points_; }
    const double *values() const { return values_; }

    int resume(double *points, const double *values);
    void reset();

    // These functions wait for the device and throw BackendFailure. They may be called only after the start.
    const SearchSummary &summary();
    int64_t best_walk(int64_t rank);
    double read(int64_t walk, double *x); // returns the walk's best value; x may be NULL

  private:
    enum class Phase { start, starts, trials, ended };
    using Clock = CancellationToken::Clock;

    int call();
    int dispatch();
    int begin();
    double first_step(int j) const { return steps.empty() ? (upper[j] - lower[j]) / 20 : steps[j]; }
    bool accept_box();
    bool accept_rounds();
    int after_starts();
    int after_trials();
    int next_iteration();
    int request(Phase phase, int64_t batch);
    int request_trials(bool all_rows);
    int end(int code);
    void read_all_walks();
    int fail(int code, const char *what);

    const int n_;
    const int64_t walks_;
    std::unique_ptr<SearchSweeps> sweeps_;
    Message message_;
    Phase phase_ = Phase::start;
    Clock::time_point first_call_{};
    CancellationToken cancellation_{stop_requested};
    double *points_ = nullptr;
    const double *values_ = nullptr;
    int j_ = 0;             // the coordinate whose trials were requested
    int64_t round_end_ = 0; // number of iterations after which all walks start again
    int64_t iterations_ = 0, evaluations_ = 0, batch_ = 0, active_ = 0, stop_test_ = 0;

    bool summary_is_current_ = false, walks_are_current_ = false; // whether the copies are up to date
    SearchSummary summary_;
    std::vector<pattern::Walk> walk_;
    std::vector<int64_t> order_; // walk numbers in increasing order of their best value
};

} // namespace cudaopt
