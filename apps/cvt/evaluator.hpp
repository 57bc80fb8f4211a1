// What evaluates on the host, or on CUDA.
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

// What stays the same from evaluation to evaluation.
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
    // stop: asked between rows of pixels on the host. Once it is true, the evaluation ends soon, and f is NaN
    virtual void evaluate(const double *x, double *f, double *g, const Place &place, const Stop &stop) = 0;

    // Of the last evaluation: the site words of all pixels, the sums of all cells.
    virtual std::vector<Word> words() const = 0;
    virtual std::vector<CellSums> sums() const = 0;
    // Likewise the sites, as they were given.
    virtual std::vector<double> sites() const = 0;
};

std::unique_ptr<Evaluator> make_host_evaluator(const Setup &setup);
// Throws std::runtime_error where there is no CUDA
std::unique_ptr<Evaluator> make_cuda_evaluator(const Setup &setup);

} // namespace cudaopt::cvt
