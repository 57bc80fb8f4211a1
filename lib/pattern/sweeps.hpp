// The interface between the pattern search and a backend, which is the host or CUDA. The backend performs all loops
// over walks, which are many independent searches.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda_opt/search_walks.cuh"
#include "exec/cancellation.hpp"

namespace cudaopt {

struct SearchSettings {
    int64_t max_iterations = 2000, max_evaluations = 0, threads = 0, seed = 0, at_smallest = 0, halvings = 16,
            round_iterations = 0;
    double max_seconds = 0, f_target = -HUGE_VAL;
    AtSmallestStep rule() const { return static_cast<AtSmallestStep>(at_smallest); }
};

// The operations of a backend. Their failures are thrown as BackendFailure.
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

} // namespace cudaopt
