// The interface for evaluating the energy of a tessellation. The host and CUDA each implement it.
#pragma once

#include "apps/cvt/cell_sums.hpp"
#include "apps/cvt/density.hpp"
#include "testfuncs/problem.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace cudaopt::cvt {

using testfuncs::Place;

using Stop = std::function<bool()>;

// Setup contains the data that all evaluations of one tessellation share.
struct Setup {
    Packing packing;
    int64_t sites;
    std::vector<int32_t> steps;
    const Levels *levels;

    double h() const { return 1. / packing.resolution; }
    double mass_scale() const { return levels->level * h() * h(); }
    double energy_scale() const { return mass_scale() * h() * h(); }
    double gradient_scale() const { return 2 * mass_scale() * h(); }
};

class Evaluator {
  public:
    virtual ~Evaluator() = default;
    // Computes the energy f and its gradient g. On the host, stop() is called between rows of pixels. After it has
    // returned true, the evaluation ends soon, and f is NaN.
    virtual void evaluate(const double *x, double *f, double *g, const Place &place, const Stop &stop) = 0;

    // The next functions return results of the last evaluation. words() returns one word for each pixel, into which the
    // nearest site is packed (packing.hpp). sums() returns the sums of each cell (cell_sums.hpp).
    virtual std::vector<Word> words() const = 0;
    virtual std::vector<CellSums> sums() const = 0;
    // Returns the coordinates of the sites in the last evaluation.
    virtual std::vector<double> sites() const = 0;
};

std::unique_ptr<Evaluator> make_host_evaluator(const Setup &setup);
// Creates an evaluator on CUDA. Throws std::runtime_error if CUDA is not available.
std::unique_ptr<Evaluator> make_cuda_evaluator(const Setup &setup);

} // namespace cudaopt::cvt
