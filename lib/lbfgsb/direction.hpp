// The state machine's turns from an iterate to the direction: the generalized Cauchy point, the subspace minimisation,
// and what becomes of a breakdown.
#pragma once

#include "cuda_opt.h"
#include "lbfgsb/state.hpp"

namespace cudaopt {

// Whether the caller is asked for a diagonal at this iterate, or the last one still holds there.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::diagonal_is_due(int64_t iterate) const {
    if (!callers_metric()) return false;
    const int64_t every = settings().diagonal_every;
    return diagonal_supplied_at_ < 0 || (every > 0 && iterate - diagonal_supplied_at_ >= every);
}

// One that is supplied at every iterate is H_0 itself. One that holds is scaled by the newest pair, as theta I is: the
// curvature along the last steps changes from iterate to iterate. 0: that of the pair.
template <class Kind> CUDA_OPT_HD_INLINE double StateOf<Kind>::callers_theta() const {
    return settings().diagonal_every == 1 || memory_.pairs() == 0 ? 1 : 0;
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::take_diagonal() {
    diagonals_supplied_++;
    diagonal_supplied_at_ = results.iterations;
    products_hold_ = false; // they are not of this one
    return Turn::begin_direction;
}

// The products tell that the diagonal has a bad element, and the answer which one.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::judge_diagonal(int64_t first_bad) {
    told_early_.integers[0] = first_bad;
    return end(CUDA_OPT_BAD_DIAGONAL, EventKind::diagonal_is_bad);
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::begin_direction() {
    const FirstStep first = fresh_start_ ? first_step() : FirstStep{1, 1};
    if (fresh_start_) memory_.set_scale(first.theta);
    else if (memory_.pairs() == 0 && !settings().robust) memory_.set_scale(1);
    direction_.step = least(first.step, settings().step_max);
    direction_.truncate = false;
    return products_hold_ ? Turn::begin_cauchy : ask_model();
}

// VA15 and L-BFGS-B alike: the first trial point lies at x - t P g, t = 1 / ||P g||, with bounds t = 1 at most, and 1
// where every variable has two. Without bounds it is the step 1 along -g / theta, theta = ||g||: then d is not lost
// beside x, however f is scaled. Where the point would coincide with x for want of digits, or lie so far away that f
// there could not be interpolated, theta is such that it does not; likewise where f, by its slope, would not change by
// more than its rounding errors, up to a distance of 1. A x so small that no pair could be learned from a step of 2^26
// ||x|| tells no distance, as 0 does not. Where the metric is learned, the point is no further away than the minimum,
// were that 0, of a parabola with this f and slope; but a f that is small by chance makes the way a thousand times
// shorter at most.
template <class Kind> CUDA_OPT_HD_CALL inline FirstStep StateOf<Kind>::first_step() const {
    constexpr double far = 67108864.0;                                 // 2^26
    const double few_digits = single_ ? 1 / 262144.0 : 1 / 67108864.0; // 2^-18, 2^-26
    constexpr double shortest = 1e-3;
    const double norm = results.pg_norm2, x = results.x_norm2, f = std::fabs(results.f);
    const FirstStep classical{1, boxed_ ? 1 : bounded() ? least(1 / norm, 1.0) : 1 / norm};
    if (callers_metric()) return classical;
    double length = !bounded() ? 1 : boxed_ ? norm : least(norm, 1.0);
    if (learns() && f != 0) length *= least(greatest(2 * f / norm / length, shortest), 1.0);
    const bool x_tells = !boxed_ && far * x * (far * x) >= smallest_normal;
    const double in_f = least(rounding_level * f / norm, 1.0), in_x = few_digits * x;
    const double wanted = greatest(greatest(in_f, in_x), x_tells ? least(length, far * x) : length);
    const double theta = norm / wanted;
    const bool changed = learns() || (settings().robust && wanted != length);
    return (changed || !bounded()) && is_normal(theta) && is_normal(1 / theta) ? FirstStep{theta, 1} : classical;
}

// Of the products that the model is made from, at the iterate.
template <class Kind> CUDA_OPT_HD_INLINE PanelRequest StateOf<Kind>::model_panel() const {
    PanelRequest panel = panel_;
    panel.weighted = weighted();
    panel.watches = metric_.exists();
    panel.older_steps = memory_.weights() != weights();
    panel.free_gram = bounded() || panel.in_metric();
    return panel;
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::ask_model() {
    return ask_products(Stage::model_products, model_panel());
}

// The products of panel_, and on the way the update of the metric, if one is due.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::ask_and_learn(Stage next) {
    const MetricUpdate update = metric_.take_update();
    if (metric_.exists() || diagonal_will_hold()) panel_ = model_panel();
    ask_products(next, panel_);
    metric_.ask(update);
    return Turn::asks;
}

// The sums are those with the newest pair as the fresh one.
template <class Kind> CUDA_OPT_HD_INLINE void StateOf<Kind>::observe_pair(const PanelProducts &sums) {
    if (!learns()) return;
    const double yy = sums.over_all(panel::y_new, panel::y_new), dd = sums.over_all(panel::s_new, panel::s_new),
                 other_yy = panel_.in_metric() ? sums.row_sums[newest_y_sum] : yy,
                 other_dd = panel_.in_metric() ? sums.row_sums[newest_d_sum] : dd;
    const int slot = memory_.newest_slot(), capacity = memory_.capacity();
    if (metric_.serves()) metric_.observe(slot, capacity, n_, other_yy, other_dd, yy, dd);
    else metric_.observe(slot, capacity, n_, yy, dd, other_yy, other_dd);
}

template <class Kind>
template <class Rows>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::begin_cauchy(const PanelProducts &sums, [[maybe_unused]] const Rows &rows) {
    if constexpr (serves_metrics)
        if (in_metric()) {
            if (sums.row_sums[bad_weights] > 0)
                return callers_metric() ? ask(Stage::diagonal_checked, Verb::check_diagonal) : break_down();
            if (sums.older_steps) memory_.weigh(sums, callers_metric() ? callers_theta() : 0, weights());
            memory_.take_free(sums);
        }
    PanelRequest along_path = model_panel();
    along_path.older_steps = false;
    const auto begin = [&](auto &cauchy, auto &middle) { // M is the Cauchy point's alone
        if constexpr (Kind::bounds)
            if (bounded() && !memory_.factor(middle)) return CauchyTurn::breakdown;
        return cauchy.begin(memory_, middle, along_path, sums, bounded(), settings().approximate_cauchy);
    };
    if constexpr (asks_for_rows) {
        return follow_cauchy(begin(cauchy_, memory_.middle()));
    } else { // at once
        const auto search = [&](auto &cauchy) {
            typename LimitedMemory::Middle middle;
            CauchyTurn turn = begin(cauchy, middle);
            if constexpr (Kind::bounds)
                while (turn == CauchyTurn::asks) turn = cauchy.resume(memory_, middle, sums, cauchy.answer(rows));
            return turn == CauchyTurn::breakdown ? break_down() : minimise_subspace(cauchy, sums, rows.coefficients());
        };
        if constexpr (Kind::keeps_search) {
            return search(cauchy_);
        } else {
            CauchySearchOf<Kind> cauchy;
            return search(cauchy);
        }
    }
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::follow_cauchy(CauchyTurn search) {
    if (search == CauchyTurn::breakdown) return break_down();
    if (search == CauchyTurn::found) return Turn::minimise_subspace;
    ask(Stage::cauchy, Verb::task);
    cauchy_.ask(request_);
    return Turn::asks;
}

template <class Kind>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::minimise_subspace(const CauchySearchOf<Kind> &cauchy,
                                                         [[maybe_unused]] const PanelProducts &sums, double *q) {
    const CauchyPoint &point = cauchy.point();
    const bool all_free = !bounded() || point.free_variables == static_cast<double>(n_);
    const double *free_gram = nullptr;
    if constexpr (Kind::bounds) free_gram = cauchy.free_gram(sums);
    if ((all_free || point.free_variables > 0) && !subspace_.minimise(memory_, cauchy, free_gram, all_free, q))
        return break_down();

    if (!remakes_for_truncation()) { // else they have been counted
        results.cauchy_segments += bounded() ? point.segments : 0;
        results.cauchy_crossings += point.crossed;
        results.breakpoints_crossed += point.breakpoints_crossed;
    }
    cauchy_free_ = bounded() ? static_cast<int64_t>(point.free_variables) : n_;
    cauchy_breakpoints_ = point.breakpoints_crossed;
    results.cauchy_t = point.t;
    results.cauchy_t_first = point.t_first;
    direction_.panel = model_panel();
    direction_.panel.threshold = point.threshold;
    direction_.gradient_coefficient = -1 / memory_.theta();
    direction_.spare_slot = memory_.spare_slot();
    direction_.cauchy_t = point.t;
    direction_.alpha = 1;
    unit_ = fresh_start_ ? 1 / memory_.theta() : 1;
    f_base_ = results.f;
    return remakes_for_truncation() ? ask_truncation() : Turn::take_direction;
}

// A breakdown drops the memory and goes on from the same point. Twice at most: without pairs nothing is left to break
// down.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::break_down() {
    refresh();
    return ask_model();
}

// Drop the memory. What it learned of the scale of f and x stays, unless version 3.0 is followed.
template <class Kind> CUDA_OPT_HD_CALL inline void StateOf<Kind>::refresh() {
    memory_.drop_pairs(settings().robust);
    metric_.forget();
    pair_unfinished_ = products_hold_ = remakes_for_truncation_ = false;
    results.refreshes++;
    use_stored_pairs();
}

// The next direction starts from the products of the pairs as they are stored.
template <class Kind> CUDA_OPT_HD_CALL inline void StateOf<Kind>::use_stored_pairs() {
    panel_ = memory_.stored_panel();
    panel_.free_gram = bounded();
}

// Sweep 2, then the trial point's f and g. On a GPU it is known when they are there whether d is a direction of
// descent: its sums come with the next sweep's, and save a wait of their own.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::take_direction() {
    products_hold_ = pair_unfinished_ = direction_sums_known_ = at_iterate_ = false;
    search_evaluations_ = cuts_in_a_row_ = 0;
    search_started_ = direction_judged_ = returning_ = exhausted_ = false;
    return ask(Stage::direction_taken, Verb::direction);
}

} // namespace cudaopt
