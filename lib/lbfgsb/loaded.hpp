// Validation of a state that was read from a checkpoint. The checksum detects accidental damage only. These checks
// reject invalid states with a correct checksum: every value that is used as an index or a size is checked.
#pragma once

#include "cuda_opt.h"
#include "lbfgsb/state_machine.hpp"

namespace cudaopt {

inline bool are_consistent(const Settings &settings, int bits) {
    const auto are_bits = [&](int64_t value, int64_t least) {
        return (value == 16 || value == 32 || value == 64) && value >= least;
    };
    return dense::are_bools(settings.approximate_cauchy, settings.report_iterates, settings.robust, settings.timed,
                            settings.noise_auto) &&
           are_bits(settings.history_bits, 16) && settings.history_bits <= bits &&
           are_bits(settings.product_bits, 32) &&
           dense::is_within(Metric::one_number, settings.metric, Metric::learned) && settings.diagonal_every >= 0 &&
           dense::is_within<int64_t>(0, settings.log_type, 4) && dense::is_within<int64_t>(0, settings.f_part, 2) &&
           settings.evaluations_per_search >= 1 && settings.max_iterations >= 0 && settings.max_evaluations >= 0 &&
           settings.max_cuts >= 0;
}

inline bool is_consistent(const PanelRequest &panel, int m) {
    return dense::are_bools(panel.fresh, panel.free_gram, panel.weighted, panel.single, panel.watches,
                            panel.older_steps, panel.free_changes) &&
           dense::is_within(0, panel.pairs, m) && dense::is_within(0, panel.newest_slot, m);
}

// Returns the task of the caller in this state, 0 if the solve has ended, or CUDA_OPT_MISUSE if there is none.
inline int task_at(const StateMachine &machine) {
    if (machine.samples_noise_at_point()) return CUDA_OPT_EVALUATE_FG;
    switch (machine.state()) {
    case State::first_point:
    case State::trial_point: return CUDA_OPT_EVALUATE_FG;
    case State::iterate: return CUDA_OPT_NEW_ITERATE;
    case State::diagonal: return CUDA_OPT_SUPPLY_DIAGONAL;
    case State::ended: return 0;
    default: return CUDA_OPT_MISUSE;
    }
}

inline bool is_consistent(const Iteration &it) {
    return it.line.is_consistent() && dense::is_within(Event::nothing, it.event, Event::called_after_end) &&
           dense::is_within(Event::nothing, it.end_why, Event::called_after_end) &&
           dense::is_within(Test::none, it.end_test, Test::noise) &&
           dense::is_within(Event::no_descent, it.failure, Event::lower_not_found_again) &&
           dense::is_within(0, it.steps_since_gradient, Iteration::steps_before_verdict) &&
           dense::is_within(0, it.slow_restarts, Iteration::most_slow_restarts) &&
           dense::are_bools(it.bounded, it.boxed, it.single_x, it.single_f, it.truncated, it.fresh_start, it.from_sizes,
                            it.search_started, it.step_max_pending, it.exhausted, it.returning, it.at_iterate, it.first,
                            it.best_saved, it.ran_away, it.slopes_removed, it.best_norms_unknown, it.pg_norm_unknown,
                            it.x_norm_unknown);
}

inline bool StateMachine::is_consistent(int64_t n_, int m, int bits) {
    const auto is_panel = [m](const PanelRequest &panel) { return cudaopt::is_consistent(panel, m); };
    const int task = task_at(*this);
    if (n != n_ || task == CUDA_OPT_MISUSE || (task > 0 ? task_ != task : task_ > 0 || task_ != end_code)) return false;
    if (!cudaopt::is_consistent(static_cast<const Iteration &>(*this)) || !matrix_.is_consistent(m) ||
        !middle_.is_consistent(m) || !system_.is_consistent(m) || !hessian_.is_consistent(m) ||
        !operator_.is_consistent(m) || !free_gram_.is_consistent(m) || !is_update_consistent(update_requested_, m) ||
        !are_consistent(settings, bits))
        return false;
    if (!dense::are_bools(broken_, products_valid_, pair_unfinished_, direction_request_.truncate,
                          request_.norm.fresh) ||
        !dense::is_within(Descent::unknown, descent_, Descent::judged) ||
        !dense::is_within(Preparation::none, request_.preparation, Preparation::remove_infinite_slopes) ||
        preparation_ != Preparation::none || !noise_samples_.is_consistent() || broken_ ||
        (pair_unfinished_ && matrix_.pairs() == 0) || !dense::is_within(0, pairs_measured, m + 1))
        return false;
    dense::PlaceArrays place{reinterpret_cast<double *>(this + 1)};
    each_array(m, place);
    if (!is_panel(panel_) || !is_panel(requested_) || !is_panel(direction_request_.panel) ||
        !is_panel(operator_.request().panel) || !dense::is_within(0, direction_request_.spare_slot, m))
        return false;
    // The backend allocates vectors for a learned diagonal and for the best iterate only if the settings require them.
    if ((learned_diagonal().exists() && settings.metric != Metric::learned) || (best_saved && !settings.robust))
        return false;
    return true;
}

} // namespace cudaopt
