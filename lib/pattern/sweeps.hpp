// The interface between the phases of the pattern search and a backend, which performs all loops over walks.
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

// Failures of a backend are thrown as BackendFailure.
class SearchSweeps {
  public:
    virtual ~SearchSweeps() = default;

    // Allocates all memory and sets all walks to the state before their start.
    virtual void begin(const SearchShape &shape, void *stream, CancellationToken &cancellation) = 0;
    // Copies lower, upper and Delta_0, n values each, from host memory.
    virtual void set_box(const double *box) = 0;

    // draw() writes random points for the selected walks, or for all walks if none are selected; judge_starts() takes f
    // there.
    virtual void draw(int64_t count, double *points) = 0;
    virtual void judge_starts(int64_t count, const double *values) = 0;
    // The trials of coordinate j, and f there. all_rows: the array `points` does not contain the previous batch.
    virtual void write_trials(int64_t active, int j, bool all_rows, double *points) = 0;
    virtual void judge_trials(int64_t active, int j, const double *values) = 0;
    // Ends an iteration and returns the number of selected walks: those that continue (AtSmallestStep::stop) or start
    // again (new_point); otherwise 0.
    virtual int64_t end_iteration(int64_t active) = 0;

    // All walks start again. The best point of each walk is kept, and the next points are drawn for all walks.
    virtual void begin_round() = 0;

    virtual SearchSummary summary() = 0;
    virtual void read_walks(pattern::Walk *walk) = 0;     // to host memory
    virtual void read_point(int64_t walk, double *x) = 0; // the walk's best point, to host memory
    virtual int64_t workspace_bytes() const = 0;
};

std::unique_ptr<SearchSweeps> make_host_search();
std::unique_ptr<SearchSweeps> make_cuda_search();

} // namespace cudaopt
