// A test problem that several MPI ranks evaluate together. Each rank computes its part of the gradient, and one value
// of f for each of its segments (ranges of variables).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "options.hpp"

namespace driver {

// The distribution of the variables over the ranks: rank r stores the variables begins[r] <= i < begins[r + 1].
struct RankCut {
    int rank;
    std::vector<int64_t> begins;

    int ranks() const { return static_cast<int>(begins.size()) - 1; }
    int64_t first() const { return begins[rank]; }
    int64_t end() const { return begins[rank + 1]; }
    int64_t n() const { return end() - first(); }
};

// Distributes the variables over the ranks as evenly as possible, so that each rank has whole segments.
RankCut cut_at_segments(int64_t n, int rank, int ranks);

template <class Real> class RankProblem {
  public:
    virtual ~RankProblem() = default;
    // Evaluates f and g. All ranks have to call this together. x and g contain the variables of this rank. f is an
    // array with one element per segment of this rank: the contribution of the segment's variables to the objective.
    // All arrays are in the memory space of the solver's handle.
    virtual void evaluate(const Real *x, double *f, Real *g) = 0;
};

// Creates the test problem that the options name. Throws Failure if it is not available on ranks.
template <class Real>
std::unique_ptr<RankProblem<Real>> make_rank_problem(const Options &options, int64_t n, bool on_cuda,
                                                     const RankCut &cut, MPI_Comm communicator);

} // namespace driver
