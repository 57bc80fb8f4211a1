// The phase "searching": f and g at a trial point have come, and the line search decides what becomes of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

// The manual's info code for a verdict of the line search.
int info_code(SearchVerdict verdict) {
    switch (verdict) {
    case SearchVerdict::evaluate: return 3; // only looked at when maxfev is reached
    case SearchVerdict::converged: return 1;
    case SearchVerdict::interval_too_small: return 2;
    case SearchVerdict::at_minimum_step: return 4;
    case SearchVerdict::at_maximum_step: return 5;
    case SearchVerdict::rounding_errors: return 6;
    }
    return 0;
}

} // namespace

int Solver::judge_trial() {
    panel_ = memory_.tentative_panel();
    panel_.masked = bounded_;
    const PanelSums &sums = sweeps_->gather(panel_); // as if the step were accepted, which it nearly always is
    const double f = sums.f, slope = sums.over_all(panel::gradient, 1);
    const bool finite = std::isfinite(f) && sums.row_sums[not_finite] == 0 && std::isfinite(slope);
    results_.slope = slope;
    if (!search_started_) {
        const DirectionSums d = sweeps_->direction_sums();
        note_direction(d);
        slope_base_ = d.slope;
        if (!(d.slope < 0)) return d.projected > 0 && !direction_.truncate ? truncate_direction() : refresh_or_fail();
        SearchTolerances tolerances{settings.ftol, settings.gtol, settings.xtol, settings.step_min, settings.step_max};
        if (bounded_) {
            const bool done = finite && f <= f_base_ + settings.ftol * direction_.step * slope_base_ &&
                              std::fabs(slope) <= settings.gtol * -slope_base_;
            double largest = direction_.step; // of no consequence to a search that ends here
            if (results_.iterations == 0) largest = 1;
            else if (!done) largest = sweeps_->largest_step(direction_.spare_slot);
            tolerances.step_max = std::max(std::min(tolerances.step_max, largest), direction_.step);
        }
        line_.start(f_base_, slope_base_, direction_.step, tolerances);
        search_started_ = true;
    }
    if (!finite) {
        if (cuts_in_a_row_ >= settings.max_cuts) {
            message_.set("f or g is NaN or infinite still after %lld cuts of the step in a row, the last to %g; the "
                         "last iterate has f = %.16g",
                         static_cast<long long>(cuts_in_a_row_), line_.step(), f_base_);
            sweeps_->restore(direction_.spare_slot, f_base_);
            return end(CUDA_OPT_NOT_FINITE);
        }
        if (const int code = end_at_limit(false)) return code;
        results_.cuts++;
        cuts_in_a_row_++;
        line_.cut();
        sweeps_->step(direction_.spare_slot, line_.step());
        return ask_evaluation();
    }
    cuts_in_a_row_ = 0;
    search_evaluations_++;

    const double step = line_.step();
    const SearchVerdict verdict = line_.update(f, slope);
    const bool out_of_evaluations =
        verdict == SearchVerdict::evaluate && search_evaluations_ >= settings.evaluations_per_search;
    results_.line_search_info = info_code(verdict);
    // Warnings of the line search end it with the best step it knows; such a step must at least have lowered f.
    if (verdict == SearchVerdict::converged || (verdict != SearchVerdict::evaluate && f < f_base_)) {
        results_.step = step;
        return accept(sums);
    }
    if (verdict != SearchVerdict::evaluate || out_of_evaluations) return refresh_or_fail();
    if (const int code = end_at_limit(false)) return code;
    sweeps_->step(direction_.spare_slot, line_.step());
    return ask_evaluation();
}

void Solver::note_direction(const DirectionSums &sums) {
    results_.direction_norm2 = std::sqrt(sums.d_squared);
    results_.slope_start = sums.slope;
    // Without pairs the model is separable: the rows that the projection stopped are those with a breakpoint passed.
    const auto projected = static_cast<int64_t>(sums.projected);
    const int64_t stopped = memory_.pairs() == 0 ? projected : 0;
    results_.cauchy_free = cauchy_free_ - stopped;
    results_.cauchy_breakpoints = cauchy_breakpoints_ + stopped;
    results_.subspace_projected = projected - stopped;
}

int Solver::accept(const PanelSums &sums) {
    results_.iterations++;
    f_previous_ = f_base_;
    // s'y <= eps |s'g| is no curvature to learn from, whatever the scale of x and f.
    const double curvature = results_.step * sums.over_all(0, 1);
    if (curvature > machine_epsilon * -slope_base_ * results_.step) {
        memory_.append(sums, results_.step);
        gathered_ = &sums;
    } else {
        results_.skipped_updates++;
        panel_ = memory_.stored_panel();
        panel_.masked = bounded_;
        gathered_ = memory_.pairs() == 0 ? &sums : nullptr;
    }
    note_iterate(sums);
    log_iterate();
    if (settings.report_iterates) {
        phase_ = Phase::reporting;
        message_.set("iterate %lld: f = %.16g, ||P g|| = %g", static_cast<long long>(results_.iterations), results_.f,
                     results_.pg_norm2);
        return CUDA_OPT_NEW_ITERATE;
    }
    return judge_iterate();
}

// The projected subspace minimiser is no descent direction: go from the Cauchy point towards the minimiser only as far
// as the box allows (Morales and Nocedal 2011, section 3).
int Solver::truncate_direction() {
    if (const int code = end_at_limit(false)) return code;
    sweeps_->restore(direction_.spare_slot, f_base_);
    direction_.panel.fresh = false; // sweep 2 has already formed y_new
    direction_.truncate = true;
    direction_.alpha = sweeps_->truncation(direction_);
    results_.truncations++;
    return search_again(direction_.step);
}

int Solver::refresh_or_fail() {
    sweeps_->restore(direction_.spare_slot, f_base_);
    // At the rounding level of f, steps that leave f as it is may pass both tests, and the next search fails: where
    // neither f nor ||P g|| has fallen since the last refresh, another one would come to nothing too, and so for ever.
    const bool progress = f_base_ < f_refreshed_ || results_.pg_norm2 < pg_refreshed_;
    f_refreshed_ = f_base_;
    pg_refreshed_ = results_.pg_norm2;
    if (memory_.pairs() == 0 || !progress) {
        message_.set("the line search failed (info %lld) after %lld evaluations along a direction of slope %g from "
                     "f = %.16g; f may be at its rounding level, or g may not be its gradient",
                     static_cast<long long>(results_.line_search_info), static_cast<long long>(search_evaluations_),
                     slope_base_, f_base_);
        return end(CUDA_OPT_LINE_SEARCH_FAILED);
    }
    if (const int code = end_at_limit(true)) return code;
    memory_.clear();
    results_.refreshes++;
    panel_ = memory_.stored_panel();
    panel_.masked = bounded_;
    gathered_ = nullptr;
    return next_direction();
}

} // namespace cudaopt
