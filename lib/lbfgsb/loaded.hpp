// Validation of a state that was read from a checkpoint. The checksum detects accidental damage only. These checks
// reject invalid states with a correct checksum: every value that is used as an index or a size is checked.
#pragma once

#include "cuda_opt.h"
#include "lbfgsb/state.hpp"

namespace cudaopt {

inline bool are_consistent(const Settings &settings, int bits) {
    const auto are_bits = [&](int64_t value, int64_t least) {
        return (value == 16 || value == 32 || value == 64) && value >= least;
    };
    return dense::are_bools(settings.approximate_cauchy, settings.report_iterates, settings.robust, settings.timed) &&
           are_bits(settings.history_bits, 16) && settings.history_bits <= bits &&
           are_bits(settings.product_bits, 32) &&
           dense::is_within(Metric::one_number, settings.metric, Metric::learned) && settings.diagonal_every >= 0 &&
           dense::is_within<int64_t>(0, settings.log_type, 3) && dense::is_within<int64_t>(0, settings.f_part, 2) &&
           settings.evaluations_per_search >= 1 && settings.max_iterations >= 0 && settings.max_evaluations >= 0 &&
           settings.max_cuts >= 0;
}

inline bool is_consistent(const PanelRequest &panel, int m) {
    return dense::are_bools(panel.fresh, panel.free_gram, panel.weighted, panel.single, panel.watches,
                            panel.older_steps) &&
           dense::is_within(0, panel.pairs, m) && dense::is_within(0, panel.newest_slot, m);
}

inline bool is_consistent(const Event &event) {
    return dense::is_within(EventKind::nothing, event.kind, EventKind::called_after_end);
}

// The task that was returned to the caller in this state; 0 if the solve has ended, with any code. CUDA_OPT_MISUSE: the
// caller never gets control in this state.
template <class Stage> int task_at(Stage stage) {
    switch (stage) {
    case Stage::first_point:
    case Stage::trial_point: return CUDA_OPT_EVALUATE_FG;
    case Stage::iterate: return CUDA_OPT_NEW_ITERATE;
    case Stage::diagonal: return CUDA_OPT_SUPPLY_DIAGONAL;
    case Stage::ended: return 0;
    default: return CUDA_OPT_MISUSE;
    }
}

template <class Kind> bool StateOf<Kind>::is_consistent(int64_t n, int m, int bits) {
    const auto is_panel = [m](const PanelRequest &panel) { return cudaopt::is_consistent(panel, m); };
    const int task = task_at(stage_);
    if (n_ != n || task == CUDA_OPT_MISUSE || (task > 0 ? task_ != task : task_ > 0 || task_ != end_code_))
        return false;
    if (!memory_.is_consistent(m) || !metric_.is_consistent(m) || !line_.is_consistent()) return false;
    if (!are_consistent(settings_, bits) || !cudaopt::is_consistent(event) || !cudaopt::is_consistent(told_early_) ||
        !dense::is_within(EventKind::nothing, end_why_, EventKind::called_after_end) ||
        !dense::is_within(SearchFailure::no_descent, failure_, SearchFailure::lower_not_found_again))
        return false;
    if (!dense::are_bools(broken_, bounded_, boxed_, single_, products_hold_, remakes_for_truncation_,
                          direction_sums_known_, at_iterate_, pair_unfinished_, best_is_aside_, fresh_start_,
                          direction_judged_, search_started_, longest_step_open_, exhausted_, returning_, first_,
                          f_is_single_, relatively_flat_, ran_away_, direction_.truncate) ||
        broken_ || (pair_unfinished_ && memory_.pairs() == 0))
        return false;
    if (!is_panel(panel_) || !is_panel(asked_) || !is_panel(direction_.panel) ||
        !dense::is_within(0, direction_.spare_slot, m) ||
        !dense::is_within(0, steps_since_gradient_, steps_before_verdict))
        return false;
    // The backend allocates the vectors of these only if the settings require them.
    if ((metric_.exists() && settings_.metric != Metric::learned) || (best_is_aside_ && !settings_.robust))
        return false;
    dense::CheckPlaces places{reinterpret_cast<const double *>(this + 1)};
    each_array(m, places);
    return places.right;
}

} // namespace cudaopt
