// Centroidal Voronoi tessellations from a random start, by this library and by L-BFGS-B 3.0, with the same evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_opt.hpp"
#include "bench/common/stream_clock.hpp"
#include "apps/cvt/tessellation.hpp"

namespace cudaopt::bench {

// The grid, and where its evaluations are done.
class CvtProblem {
  public:
    CvtProblem(int64_t sites, int64_t resolution, uint64_t seed, bool cuda, int threads);

    int64_t n() const { return static_cast<int64_t>(start_.size()); }
    const std::vector<double> &start() const { return start_; }
    bool cuda() const { return clock_ != nullptr; }
    const testfuncs::Place &place() const { return place_; }

    // A solver in the box [0, 1]^n with no stopping test on, on the stream of the evaluations.
    Minimiser<double> make_solver(int m) const;
    void evaluate(const double *x, double *f, double *g) { grid_.evaluate(x, f, g, place_); }
    // Seconds of one evaluation at the given sites, and of what it could not be faster than: its bytes at the rate of a
    // copy.
    double evaluation_seconds(const std::vector<double> &x);
    double floor_seconds(double copy_rate) const { return grid_.bytes() / copy_rate; }
    int passes() const { return grid_.passes(); }

  private:
    cvt::Tessellation grid_;
    std::vector<double> start_;
    std::unique_ptr<StreamClock> clock_; // of CUDA alone
    testfuncs::Place place_;
    int threads_;
};

struct CvtRun {
    int64_t iterations = 0, evaluations = 0;
    double seconds = 0;             // wall time of the loop, from the end of the first iteration on
    double solver_seconds = 0;      // inside the solver, all iterations
    double io_seconds = 0;          // copies of x, f and g between host and device, all iterations
    std::vector<double> f_at;       // f at the start and at each accepted iterate
    std::vector<double> t, t_first; // each iteration's t* and what the one-breakpoint approximation gives there
    std::vector<double> x;          // the last iterate
    std::string end;

    double f() const { return f_at.back(); }
    double per_iteration(double total) const { return 1e3 * total / static_cast<double>(iterations); } // milliseconds
    // Wall time of an iteration: of all but the first, which allocates.
    double wall_per_iteration() const { return 1e3 * seconds / static_cast<double>(iterations - 1); }
};

// Runs have 7 correction pairs. They end when the energy no longer falls, as the 2014 paper's do, or at this limit.
constexpr int cvt_pairs = 7;
constexpr int64_t cvt_iterations = 5000;

CvtRun run_cvt(CvtProblem &problem, bool approximate_cauchy);
// On one thread of the host, each evaluation where the problem has it, with copies of x, f and g. The run ends after
// the given number of seconds, too; 0: it does not. Nothing where the library was not there to build with.
std::optional<CvtRun> run_cvt_fortran(CvtProblem &problem, double seconds);

} // namespace cudaopt::bench
