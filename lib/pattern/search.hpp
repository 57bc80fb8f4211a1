// The pattern search by reverse communication (Zhu and Curry 2009, figure 1). It consists of many walks, which are
// independent searches. This object contains the state of the search: resume() takes the values of f at the last batch
// of points and writes the next batch. Only the backend (SearchSweeps) contains loops over walks. The batches follow
// each other in this order. The batch in brackets, [starts], consists of new random starts and is optional:
//
//   start -> starts -> trials of coordinate 0 -> ... -> n - 1 -> [starts] -> trials of coordinate 0 -> ... -> ended
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "boundary/message.hpp"
#include "pattern/sweeps.hpp"

namespace cudaopt {

class Search {
  public:
    Search(int n_, int64_t walks_, std::unique_ptr<SearchSweeps> sweeps);

    const int n;
    const int64_t walks;
    Message message;
    SearchSettings settings;
    // The bounds and the initial step sizes, n values each, or empty. Without step sizes the defaults are used.
    std::vector<double> lower, upper, steps;
    void *stream = nullptr; // the CUDA stream; not used on the host
    std::atomic<bool> stop_requested{false};

    bool started() const { return phase_ != Phase::start; }
    int64_t iterations() const { return iterations_; }
    int64_t evaluations() const { return evaluations_; }
    int64_t batch() const { return batch_; }
    int64_t active() const { return active_; }
    int64_t stop_test() const { return stop_test_; }
    int64_t workspace_bytes() const { return sweeps_->workspace_bytes(); }
    const double *points() const { return points_; }
    const double *values() const { return values_; }

    int resume(double *points, const double *values);
    void reset();

    // The next functions wait for the device and throw BackendFailure. They may be called only after the start.
    const SearchSummary &summary();
    int64_t best_walk(int64_t rank);
    // Returns the walk's best value and copies its best point to x, which may be NULL.
    double read(int64_t walk, double *x);

  private:
    enum class Phase { start, starts, trials, ended };
    using Clock = CancellationToken::Clock;

    int advance();
    int begin();
    double first_step(int j) const { return steps.empty() ? (upper[j] - lower[j]) / 20 : steps[j]; }
    int check_settings();
    int next_iteration();
    int request_starts(int64_t count);
    int request_trials(bool all_rows);
    int request(Phase phase, int64_t batch);
    int end(int code);
    int close(int code);
    const char *reason(int code) const;
    void read_all_walks();

    std::unique_ptr<SearchSweeps> sweeps_;
    Phase phase_ = Phase::start;
    Clock::time_point first_call_{};
    CancellationToken cancellation_{stop_requested};
    double *points_ = nullptr;
    const double *values_ = nullptr;
    int j_ = 0;             // the last coordinate along which trial points were requested
    int64_t round_end_ = 0; // the number of iterations after which all walks start again
    int64_t iterations_ = 0, evaluations_ = 0, batch_ = 0, active_ = 0, stop_test_ = 0;

    // Copies of data of the backend, until the next values are taken. The end of a walk's life before a random start
    // changes neither its best value nor its best point.
    std::optional<SearchSummary> summary_;
    bool walks_are_current_ = false;
    std::vector<pattern::Walk> walk_;
    std::vector<std::pair<double, int64_t>> order_; // the best values in increasing order, and the numbers of the walks
};

} // namespace cudaopt
