// The initial Hessian approximation B_0 of the model: theta I, or theta times the inverse of a diagonal h, which the
// caller supplies or which is learned (learned_diagonal.hpp). With the caller's diagonal theta may be fixed at 1. The
// caller's operator is not part of this class (operator_model.hpp). The kind of B_0 determines which inner products are
// requested. The state machine for one large problem and the loop for a batch of small problems both use this class.
#pragma once

#include "lbfgsb/requests.hpp"
#include "lbfgsb/settings.hpp"

namespace cudaopt {

CUDA_OPT_HD_INLINE bool uses_callers_diagonal(const Settings &settings) { return settings.metric == Metric::callers; }

class InitialHessian : public LearnedDiagonal {
  public:
    // Begins a solve. If a warm start uses pairs from another kind of B_0, the learned diagonal is discarded.
    CUDA_OPT_HD void begin(const Settings &settings) {
        if (kind_ != settings.metric) clear();
        kind_ = settings.metric;
    }
    CUDA_OPT_HD void reset(bool clears) {
        if (clears) clear();
        supplied_at_ = -1;
    }

    // exists() returns whether there is a diagonal h. weighted() returns whether the model uses h.
    CUDA_OPT_HD bool exists(const Settings &settings) const {
        return uses_callers_diagonal(settings) || LearnedDiagonal::exists();
    }
    CUDA_OPT_HD bool weighted(const Settings &settings) const { return uses_callers_diagonal(settings) || serves(); }
    // Identifies the diagonal that weights the inner products of the model. Each new diagonal has a new number.
    CUDA_OPT_HD int64_t weights(const Settings &settings) const {
        return uses_callers_diagonal(settings) ? other_weights - supplied_ : LearnedDiagonal::weights();
    }

    // is_due() returns whether the caller has to supply a diagonal at this iterate. stays_valid() returns whether the
    // caller's last diagonal remains valid at the next iterate.
    CUDA_OPT_HD bool is_due(const Settings &settings, int64_t iterate) const {
        const int64_t every = settings.diagonal_every;
        return uses_callers_diagonal(settings) && (supplied_at_ < 0 || (every > 0 && iterate - supplied_at_ >= every));
    }
    CUDA_OPT_HD bool stays_valid(const Settings &settings, int64_t iterate) const {
        return uses_callers_diagonal(settings) && !is_due(settings, iterate + 1);
    }
    CUDA_OPT_HD void accept_supplied(int64_t iterate) {
        supplied_++;
        supplied_at_ = iterate;
    }
    // Returns the factor theta of B_0, or 0 if theta is to be computed from the newest pair. A diagonal supplied at
    // every iterate is H_0 itself, without a factor. A diagonal that is valid for several iterates is scaled by the
    // newest pair, because the curvature along the steps changes from iterate to iterate.
    CUDA_OPT_HD double theta(const Settings &settings, int pairs) const {
        return uses_callers_diagonal(settings) && (settings.diagonal_every == 1 || pairs == 0) ? 1 : 0;
    }

    CUDA_OPT_HD bool has_learned() const { return LearnedDiagonal::exists(); }
    // Returns whether the learned diagonal has changed since the last model, or will with the next products.
    CUDA_OPT_HD bool has_changed() const { return LearnedDiagonal::exists() || update_is_due(); }
    // Returns the request for the inner products of the model: those of the columns that `panel` describes, and those
    // that B_0 requires in addition. matrix_weights identifies the diagonal that weights the stored products.
    CUDA_OPT_HD PanelRequest model_panel(const Settings &settings, PanelRequest panel, int64_t matrix_weights,
                                         bool bounded) const {
        panel.weighted = weighted(settings);
        panel.watches = LearnedDiagonal::exists();
        panel.older_steps = matrix_weights != weights(settings);
        // Without bounds, products over the free variables only set Y'Y after a change of weights (load_free_yy()).
        panel.free_gram = bounded || panel.older_steps;
        return panel;
    }
    // Updates the statistics of the learned diagonal h for a new pair, which is stored in the given slot and is the
    // newest in `sums`. in_metric: whether newest_y_sum and newest_d_sum, which involve h, are set.
    CUDA_OPT_HD void observe(const Settings &settings, const PanelProducts &sums, bool in_metric, int slot,
                             int capacity, int64_t n) {
        if (settings.metric != Metric::learned) return;
        const double yd = sums.over_all(panel::y_new, panel::s_new);
        const double yy = sums.over_all(panel::y_new, panel::y_new), dd = sums.over_all(panel::s_new, panel::s_new),
                     other_yy = in_metric ? sums.variable_sums[newest_y_sum] : yy,
                     other_dd = in_metric ? sums.variable_sums[newest_d_sum] : dd;
        if (serves()) LearnedDiagonal::observe(slot, capacity, n, yd, other_yy, other_dd, yy, dd);
        else LearnedDiagonal::observe(slot, capacity, n, yd, yy, dd, other_yy, other_dd);
    }

  private:
    int64_t kind_ = Metric::one_number; // the kind of B_0 in the solve that formed the stored pairs
    // supplied_ counts the diagonals that the caller has supplied. supplied_at_ is the iterate at which the last one
    // was supplied, or -1 if there was none in this solve.
    int64_t supplied_ = 0, supplied_at_ = -1;
};

// This class replaces InitialHessian in batch kernels in which B_0 = theta I is fixed at compile time. It has those
// functions of InitialHessian that the loop for a batch calls, and stores nothing.
struct ScalarInitialHessian {
    CUDA_OPT_HD static constexpr void begin(const Settings &) {}
    CUDA_OPT_HD static constexpr void forget() {}
    CUDA_OPT_HD static constexpr void clear() {}
    CUDA_OPT_HD static constexpr void begin_from_sizes() {}
    CUDA_OPT_HD static constexpr bool begins_from_sizes() { return false; }
    CUDA_OPT_HD static constexpr bool exists(const Settings &) { return false; }
    CUDA_OPT_HD static constexpr int64_t weights(const Settings &) { return no_weights; }
    CUDA_OPT_HD static constexpr bool is_due(const Settings &, int64_t) { return false; }
    CUDA_OPT_HD static constexpr bool stays_valid(const Settings &, int64_t) { return false; }
    CUDA_OPT_HD static constexpr void accept_supplied(int64_t) {}
    CUDA_OPT_HD static constexpr double theta(const Settings &, int) { return 0; }
    CUDA_OPT_HD static constexpr bool has_learned() { return false; }
    CUDA_OPT_HD static constexpr bool has_changed() { return false; }
    CUDA_OPT_HD static DiagonalUpdate take_update() { return {}; }
    CUDA_OPT_HD static PanelRequest model_panel(const Settings &, PanelRequest panel, int64_t, bool bounded) {
        panel.free_gram = bounded;
        return panel;
    }
    CUDA_OPT_HD static constexpr void observe(const Settings &, const PanelProducts &, bool, int, int, int64_t) {}
};

} // namespace cudaopt
