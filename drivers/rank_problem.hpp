// A test problem of which each MPI rank evaluates a part: its part of g, and f for each of its segments.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "options.hpp"

namespace driver {

// The distribution of the variables: rank r has those from begins[r] to begins[r + 1].
struct RankCut {
    int rank;
    std::vector<int64_t> begins;

    int ranks() const { return static_cast<int>(begins.size()) - 1; }
    int64_t first() const { return begins[rank]; }
    int64_t end() const { return begins[rank + 1]; }
    int64_t n() const { return end() - first(); }
};

// As even as segments allow.
RankCut cut_at_segments(int64_t n, int rank, int ranks);

template <class Real> class RankProblem {
  public:
    virtual ~RankProblem() = default;
    // x, g: of the rank's variables; f: one value for each of its segments; all in the handle's memory space. A
    // collective call of all ranks.
    virtual void evaluate(const Real *x, double *f, Real *g) = 0;
};

// Throws Failure for a problem that is not available on ranks.
template <class Real>
std::unique_ptr<RankProblem<Real>> make_rank_problem(const Options &options, int64_t n, bool on_cuda,
                                                     const RankCut &cut, MPI_Comm communicator);

} // namespace driver
