// The line between the search's phases and the machine: what is asked of a backend. Above it nothing loops over walks.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda_opt/search_walks.cuh"
#include "exec/cancellation.hpp"

namespace cudaopt {

struct SearchShape {
    int64_t walks, seed, round_iterations;
    int n, halvings, threads;
    AtSmallestStep at_smallest;
};

// Failures of the machine are thrown as BackendFailure.
class SearchSweeps {
  public:
    virtual ~SearchSweeps() = default;

    // The memory for all, once; and all walks before their starts.
    virtual void begin(const SearchShape &shape, void *stream, CancellationToken &cancellation) = 0;
    // lower, upper, Delta_0 from host memory, n values each.
    virtual void set_box(const double *box) = 0;

    // Random points for the walks selected, or for all where none have been; f there.
    virtual void draw(int64_t count, double *points) = 0;
    virtual void judge_starts(int64_t count, const double *values) = 0;
    // The trials of coordinate j; f there. all_rows: the points hold nothing of the batch before.
    virtual void write_trials(int64_t active, int j, bool all_rows, double *points) = 0;
    virtual void judge_trials(int64_t active, int j, const double *values) = 0;
    // How many walks have been selected: to go on (AtSmallestStep::stop), or to start again (new_point); else 0.
    virtual int64_t end_iteration(int64_t active) = 0;

    // All walks start again: each one's best is kept, and the next points are drawn for all.
    virtual void begin_round() = 0;

    virtual SearchSummary summary() = 0;
    virtual void read_walks(pattern::Walk *walk) = 0;     // to host memory
    virtual void read_point(int64_t walk, double *x) = 0; // its best, to host memory
    virtual int64_t workspace_bytes() const = 0;
};

std::unique_ptr<SearchSweeps> make_host_search();
std::unique_ptr<SearchSweeps> make_cuda_search();

} // namespace cudaopt
