// The pattern search by reverse communication (Zhu and Curry 2009, figure 1). It consists of many walks, which are
// independent searches. This object contains the state of the search: resume() takes the values of f at the last batch
// of points and writes the next batch. Only the backend (SearchSweeps) contains loops over walks. The batches follow
// each other in this order. The batch in brackets, [starts], consists of new random starts and is optional:
//
//   start -> starts -> trials of coordinate 0 -> ... -> n - 1 -> [starts] -> trials of coordinate 0 -> ... -> ended
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "boundary/message.hpp"
#include "cuda_opt/search_walks.cuh"
#include "exec/cancellation.hpp"

namespace cudaopt {

struct SearchSettings {
    int64_t max_iterations = 2000, max_evaluations = 0, threads = 0, seed = 0, at_smallest = 0, halvings = 16,
            round_iterations = 0;
    double max_seconds = 0, f_target = -HUGE_VAL;
    AtSmallestStep rule() const { return static_cast<AtSmallestStep>(at_smallest); }
};

// The operations of a backend, the host or CUDA, which performs all loops over walks. Its failures are thrown as
// BackendFailure.
class SearchSweeps {
  public:
    virtual ~SearchSweeps() = default;

    // Allocates all memory and sets all walks to their initial state, before they have a point. box: the lower bounds,
    // the upper bounds and the initial step sizes Delta_0, n values each, in host memory, which are copied.
    virtual void begin(int n, int64_t walks, const SearchSettings &settings, const double *box,
                       const Resources &resources) = 0;

    // draw() writes random points for the selected walks, or for all walks if none are selected. judge_starts() takes
    // the values of f at these points.
    virtual void draw(double *points) = 0;
    virtual void judge_starts(const double *values) = 0;
    // write_trials() writes the two trial points of each walk along coordinate j, and judge_trials() takes the values
    // of f there. all_rows: whether all coordinates have to be written, because `points` does not contain the previous
    // batch.
    virtual void write_trials(int j, bool all_rows, double *points) = 0;
    virtual void judge_trials(int j, const double *values) = 0;
    // Ends an iteration, and makes the list of the walks that the next step has to treat. Returns the length of this
    // list. With AtSmallestStep::stop, the list contains the walks that continue, and only these have trial points from
    // then on. With AtSmallestStep::new_point, it contains the walks that start again, for which the next draw() writes
    // points. With AtSmallestStep::restart_step all walks continue. No list is needed, and 0 is returned.
    virtual int64_t end_iteration() = 0;

    // Begins a round, in which all walks start again. The best point of each walk is kept. The next draw() draws points
    // for all walks.
    virtual void begin_round() = 0;

    virtual SearchSummary summary() = 0;
    virtual void read_walks(pattern::Walk *walk) = 0;     // copies the state of all walks to host memory
    virtual void read_point(int64_t walk, double *x) = 0; // copies the best point of a walk to host memory
    virtual int64_t workspace_bytes() const = 0;
};

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
