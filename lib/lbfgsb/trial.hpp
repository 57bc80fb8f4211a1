// The state machine's turns at a trial point: f and g have come, and the line search decides what becomes of it.
#pragma once

#include "cuda_opt.h"
#include "lbfgsb/state.hpp"

namespace cudaopt {

constexpr double steepest_ascent_accepted = 0.8; // 1 - 2 delta of Hager and Zhang (2005), delta = 0.1
constexpr int most_refreshes_in_vain = 4;
constexpr double least_cosine = 1e-3; // of a projected direction and the projected gradient

// The manual's info code for a verdict of the line search.
CUDA_OPT_HD inline int info_code(SearchVerdict verdict) {
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

CUDA_OPT_HD inline double slope_at_trial(const PanelProducts &sums) {
    return sums.over_all(panel::gradient, panel::s_column(0));
}

CUDA_OPT_HD inline bool are_finite(const PanelProducts &sums) {
    return is_finite(sums.f) && sums.row_sums[not_finite] == 0 && is_finite(slope_at_trial(sums));
}

// As if the step were accepted, which it nearly always is.
template <class Kind> CUDA_OPT_HD_INLINE PanelRequest StateOf<Kind>::products_at_trial() const {
    PanelRequest panel = memory_.tentative_panel();
    panel.free_gram = bounded();
    // Where the caller is to supply another diagonal at this point, products of the other pairs would be in vain.
    if (callers_metric() && !diagonal_will_hold()) panel.pairs = 1;
    return panel;
}

template <class Kind>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::judge_trial(const PanelProducts &sums, const DirectionSums *direction) {
    // A diagonal that still holds, and is no longer what was supplied.
    if (callers_metric() && panel_.weighted && sums.row_sums[bad_weights] > 0)
        return ask(Stage::diagonal_checked, Verb::check_diagonal);
    results.slope = slope_at_trial(sums) / unit_;
    if (!direction_judged_ && !descends(direction_sums_known_ ? direction_sums_ : *direction))
        return replace_direction();
    if (!search_started_) start_line_search();
    return Turn::search;
}

// The sums of sweep 2 have come: whether d is a direction of descent. Projected to the box, the subspace minimiser may
// be one by next to nothing, and one iterate after the other: their steps are ever shorter, and they come to rest where
// there is no minimum. Where the path of version 3.0 is not followed, such a direction counts as none.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::descends(const DirectionSums &sums) {
    direction_judged_ = true;
    direction_sums_ = sums;
    slope_base_ = sums.slope;
    note_direction();
    const bool projected_step = memory_.pairs() > 0 && sums.projected > 0 && !direction_.truncate;
    if (!learns() || !projected_step) return sums.slope < 0;
    return sums.slope < -least_cosine * std::sqrt(sums.d_squared) * results.pg_norm2;
}

template <class Kind> CUDA_OPT_HD_INLINE void StateOf<Kind>::note_direction() {
    results.direction_norm2 = std::sqrt(direction_sums_.d_squared) / unit_;
    results.slope_start = direction_sums_.slope / unit_;
    // Without pairs the model is separable: the variables that the projection stopped are those with a breakpoint
    // passed.
    const auto projected = static_cast<int64_t>(direction_sums_.projected);
    const int64_t stopped = memory_.pairs() == 0 ? least(projected, cauchy_free_) : 0;
    results.cauchy_free = cauchy_free_ - stopped;
    results.cauchy_breakpoints = cauchy_breakpoints_ + stopped;
    results.subspace_projected = projected - stopped;
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::replace_direction() {
    if (bounded() && direction_sums_.projected > 0 && !direction_.truncate) return truncate_direction();
    return fail_search(SearchFailure::no_descent);
}

// Of condition (T 1.2) only the half that makes s'y positive: a step beyond the minimiser along d is good enough where
// f has fallen, and no lower point of this search is known. Not where the path of version 3.0 is followed.
template <class Kind>
CUDA_OPT_HD_INLINE bool StateOf<Kind>::satisfies_weak_wolfe(double step, double f, double slope) const {
    return learns() && f <= f_base_ + settings().ftol * step * slope_base_ && f <= line_.lowest_phi() &&
           slope >= settings().gtol * slope_base_;
}

// Where f differs by no more than its rounding errors, slopes still tell (Hager and Zhang, SIAM J. Optim. 16 (2005)
// 170, section 2: the approximate Wolfe conditions). The lowest f is the measure, so that f cannot creep up.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::satisfies_approximate_wolfe(double f, double slope) const {
    return settings().robust && f <= f_best_ + rounding_level * std::fabs(f_best_) &&
           slope >= settings().gtol * slope_base_ && slope <= steepest_ascent_accepted * -slope_base_;
}

// In the box the longest step is that which d allows; from a fresh start 1. It costs a sweep, and most searches end
// with the first step, or go back from there: until it matters, it is taken to be the first.
template <class Kind> CUDA_OPT_HD_INLINE void StateOf<Kind>::start_line_search() {
    SearchTolerances tolerances{settings().ftol, settings().gtol, settings().xtol, settings().step_min,
                                settings().step_max};
    longest_step_open_ = bounded() && !fresh_start_;
    if (bounded())
        tolerances.step_max =
            longest_step_open_ ? direction_.step : greatest(least(tolerances.step_max, 1.0), direction_.step);
    // The first step along -g depends on the scale of f; stpmin is meant for the search, and counts from there.
    if (fresh_start_) tolerances.step_min *= least(direction_.step, 1.0);
    tolerances.step_min = least(tolerances.step_min, direction_.step);
    line_.start(f_base_, slope_base_, direction_.step, tolerances);
    search_started_ = true;
}

template <class Kind> CUDA_OPT_HD_INLINE void StateOf<Kind>::know_longest_step(double longest) {
    line_.lengthen(greatest(least(settings().step_max, longest), direction_.step));
    longest_step_open_ = false;
}

// A small problem has it sooner than it knows that it does not matter.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::longest_step_matters(double f, double slope) const {
    return bounded() && longest_step_open_ && !returning_ && !line_.meets_both(f, slope) &&
           !satisfies_weak_wolfe(line_.step(), f, slope) && !satisfies_approximate_wolfe(f, slope) &&
           (!asks_for_rows || line_.goes_on_otherwise(greatest(settings().step_max, direction_.step), f, slope));
}

template <class Kind>
template <class Rows>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::advance_line_search(const PanelProducts &sums,
                                                           [[maybe_unused]] const Rows &rows) {
    const double f = sums.f, slope = slope_at_trial(sums);
    if (!are_finite(sums)) return backtrack();
    if (longest_step_matters(f, slope)) {
        if constexpr (asks_for_rows) {
            ask(Stage::longest_step, Verb::largest_step);
            request_.slot = direction_.spare_slot;
            return Turn::asks;
        } else if constexpr (Kind::bounds) {
            know_longest_step(rows.largest_step());
        }
    }
    cuts_in_a_row_ = 0;
    f_is_single_ = f_is_single_ && is_single(f);
    if (returning_) return f < f_base_ ? accept(sums) : fail_search(SearchFailure::lower_not_found_again);
    search_evaluations_++;

    step_ = line_.step();
    const bool repeats = settings().robust && settings().factr > 0 && repeats_a_point(f, slope);
    SearchVerdict verdict = line_.update(f, slope);
    if (repeats && verdict == SearchVerdict::evaluate) verdict = SearchVerdict::rounding_errors;
    results.line_search_info = info_code(verdict);
    if (verdict == SearchVerdict::converged || satisfies_weak_wolfe(step_, f, slope) ||
        satisfies_approximate_wolfe(f, slope) || f <= settings().f_unbounded) {
        results.line_search_info = info_code(SearchVerdict::converged);
        ran_away_ = false;
        return Turn::accept;
    }
    if (verdict == SearchVerdict::evaluate && search_evaluations_ < settings().evaluations_per_search) {
        if (const int code = limit_reached(false)) return end_at_limit(code);
        return try_step(line_.step());
    }
    if (runs_away(slope)) return end(CUDA_OPT_UNBOUNDED, EventKind::falls_without_end);
    return exhaust_search(f, verdict != SearchVerdict::evaluate);
}

// Whether f and the slope are, bit for bit, those at an end of the interval of uncertainty, and the distance between
// the two points is tiny relative to x. Then x has not changed in floating-point arithmetic, and shorter steps would
// evaluate the same point again.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::repeats_a_point(double f, double slope) const {
    constexpr double tiny = 1e-8;
    const double d_norm = std::sqrt(direction_sums_.d_squared);
    return line_.repeats_an_end(f, slope, tiny * results.x_norm2 / d_norm);
}

// Whether f seems to have no lower bound. The evidence is two line searches that MAXFEV ended while f still decreased
// along an almost straight line. The step must have grown by many orders of magnitude, and the distance must be large
// both absolutely and relative to x, because a first step may be too short by any factor. A failed search between the
// two is ignored: far away, the first step may be lost in the rounding of x. A direction along which the box bounds the
// step is no evidence, because f is finite in the box.
template <class Kind> CUDA_OPT_HD_CALL inline bool StateOf<Kind>::runs_away(double slope) {
    constexpr double large_extension = 1e6, large_distance = 1e6, large_share = 0.1, straight = 0.99;
    if (!settings().robust || settings().f_unbounded == -infinity || !(line_.lowest_phi() < f_base_)) return false;
    const double distance = step_ * std::sqrt(direction_sums_.d_squared);
    const bool box_ends_ray = boxed_ || (bounded() && fresh_start_) || line_.step_max() < settings().step_max;
    const bool falls = !box_ends_ray && line_.lowest_step() == step_ && step_ >= large_extension * direction_.step &&
                       distance >= greatest(large_distance, large_share * results.x_norm2) &&
                       slope <= straight * slope_base_;
    const bool twice = ran_away_ && falls;
    ran_away_ = falls;
    return twice;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::try_step(double step) {
    ask(Stage::stepped, Verb::step);
    request_.slot = direction_.spare_slot;
    request_.number = step;
    return Turn::asks;
}

// f or g is not finite at the trial point.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::backtrack() {
    if (returning_) return fail_search(SearchFailure::lower_not_found_again);
    if (cuts_in_a_row_ >= settings().max_cuts) {
        if (reached_ != 0) return converge(reached_);
        return end(CUDA_OPT_NOT_FINITE, EventKind::not_finite_after_cuts);
    }
    if (const int code = limit_reached(false)) return end_at_limit(code);
    results.cuts++;
    cuts_in_a_row_++;
    line_.cut();
    if (search_evaluations_ == 0) longest_step_open_ = false; // it is shorter than the first was
    return try_step(line_.step());
}

// The search ends without a step that meets both conditions. A warning's step is taken if it lowered f (dcsrch ends
// with the best that it knows); else the lowest point seen, which version 3.0 does not go back to. That version takes a
// warning's step where f is the same, too, and factr, of whatever size, ends the solve there.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::exhaust_search(double f, bool warned) {
    exhausted_ = settings().robust && !warned;
    if (warned && f < f_base_ && (!settings().robust || f <= line_.lowest_phi())) return Turn::accept;
    if (warned && f == f_base_ && !settings().robust && settings().factr > 0) return Turn::accept;
    if (!(line_.lowest_phi() < f_base_)) return fail_search(SearchFailure::nothing_lower);
    if (!settings().robust) return fail_search(SearchFailure::lower_not_accepted);
    if (f <= line_.lowest_phi()) return Turn::accept;
    if (const int code = limit_reached(false)) return end_at_limit(code);
    returning_ = true;
    step_ = line_.lowest_step();
    return try_step(step_);
}

// Whether an iterate is better than the best one so far: its f is lower, or its f is equal and its projected gradient
// is not larger.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::is_best(double f, double pg_norm2) const {
    const double pg_best = best_is_aside_ ? best_.pg_norm2 : results.pg_norm2;
    return f < f_best_ || (f == f_best_ && (!settings().robust || pg_norm2 <= pg_best));
}

// Approximate conditions let f rise, within its rounding errors. The best iterate is then the base point; it is put
// aside until a better one comes.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::accept(const PanelProducts &sums) {
    const double f = sums.f;
    at_iterate_ = true;
    results.iterations++;
    results.step = step_ * unit_;
    steps_since_gradient_ = fresh_start_ ? 1 : least(steps_since_gradient_ + 1, steps_before_verdict);
    fresh_start_ = false;
    reached_ = 0;
    expected_fall_ = infinity;
    f_previous_ = f_base_;
    if (is_best(f, std::sqrt(sums.row_sums[projected_gradient_squared]))) {
        best_is_aside_ = false;
        postponed_ = 0;
        f_best_ = f;
    } else if (!best_is_aside_) {
        best_ = results; // its facts
        best_is_aside_ = true;
        ask(Stage::best_put_aside, Verb::put_aside);
        request_.slot = direction_.spare_slot;
        return Turn::asks;
    }
    return Turn::append_pair;
}

// What y is multiplied by: the second derivative of f along s at the end of the step, by the cubic through f and slopes
// at both ends, over the mean that s'y is. So the model learns the curvature of where it is, and not that of halfway
// (Biggs, J. Inst. Math. Appl. 8 (1971) 315). On a quadratic it is 1; beyond a factor of 2 a cubic is no model of f.
template <class Kind>
CUDA_OPT_HD_INLINE double StateOf<Kind>::curvature_at_end(double f, double slope, double mean) const {
    constexpr double largest_factor = 2, significant_fall = 1e-6; // of f, in single precision as well
    const double fall = f_base_ - f;
    if (!learns() || !(std::fabs(fall) > significant_fall * std::fabs(f))) return 1;
    const double factor = 1 + (6 * fall + 3 * step_ * (slope_base_ + slope)) / mean;
    return is_finite(factor) ? least(greatest(factor, 1 / largest_factor), largest_factor) : 1;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::append_pair(const PanelProducts &sums) {
    // s'y <= eps |s'g| is no curvature to learn from, whatever the scale of x and f.
    const double curvature = step_ * sums.over_all(panel::y_new, panel::s_new);
    if (curvature > machine_epsilon * -slope_base_ * step_ && LimitedMemory::usable(sums, step_)) {
        const double y_scale = curvature_at_end(sums.f, slope_at_trial(sums), curvature);
        memory_.append(sums, step_, panel_.weighted ? weights() : no_weights, y_scale, bounded());
        observe_pair(sums);
        panel_.pairs = memory_.pairs();
        pair_unfinished_ = true;
        products_hold_ = !callers_metric() || panel_.weighted;
    } else {
        results.skipped_updates++;
        // f was still falling when the evaluations ended: the next search goes on from this length, up to a distance of
        // 1, as at a start. Not further, for a function without a lower bound never ends to fall.
        const double theta = greatest(memory_.theta() / step_, results.pg_norm2);
        if (exhausted_ && memory_.pairs() == 0 && !callers_metric() && theta < memory_.theta())
            memory_.set_scale(theta);
        use_stored_pairs();
        products_hold_ = memory_.pairs() == 0 && !callers_metric();
    }
    return Turn::measure_iterate;
}

// The projected subspace minimiser is no descent direction, or hardly one: go from the Cauchy point towards the
// minimiser only as far as the box allows (Morales and Nocedal 2011, section 3).
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::truncate_direction() {
    if (const int code = limit_reached(false)) return end_at_limit(code);
    return restore(Stage::truncation_ready);
}

// Where the metric is learned, the sums at the trial point have changed it, or would have: on a GPU it is known only
// with them that the direction does not descend. So the model is made once more.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::prepare_truncation() {
    if (!metric_.exists() && !metric_.update_is_due()) return ask_truncation();
    remakes_for_truncation_ = true;
    use_stored_pairs();
    return ask_and_learn(Stage::model_products);
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::ask_truncation() {
    remakes_for_truncation_ = false;
    direction_.panel.fresh = false; // sweep 2 has already formed y_new
    direction_.truncate = true;
    return ask(Stage::truncated, Verb::truncation);
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::fail_search(SearchFailure failure) {
    failure_ = failure;
    return restore(Stage::search_failed);
}

// Drop the memory and search along -g, in turn with the memory's scale and as at a start; or end. At the rounding level
// of f, steps that leave f as it is may pass both tests, and the next search fails, and so for ever: where neither f
// nor ||P g|| has fallen by a tenth since the last refresh that such a failure led to, four are tried at most.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::after_failure() {
    if (reached_ != 0) return converge(reached_);
    if (memory_.pairs() > 0 && failure_ != SearchFailure::no_descent)
        expected_fall_ = -slope_base_ * direction_.step / 2;
    else if (memory_.pairs() > 0 && direction_sums_.d_squared == 0 && !callers_metric()) // x + d is x in its precision
        expected_fall_ = results.pg_norm2 * (results.pg_norm2 / memory_.theta()) / 2;
    const bool tests_rounding = settings().robust && settings().rounding > 0;
    const bool expects_nothing = tests_rounding && expected_fall_ <= negligible_fall();
    if (expects_nothing && settings().factr > 0) {
        if (stage_ != Stage::failure_verified) return ask(Stage::failure_verified, Verb::relative_gradient_norm);
        if (relatively_flat_) return converge(CUDA_OPT_ROUNDING);
    }
    const double share = settings().robust ? progress_share : 0;
    const bool progress = f_base_ < f_refreshed_ - share * std::fabs(f_refreshed_) ||
                          results.pg_norm2 < (1 - share) * pg_refreshed_ || f_refreshed_ == infinity;
    if (progress) {
        refreshes_in_vain_ = 0;
        f_refreshed_ = settings().robust ? least(f_base_, f_refreshed_) : f_base_;
        pg_refreshed_ = settings().robust ? least(results.pg_norm2, pg_refreshed_) : results.pg_norm2;
    }
    const bool keep_scale = memory_.pairs() > 0 && refreshes_in_vain_ % 2 == 0;
    if (fresh_start_ || refreshes_in_vain_ == most_refreshes_in_vain || !(keep_scale || settings().robust)) {
        if (tests_rounding && expected_fall_ <= rounding_errors()) return converge(CUDA_OPT_ROUNDING);
        switch (failure_) {
        case SearchFailure::no_descent: return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::no_descent);
        case SearchFailure::nothing_lower: return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::nothing_lower);
        case SearchFailure::lower_not_accepted: return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::lower_not_accepted);
        case SearchFailure::lower_not_found_again: break;
        }
        return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::lower_not_found_again);
    }
    if (const int code = limit_reached(true)) return end_at_limit(code);
    refreshes_in_vain_++;
    fresh_start_ = !keep_scale;
    refresh();
    return Turn::begin_direction;
}

} // namespace cudaopt
