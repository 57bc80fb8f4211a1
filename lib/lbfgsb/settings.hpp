// Settings and results of one solve. The keys and the inequalities are documented in cuda_opt.h.
#pragma once

#include <cstdint>

#include "cuda_opt.h"
#include "lbfgsb/box.hpp"

namespace cudaopt {

// The kind of B_0: theta I, the caller's diagonal, theta times a learned diagonal, or the inverse of an operator.
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

// nvcc writes a member's type with parentheses, of which g++ warns, unless the type has a name.
using IntMember = int64_t Settings::*;
using BoolMember = bool Settings::*;
using RealMember = double Settings::*;

// One row per setting: its key and name in cuda_opt.h, and the range of valid values that cuda_opt.h documents.
struct IntSetting {
    int32_t key;
    const char *name;
    // At most one of these is not NULL: `value` is for numbers, `flag` for settings that are 0 or 1.
    IntMember value;
    BoolMember flag;
    int64_t least, most;
    unsigned rules; // a sum of the constants below
};
// all_ranks: all ranks must have the same value. at_start: it cannot change during a solve. no_batch: it is not for
// batches, which have no reduced history precision, no reports of iterates, no log, no ranks, no timer and no estimate
// of the noise.
constexpr unsigned all_ranks = 1, at_start = 2, no_batch = 4;

// All ranks must have the same values of these settings.
struct RealSetting {
    int32_t key;
    const char *name;
    RealMember value;
    double least, most;
    bool open_below, open_above; // whether the end point `least`, or `most`, is itself invalid
};

constexpr IntSetting int_settings[] = {
    {CUDA_OPT_MAX_ITERATIONS, "MAX_ITERATIONS", &Settings::max_iterations, nullptr, 0, INT64_MAX, all_ranks},
    {CUDA_OPT_MAX_EVALUATIONS, "MAX_EVALUATIONS", &Settings::max_evaluations, nullptr, 0, INT64_MAX, all_ranks},
    {CUDA_OPT_MAXFEV, "MAXFEV", &Settings::evaluations_per_search, nullptr, 1, INT64_MAX, all_ranks},
    {CUDA_OPT_MAX_CUTS, "MAX_CUTS", &Settings::max_cuts, nullptr, 0, INT64_MAX, all_ranks},
    {CUDA_OPT_DIAGCO, "DIAGCO", nullptr, nullptr, 0, 1, at_start}, // 1 selects the caller's diagonal as H0
    {CUDA_OPT_INITIAL_HESSIAN, "INITIAL_HESSIAN", &Settings::metric, nullptr, 0, 3, all_ranks + at_start},
    {CUDA_OPT_DIAGONAL_EVERY, "DIAGONAL_EVERY", &Settings::diagonal_every, nullptr, 0, INT64_MAX, all_ranks},
    {CUDA_OPT_APPROXIMATE_CAUCHY, "APPROXIMATE_CAUCHY", nullptr, &Settings::approximate_cauchy, 0, 1, all_ranks},
    {CUDA_OPT_REPORT_ITERATES, "REPORT_ITERATES", nullptr, &Settings::report_iterates, 0, 1, no_batch},
    {CUDA_OPT_ROBUST, "ROBUST", nullptr, &Settings::robust, 0, 1, all_ranks + at_start},
    {CUDA_OPT_THREADS, "THREADS", &Settings::threads, nullptr, 0, 4096, at_start},
    {CUDA_OPT_HISTORY_BITS, "HISTORY_BITS", &Settings::history_bits, nullptr, 16, 64, all_ranks + at_start + no_batch},
    {CUDA_OPT_PRODUCT_BITS, "PRODUCT_BITS", &Settings::product_bits, nullptr, 32, 64, all_ranks + no_batch},
    {CUDA_OPT_F_PART, "F_PART", &Settings::f_part, nullptr, 0, 2, all_ranks + at_start + no_batch},
    {CUDA_OPT_TIMED, "TIMED", nullptr, &Settings::timed, 0, 1, at_start + no_batch},
    {CUDA_OPT_NOISE_AUTO, "NOISE_AUTO", nullptr, &Settings::noise_auto, 0, 1, all_ranks + no_batch},
    {CUDA_OPT_IPRINT_FREQUENCY, "IPRINT_FREQUENCY", &Settings::log_frequency, nullptr, INT64_MIN, INT64_MAX, no_batch},
    {CUDA_OPT_IPRINT_TYPE, "IPRINT_TYPE", &Settings::log_type, nullptr, 0, 4, no_batch},
};

constexpr RealSetting real_settings[] = {
    {CUDA_OPT_EPS, "EPS", &Settings::eps, 0, infinity, false, false},
    {CUDA_OPT_PGTOL, "PGTOL", &Settings::pgtol, 0, infinity, false, false},
    {CUDA_OPT_FACTR, "FACTR", &Settings::factr, 0, infinity, false, false},
    {CUDA_OPT_F_TARGET, "F_TARGET", &Settings::f_target, -infinity, infinity, false, false},
    {CUDA_OPT_GTOL, "GTOL", &Settings::gtol, 1e-4, 1, true, true},
    {CUDA_OPT_FTOL, "FTOL", &Settings::ftol, 0, 1, false, true},
    {CUDA_OPT_XTOL, "XTOL", &Settings::xtol, 0, infinity, false, false},
    {CUDA_OPT_STPMIN, "STPMIN", &Settings::step_min, 0, infinity, false, false},
    {CUDA_OPT_STPMAX, "STPMAX", &Settings::step_max, 0, infinity, true, true},
    {CUDA_OPT_RELATIVE_GTOL, "RELATIVE_GTOL", &Settings::relative_gtol, 0, infinity, false, false},
    {CUDA_OPT_ROUNDING, "ROUNDING", &Settings::rounding, 0, infinity, false, true},
    {CUDA_OPT_F_UNBOUNDED, "F_UNBOUNDED", &Settings::f_unbounded, -infinity, infinity, false, true},
    {CUDA_OPT_NOISE, "NOISE", &Settings::noise, 0, 1, false, true},
    {CUDA_OPT_NOISE_ABS, "NOISE_ABS", &Settings::noise_abs, 0, infinity, false, true},
    {CUDA_OPT_MAX_SECONDS, "MAX_SECONDS", &Settings::max_seconds, 0, infinity, false, false},
};

// The stopping tests. Their values are the keys of the options that they belong to, as in CUDA_OPT_STOP_TEST.
enum class Test {
    none = 0,
    eps = CUDA_OPT_EPS,
    pgtol = CUDA_OPT_PGTOL,
    factr = CUDA_OPT_FACTR,
    f_target = CUDA_OPT_F_TARGET,
    rounding = CUDA_OPT_ROUNDING,
    noise = CUDA_OPT_NOISE
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
