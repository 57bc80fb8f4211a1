// One iteration of L-BFGS-B, step by step. These steps do not depend on where the variables are stored. The state
// machine of one large problem (state_machine.cpp) and the loop of many small ones (batch/next_trial.hpp) execute them
// in this order. Between them they perform the sweeps, which are the operations on all n variables.
//
//     sweep 1    The inner products of the panel's columns at the new point are formed, and y = g - g_base of the
//                newest pair.
//     judge      The line search accepts the trial point or proposes another step (trial.hpp).
//     append     The step becomes a correction pair: append_pair().
//     test       The stopping tests are evaluated at the new iterate (termination.hpp).
//     model      B = theta I - W M W', or with a diagonal D in place of I: weigh_products().
//     Cauchy     The first local minimiser of the model along P(x - t g) is found (cauchy_point.hpp).
//     subspace   The model is minimised over the variables that are free there: minimise_over_free().
//     sweep 2    d = P(minimiser) - x and the trial point x + step d are formed: direction_to().
//
// The free functions have the type of the matrix as their only template argument besides that of the initial Hessian,
// which is fixed at compile time for some batches.
#pragma once

#include "lbfgsb/initial_hessian.hpp"
#include "lbfgsb/iteration.hpp"
#include "lbfgsb/subspace.hpp"

namespace cudaopt {

// Returns the request for the products of the stored pairs. free_gram: whether the products over the free variables are
// needed.
template <class Matrix> CUDA_OPT_HD_INLINE PanelRequest stored_panel(const Matrix &matrix, bool free_gram) {
    PanelRequest panel = matrix.stored_panel();
    panel.free_gram = free_gram;
    return panel;
}

// Sweep 1 at a trial point. The request assumes that the trial point is accepted, which is nearly always the case. If
// the caller supplies another diagonal at this point, the products of the older pairs must be weighted with it. They
// are therefore not requested here.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE PanelRequest trial_panel(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                            const Hessian &hessian, bool free_gram) {
    PanelRequest panel = matrix.tentative_panel();
    panel.free_gram = free_gram;
    if (uses_callers_diagonal(settings) && !hessian.stays_valid(settings, it.results.iterations)) panel.pairs = 1;
    return panel;
}

// Requests an update of the learned diagonal h, if one is due, which sweep 1 performs first. If h exists then, or the
// caller's h remains valid, the panel becomes that of the model.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE DiagonalUpdate take_update(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                              Hessian &hessian, PanelRequest &panel, bool free_gram) {
    const DiagonalUpdate update = hessian.take_update();
    if (hessian.has_learned() || hessian.stays_valid(settings, it.results.iterations))
        panel = hessian.model_panel(settings, panel, matrix.weights(), free_gram);
    return update;
}

// Appends the accepted step as a correction pair, s = step d and y = g - g_base, if s'y > 0 is no rounding error.
// Otherwise the panel becomes that of the stored pairs. Returns whether the products at the new iterate are those that
// the next model needs. keeps_ss: whether S'S is needed (CompactMatrix::append()).
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE bool append_pair(const Settings &settings, Iteration &it, Matrix &matrix, Hessian &hessian,
                                    const PanelProducts &sums, PanelRequest &panel, bool keeps_ss) {
    const bool callers = uses_callers_diagonal(settings);
    const double sy = it.curvature(sums);
    if (sy > 0 && matrix.usable(sums, it.step)) {
        matrix.append(sums, it.step, panel.weighted ? hessian.weights(settings) : no_weights,
                      it.curvature_scale(settings, sums, sy), keeps_ss);
        hessian.observe(settings, sums, panel.in_metric(), matrix.newest_slot(), matrix.capacity(), it.n);
        panel.pairs = matrix.pairs();
        return !callers || panel.weighted;
    }
    it.results.skipped_updates++;
    if (matrix.pairs() == 0)
        if (const double theta = it.scale_without_pair(settings, matrix.theta()); theta != matrix.theta())
            matrix.set_scale(theta);
    panel = stored_panel(matrix, panel.free_gram);
    return matrix.pairs() == 0 && !callers;
}

// Discards the history. With ROBUST the scalar theta is kept, because it reflects the scales of f and x.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE void discard_pairs(const Settings &settings, Iteration &it, Matrix &matrix, Hessian &hessian) {
    matrix.drop_pairs(settings.robust);
    hessian.forget();
    it.results.refreshes++;
    it.truncated = false;
}

// Begins the next direction: sets the first step of its line search and, along -g, theta.
template <class Matrix>
CUDA_OPT_HD_INLINE void begin_direction(const Settings &settings, Iteration &it, Matrix &matrix) {
    if (const double theta = it.begin_direction(settings, matrix.pairs()); theta > 0) matrix.set_scale(theta);
}

// Adapts the stored products to the diagonal of the model. The method is applied in the variables x_i / sqrt(h_i), in
// which B_0 = theta I. Returns false if an element of the diagonal is not positive and finite.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE bool weigh_products(const Settings &settings, Matrix &matrix, const Hessian &hessian,
                                       const PanelProducts &sums, bool bounded) {
    if (!hessian.exists(settings)) return true;
    if (sums.variable_sums[bad_weights] > 0) return false;
    if (sums.older_steps)
        matrix.rescale_products(sums, hessian.theta(settings, matrix.pairs()), hessian.weights(settings));
    if (bounded || sums.older_steps) matrix.load_free_yy(sums);
    return true;
}

// Minimises the model over the variables that are free at the Cauchy point (Byrd et al. 1995, section 5.1). `path` is
// the finished Cauchy search. The other arguments are those of minimise_subspace(). Returns false on breakdown.
template <int M>
CUDA_OPT_HD_INLINE bool minimise_over_free(const Iteration &it, const CompactMatrix<M> &matrix,
                                           const CauchySearch<M> &path, const PanelProducts &sums,
                                           typename CompactMatrix<M>::Factors &system, double *v, double *q) {
    const CauchyPoint &point = path.point();
    const bool all_free = !it.bounded || point.free_variables == static_cast<double>(it.n);
    if (!all_free && point.free_variables <= 0) return true;
    return minimise_subspace(matrix, path.p(), point.crossed ? path.c() : nullptr, point.t,
                             all_free ? nullptr : path.free_gram(sums), system, v, q);
}

// Returns the request for sweep 2: the direction to the subspace minimiser, whose coefficients are stored elsewhere.
template <class Matrix>
CUDA_OPT_HD_INLINE DirectionRequest direction_to(const CauchyPoint &point, PanelRequest panel, const Iteration &it,
                                                 const Matrix &matrix) {
    panel.threshold = point.threshold;
    return {panel, -1 / matrix.theta(), nullptr, it.first_step, matrix.spare_slot(), false, point.t, 1};
}

// Returns the request for a norm. unfinished: whether the slot of the newest y still contains g_base.
template <class Matrix>
CUDA_OPT_HD_INLINE NormRequest norm_request(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                            Norm kind, bool unfinished) {
    if (kind == Norm::narrow_gradient) return {kind, settings.pgtol};
    if (kind != Norm::relative_change && kind != Norm::unexplained_gradient) return {kind};
    const int slot = matrix.slot(matrix.stiffest_pair());
    return {kind, it.change_weight, slot, unfinished && slot == matrix.newest_slot()};
}

// Stores a norm in the record of the solve.
template <class Matrix> CUDA_OPT_HD_INLINE void note_norm(Iteration &it, const Matrix &matrix, Norm kind, double norm) {
    it.note_norm(kind, norm, kind == Norm::relative_change ? matrix.curvature(matrix.stiffest_pair()) : 0);
}

} // namespace cudaopt
