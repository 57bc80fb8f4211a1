// Settings and results of one solve. The keys and the inequalities are documented in cuda_opt.h.
#pragma once

#include <cstdint>

#include "lbfgsb/box.hpp"

namespace cudaopt {

// The kind of the initial Hessian B_0: theta I, the caller's diagonal, theta times a learned diagonal, or the inverse
// of the caller's operator.
struct Metric {
    static constexpr int64_t one_number = 0, callers = 1, learned = 2, callers_operator = 3;
};

struct Settings {
    int64_t max_iterations = 2000, max_evaluations = 0, evaluations_per_search = 20, max_cuts = 30;
    bool approximate_cauchy = false, report_iterates = false, robust = true, timed = true, noise_auto = false;
    int64_t history_bits = 64, // precision in which the history, S and Y, is stored
        product_bits = 64,     // precision in which the inner products of its elements are formed
        threads = 0, log_frequency = -1, log_type = 0, f_part = 0;
    int64_t metric = Metric::one_number;
    int64_t diagonal_every = 1; // number of iterations for which the caller's diagonal is valid; 0: for all
    double eps = 0, pgtol = 1e-5, factr = 1e7, f_target = -infinity;
    double relative_gtol = 5e-4, rounding = 100, f_unbounded = -1e300;
    double noise = 0, noise_abs = 0; // noise level of f, relative to |f|, and in absolute terms
    double gtol = 0.9, ftol = 1e-4, xtol = 0.1, step_min = 1e-20, step_max = 1e20, max_seconds = 0;
};

// The data of an accepted iterate.
struct IterateFacts {
    double f = 0, pg_norm2 = 0, pg_norm_max = 0, x_norm2 = 0;
    int64_t at_lower = 0, at_upper = 0;
};

struct Results : IterateFacts {
    int64_t iterations = 0, evaluations = 0, skipped_updates = 0, cauchy_segments = 0, line_search_info = 0,
            refreshes = 0, cuts = 0, cauchy_crossings = 0, breakpoints_crossed = 0, stop_test = 0, start_projected = 0,
            truncations = 0, cauchy_free = 0, cauchy_breakpoints = 0, subspace_projected = 0;
    double step = 0, theta = 1, cauchy_t = 0, cauchy_t_first = 0, direction_norm2 = 0, slope_start = 0, slope = 0,
           noise_estimate = 0;
};

} // namespace cudaopt
