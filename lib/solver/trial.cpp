// The phase "searching": f and g at a trial point have come, and the line search decides what becomes of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
// Differences of f below this share of f count as rounding errors where the slopes say that the step is good.
constexpr double rounding_level = 1e5 * machine_epsilon;
constexpr double steepest_ascent_accepted = 0.8; // 1 - 2 delta of Hager and Zhang (2005), delta = 0.1
constexpr double progress_share = 0.1;           // of f or ||P g||, which makes another refresh worth while

constexpr int most_refreshes_in_vain = 4;

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

bool finite(const PanelSums &sums) {
    return std::isfinite(sums.f) && sums.row_sums[not_finite] == 0 &&
           std::isfinite(sums.over_all(panel::gradient, panel::s_column(0)));
}

} // namespace

int Solver::judge_trial() {
    panel_ = memory_.tentative_panel();
    panel_.masked = bounded_;
    const PanelSums &sums = sweeps_->gather(panel_); // as if the step were accepted, which it nearly always is
    const double f = sums.f, slope = sums.over_all(panel::gradient, panel::s_column(0));
    results_.slope = slope / unit_;
    if (!direction_judged_)
        if (const Ending task = judge_direction()) return *task;
    if (!search_started_) begin_line_search(finite(sums) && satisfies_wolfe(f, slope));
    if (!finite(sums)) return cut_back();
    cuts_in_a_row_ = 0;
    if (returning_) return f < f_base_ ? accept(sums) : fail_search(SearchFailure::lower_not_found_again);
    search_evaluations_++;

    step_ = line_.step();
    const SearchVerdict verdict = line_.update(f, slope);
    results_.line_search_info = info_code(verdict);
    if (verdict == SearchVerdict::converged || satisfies_approximate_wolfe(f, slope)) {
        results_.line_search_info = info_code(SearchVerdict::converged);
        return accept(sums);
    }
    if (verdict == SearchVerdict::evaluate && search_evaluations_ < settings.evaluations_per_search) {
        if (const Ending code = end_at_limit(false)) return *code;
        return try_step(line_.step());
    }
    return exhaust_search(sums, verdict != SearchVerdict::evaluate);
}

// The sums of sweep 2 have come. Where d is no direction of descent, the task or code that follows.
Solver::Ending Solver::judge_direction() {
    const DirectionSums d = direction_sums_ ? *direction_sums_ : sweeps_->direction_sums();
    direction_judged_ = true;
    note_direction(d);
    slope_base_ = d.slope;
    if (d.slope < 0) return {};
    if (d.projected > 0 && !direction_.truncate) return truncate_direction();
    return fail_search(SearchFailure::no_descent);
}

// Conditions (T 1.1) and (T 1.2) at the first step.
bool Solver::satisfies_wolfe(double f, double slope) const {
    return f <= f_base_ + settings.ftol * direction_.step * slope_base_ &&
           std::fabs(slope) <= settings.gtol * -slope_base_;
}

// Where f differs by no more than its rounding errors, slopes still tell (Hager and Zhang, SIAM J. Optim. 16 (2005)
// 170, section 2: the approximate Wolfe conditions). The lowest f is the measure, so that f cannot creep up.
bool Solver::satisfies_approximate_wolfe(double f, double slope) const {
    return settings.robust && f <= f_best_ + rounding_level * std::fabs(f_best_) &&
           slope >= settings.gtol * slope_base_ && slope <= steepest_ascent_accepted * -slope_base_;
}

// first_accepted: the first trial point ends the search.
void Solver::begin_line_search(bool first_accepted) {
    SearchTolerances tolerances{settings.ftol, settings.gtol, settings.xtol, settings.step_min, settings.step_max};
    if (bounded_) {
        double largest = direction_.step; // of no consequence to a search that ends here
        if (fresh_start_) largest = 1;
        else if (!first_accepted) largest = sweeps_->largest_step(direction_.spare_slot);
        tolerances.step_max = std::max(std::min(tolerances.step_max, largest), direction_.step);
    }
    // The first step of all depends on the scale of f; stpmin is meant for the search.
    tolerances.step_min = std::min(tolerances.step_min, direction_.step);
    line_.start(f_base_, slope_base_, direction_.step, tolerances);
    search_started_ = true;
}

int Solver::try_step(double step) {
    sweeps_->step(direction_.spare_slot, step);
    return ask_evaluation();
}

// f or g is not finite at the trial point.
int Solver::cut_back() {
    if (returning_) return fail_search(SearchFailure::lower_not_found_again);
    if (cuts_in_a_row_ >= settings.max_cuts) {
        if (reached_ != 0) {
            sweeps_->restore(direction_.spare_slot, f_base_);
            return converge(reached_);
        }
        settle(false);
        message_.set("f or g is NaN or infinite still after %lld cuts of the step in a row, the last to %g; the best "
                     "iterate has f = %.16g",
                     static_cast<long long>(cuts_in_a_row_), line_.step(), results_.f);
        return end(CUDA_OPT_NOT_FINITE);
    }
    if (const Ending code = end_at_limit(false)) return *code;
    results_.cuts++;
    cuts_in_a_row_++;
    line_.cut();
    return try_step(line_.step());
}

// The search ends without a step that meets both conditions. A warning's step is taken if it lowered f (dcsrch ends
// with the best that it knows); else the lowest point seen, which version 3.0 does not go back to.
int Solver::exhaust_search(const PanelSums &sums, bool warned) {
    exhausted_ = settings.robust && !warned;
    if (warned && sums.f < f_base_ && (!settings.robust || sums.f <= line_.lowest_phi())) return accept(sums);
    if (!(line_.lowest_phi() < f_base_)) return fail_search(SearchFailure::nothing_lower);
    if (!settings.robust) return fail_search(SearchFailure::lower_not_accepted);
    if (sums.f <= line_.lowest_phi()) return accept(sums);
    if (const Ending code = end_at_limit(false)) return *code;
    returning_ = true;
    step_ = line_.lowest_step();
    return try_step(step_);
}

void Solver::note_direction(const DirectionSums &sums) {
    results_.direction_norm2 = std::sqrt(sums.d_squared) / unit_;
    results_.slope_start = sums.slope / unit_;
    // Without pairs the model is separable: the rows that the projection stopped are those with a breakpoint passed.
    const auto projected = static_cast<int64_t>(sums.projected);
    const int64_t stopped = memory_.pairs() == 0 ? std::min(projected, cauchy_free_) : 0;
    results_.cauchy_free = cauchy_free_ - stopped;
    results_.cauchy_breakpoints = cauchy_breakpoints_ + stopped;
    results_.subspace_projected = projected - stopped;
}

int Solver::accept(const PanelSums &sums) {
    results_.iterations++;
    results_.step = step_ * unit_;
    fresh_start_ = false;
    reached_ = 0;
    f_previous_ = f_base_;
    keep_best(sums.f);
    // s'y <= eps |s'g| is no curvature to learn from, whatever the scale of x and f.
    const double curvature = step_ * sums.over_all(0, 1);
    if (curvature > machine_epsilon * -slope_base_ * step_ && LimitedMemory::usable(sums, step_)) {
        memory_.append(sums, step_);
        gathered_ = &sums;
        pair_unfinished_ = true;
    } else {
        results_.skipped_updates++;
        panel_ = memory_.stored_panel();
        panel_.masked = bounded_;
        gathered_ = memory_.pairs() == 0 ? &sums : nullptr;
    }
    note_iterate(sums);
    note_progress();
    log_iterate();
    if (settings.report_iterates) {
        phase_ = Phase::reporting;
        message_.set("iterate %lld: f = %.16g, ||P g|| = %g", static_cast<long long>(results_.iterations), results_.f,
                     results_.pg_norm2);
        return CUDA_OPT_NEW_ITERATE;
    }
    return judge_iterate();
}

// Approximate conditions accept steps for ever where nothing but rounding errors is left, and no test is on.
void Solver::note_progress() {
    const bool progress = f_noted_ == infinity || results_.f < f_noted_ - 10 * machine_epsilon * std::fabs(f_noted_) ||
                          results_.pg_norm2 < (1 - progress_share) * pg_noted_;
    if (progress) {
        f_noted_ = std::min(f_noted_, results_.f);
        pg_noted_ = std::min(pg_noted_, results_.pg_norm2);
    }
    in_vain_ = progress ? 0 : in_vain_ + 1;
}

// Approximate conditions let f rise, within its rounding errors. The lowest iterate is then the base point; it is put
// aside until a lower one comes.
void Solver::keep_best(double f) {
    if (f <= f_best_) {
        best_is_aside_ = false;
        postponed_ = 0;
        f_best_ = f;
    } else if (!best_is_aside_) {
        sweeps_->put_aside(direction_.spare_slot);
        best_ = results_; // its facts
        best_is_aside_ = true;
    }
}

// The projected subspace minimiser is no descent direction: go from the Cauchy point towards the minimiser only as far
// as the box allows (Morales and Nocedal 2011, section 3).
int Solver::truncate_direction() {
    if (const Ending code = end_at_limit(false)) return *code;
    sweeps_->restore(direction_.spare_slot, f_base_);
    direction_.panel.fresh = false; // sweep 2 has already formed y_new
    direction_.truncate = true;
    direction_.alpha = sweeps_->truncation(direction_);
    results_.truncations++;
    return search_again(direction_.step);
}

// Drop the memory and search along -g, in turn with the memory's scale and as at a start; or end. At the rounding level
// of f, steps that leave f as it is may pass both tests, and the next search fails, and so for ever: where neither f
// nor
// ||P g|| has fallen by a tenth since the last refresh that such a failure led to, four are tried at most.
int Solver::fail_search(SearchFailure failure) {
    sweeps_->restore(direction_.spare_slot, f_base_);
    if (reached_ != 0) return converge(reached_);
    const double share = settings.robust ? progress_share : 0;
    const bool progress = f_base_ < f_refreshed_ - share * std::fabs(f_refreshed_) ||
                          results_.pg_norm2 < (1 - share) * pg_refreshed_ || f_refreshed_ == infinity;
    if (progress) {
        refreshes_in_vain_ = 0;
        f_refreshed_ = settings.robust ? std::min(f_base_, f_refreshed_) : f_base_;
        pg_refreshed_ = settings.robust ? std::min(results_.pg_norm2, pg_refreshed_) : results_.pg_norm2;
    }
    const bool keep_scale = memory_.pairs() > 0 && refreshes_in_vain_ % 2 == 0;
    if (fresh_start_ || refreshes_in_vain_ == most_refreshes_in_vain || !(keep_scale || settings.robust)) {
        settle(true);
        tell_failure(failure);
        return end(CUDA_OPT_LINE_SEARCH_FAILED);
    }
    if (const Ending code = end_at_limit(true)) return *code;
    refreshes_in_vain_++;
    fresh_start_ = !keep_scale;
    refresh();
    return next_direction();
}

void Solver::tell_failure(SearchFailure failure) {
    const auto info = static_cast<long long>(results_.line_search_info);
    const auto evaluations = static_cast<long long>(search_evaluations_);
    switch (failure) {
    case SearchFailure::no_descent:
        message_.set("no direction of descent is left: the slope along the last one is %g, at f = %.16g with ||P g|| = "
                     "%g; g may not be the gradient of f, or its products overflow or vanish",
                     slope_base_, results_.f, results_.pg_norm2);
        break;
    case SearchFailure::nothing_lower:
        message_.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g was "
                     "below f = %.16g; f may be at its rounding level, or g may not be its gradient",
                     info, evaluations, slope_base_, results_.f);
        break;
    case SearchFailure::lower_not_accepted:
        message_.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g from "
                     "f = %.16g met both of its conditions, though f = %.16g was seen; that point was not taken",
                     info, evaluations, slope_base_, results_.f, line_.lowest_phi());
        break;
    case SearchFailure::lower_not_found_again:
        message_.set("the line search went back to the lowest of its points, where f was %.16g, and did not find it "
                     "below f = %.16g again; f is not the same at each evaluation",
                     line_.lowest_phi(), f_base_);
        break;
    }
}

} // namespace cudaopt
