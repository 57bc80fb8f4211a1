// A test problem prepared for a solve: the handle, x, f, g and the bounds in its memory space.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bench/common/rules_of_lbfgsb.hpp"
#include "cuda_opt.hpp"
#include "solver_run.hpp"
#include "testfuncs/problem.hpp"

namespace cudaopt::bench {

inline int backend_number(const std::string &name) {
    return name == "cuda" ? CUDA_OPT_BACKEND_CUDA : name == "host" ? CUDA_OPT_BACKEND_HOST : CUDA_OPT_BACKEND_AUTO;
}

// Before the first call: the standard start is in x, the bounds are set, no stopping test is on but the limit of 2000
// iterations.
template <class Real> struct PreparedSolve {
    std::unique_ptr<testfuncs::Problem> problem;
    int64_t n;
    Minimiser<Real> handle;
    Array<Real> x, g;
    Array<double> f;
    std::vector<Array<Real>> bounds;   // the lower and the upper; none where they are numbers
    std::vector<Array<Real>> diagonal; // one where the metric is the caller's
    bool cuda, bounded;
    testfuncs::Place place;

    explicit PreparedSolve(const RunOptions &options)
        : problem(testfuncs::make_problem(options.problem, options.n)), n(problem->n()),
          handle(n, options.m, backend_number(options.backend)), x(handle, n), g(handle, n), f(handle, 1),
          cuda(handle.on_cuda()) {
        bounded =
            options.own_bounds ? problem->bounded() : std::isfinite(options.lower) || std::isfinite(options.upper);
        place.space = cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host;
        place.threads = options.threads;
        std::vector<Real> staged(static_cast<std::size_t>(n));
        problem->start(0, n, staged.data());
        if (options.start_in_box) move_to_box(staged, options.lower, options.upper);
        x.write(0, staged.data(), n);
        if (bounded && options.uniform) {
            handle.set_uniform_bounds(static_cast<Real>(options.lower), static_cast<Real>(options.upper));
        } else if (bounded) {
            for (const bool upper : {false, true}) {
                std::fill(staged.begin(), staged.end(), static_cast<Real>(upper ? options.upper : options.lower));
                if (options.own_bounds)
                    upper ? problem->upper(0, n, staged.data()) : problem->lower(0, n, staged.data());
                bounds.emplace_back(handle, staged);
            }
            handle.set_bounds(bounds[0], bounds[1]);
        }
        handle.set_real(CUDA_OPT_PGTOL, 0);
        handle.set_real(CUDA_OPT_FACTR, 0);
        handle.set_int(CUDA_OPT_THREADS, options.threads).set_int(CUDA_OPT_TIMED, options.timed);
        if (options.history_bits > 0) handle.set_int(CUDA_OPT_HISTORY_BITS, options.history_bits);
        handle.set_int(CUDA_OPT_PRODUCT_BITS, options.product_bits);
        handle.set_int(CUDA_OPT_INITIAL_HESSIAN, options.metric);
        handle.set_int(CUDA_OPT_DIAGONAL_EVERY, options.diagonal_every);
        if (options.metric == CUDA_OPT_INITIAL_HESSIAN_DIAGONAL) {
            diagonal.emplace_back(handle, std::vector<Real>(static_cast<std::size_t>(n), Real(0.005)));
            handle.set_diagonal(diagonal[0].data());
        }
        handle.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, options.approximate_cauchy);
        if (options.as_lbfgsb) use_rules_of_lbfgsb(handle);
    }

    // By one scale and one translation for all variables: the distances of atoms keep their ratios.
    static void move_to_box(std::vector<Real> &start, double lower, double upper) {
        const auto [first, last] = std::minmax_element(start.begin(), start.end());
        const double least = *first, scale = (upper - lower) / (*last - least);
        for (Real &value : start) value = static_cast<Real>(std::fmin(upper, lower + scale * (value - least)));
    }
    int solve() { return handle.solve(x, f, g); }
    void evaluate() { problem->evaluate(x.data(), f.data(), g.data(), place); }
};

} // namespace cudaopt::bench
