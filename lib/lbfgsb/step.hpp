// One iteration of L-BFGS-B, step by step. The steps do not depend on where the variables are stored. The state machine
// of one large problem (state_machine.cpp) and the loop for each small problem (batch/next_trial.hpp) execute them in
// this order. A sweep is an operation on all n variables. Sweeps 1 and 2 occur in every iteration. The line search, the
// Cauchy search, the norms of the stopping tests and a restored point may require further sweeps.
//
// The list begins at a trial point x = x_base + step d. P(z) is the projection of z onto the box. g_base is the
// gradient at the base point x_base, the iterate at which the line search began. The panel is the matrix whose columns
// are the stored vectors y and s, and g (panel.hpp).
//
//     evaluate   The caller evaluates f and g at the trial point.
//     sweep 1    y = g - g_base is computed but not stored. The inner products of the panel's columns are formed.
//     judge      The line search accepts the trial point, proposes another step, or fails (trial.hpp). For another
//                step, x_base + step d is formed and the list begins again. After a failure, x_base is restored.
//     append     The accepted step becomes a correction pair, and theta = y'y / s'y: append_pair().
//     test       The stopping tests are evaluated at the new iterate x (termination.hpp).
//     begin      The first step of the next line search is chosen: begin_direction().
//     model      B = theta I - W M W' with W = [Y, theta S] (Byrd et al. 1995, eq. 3.2). With bounds, M^-1 is
//                factorised. With a diagonal, weigh_products() adapts the products first.
//     Cauchy     The generalized Cauchy point is found, the first local minimiser of the model along P(x - t g)
//                (Byrd et al. 1995, section 4; cauchy_point.hpp). With bounds this may require further sweeps.
//     subspace   The model is minimised over the variables that are free at the Cauchy point (section 5.1, and
//                subspace.hpp): minimise_over_free().
//     sweep 2    d = P(minimiser) - x, the trial point x + first_step d, and g'd are formed. y is stored.
//     descent    If d is not a sufficient descent direction, it is truncated at the box, or the line search fails.
//
// With a diagonal h, B_0 = theta diag(1 / h_i), and the method is applied in the variables x_i / sqrt(h_i). Most
// functions below are templates over the type of the matrix and, where needed, of the initial Hessian.
#pragma once

#include "lbfgsb/initial_hessian.hpp"
#include "lbfgsb/iteration.hpp"
#include "lbfgsb/subspace.hpp"

namespace cudaopt {

// Returns the request for sweep 1 at a trial point. It assumes that the trial point is accepted, which is nearly always
// the case. If the caller supplies another diagonal at this point, the products of the older pairs must be weighted
// with it. Only the products of the newest pair are then requested here.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE PanelRequest trial_panel(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                            const Hessian &hessian, bool free_gram) {
    PanelRequest panel = matrix.tentative_panel(free_gram);
    if (uses_callers_diagonal(settings) && !hessian.stays_valid(settings, it.results.iterations)) panel.pairs = 1;
    return panel;
}

// Returns the update of the learned diagonal h that is due, if any. Sweep 1 performs it before it forms the products.
// If h exists after the update, or the caller's h remains valid, `panel` becomes the request for the next model.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE DiagonalUpdate take_update(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                              Hessian &hessian, PanelRequest &panel, bool free_gram) {
    const DiagonalUpdate update = hessian.take_update();
    if (hessian.has_learned() || hessian.stays_valid(settings, it.results.iterations))
        panel = hessian.model_panel(settings, panel, matrix.weights(), free_gram);
    return update;
}

// Appends the accepted step as a correction pair s = step d, y = g - g_base. With a learned diagonal, y is multiplied
// by curvature_scale(). The pair is skipped unless s'y > eps |s'g_base| and its products are normal numbers. A skipped
// pair is counted, `panel` becomes the request for the stored pairs, and theta may change if there are none. Returns
// whether the products at the new iterate suffice for the next model. keeps_ss: for CompactMatrix::append().
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
    panel = matrix.stored_panel(panel.free_gram);
    return matrix.pairs() == 0 && !callers;
}

// Discards the history. With the option ROBUST the scalar theta is kept, because it reflects the scales of f and x. If
// the next direction begins from the sizes of the variables, their squares become the learned diagonal.
template <class Matrix, class Hessian>
CUDA_OPT_HD_INLINE void discard_pairs(const Settings &settings, Iteration &it, Matrix &matrix, Hessian &hessian) {
    matrix.drop_pairs(settings.robust);
    hessian.forget();
    it.results.refreshes++;
    it.truncated = false;
    it.from_sizes = it.begins_from_sizes(settings);
    if (!it.from_sizes) return;
    hessian.begin_from_sizes();
    it.fresh_start = true;
}

// Begins the next direction: sets its first step and, along -g or without ROBUST and pairs, theta.
template <class Matrix>
CUDA_OPT_HD_INLINE void begin_direction(const Settings &settings, Iteration &it, Matrix &matrix) {
    if (const double theta = it.begin_direction(settings, matrix.pairs()); theta > 0) matrix.set_scale(theta);
}

// Adapts the stored products to the diagonal h of the model, if there is one. The method is applied in the variables
// x_i / sqrt(h_i), in which B_0 = theta I. Returns false if an element of h is not positive and finite.
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

// Minimises the model over the variables that are free at the Cauchy point (Byrd et al. 1995, section 5.1), if any.
// `path` is the finished Cauchy search. q receives the coefficients of the minimiser, one for each of the panel's
// columns. v is workspace, and `system` holds the factors. Returns false if a factorisation fails.
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

// Sets the request for sweep 2, which forms the direction to the subspace minimiser. Its panel must already be that of
// the products. The coefficients of the minimiser are not part of the request; minimise_over_free() stores them. The
// members are set in place, because kernels of batches would keep a returned structure in local memory.
template <class Matrix>
CUDA_OPT_HD_INLINE void set_direction(DirectionRequest &direction, const CauchyPoint &point, const Iteration &it,
                                      const Matrix &matrix) {
    direction.panel.threshold = point.threshold;
    direction.gradient_coefficient = -1 / matrix.theta();
    direction.coefficients = nullptr;
    direction.step = it.first_step;
    direction.spare_slot = matrix.spare_slot();
    direction.truncate = false;
    direction.cauchy_t = point.t;
    direction.alpha = 1;
}

// Returns the pair with which the next two norms are measured: that of the largest curvature, then the newest ones.
template <class Matrix> CUDA_OPT_HD_INLINE int pair_to_measure(const Iteration &it, const Matrix &matrix) {
    return it.pairs_measured == 0 ? matrix.stiffest_pair() : matrix.pairs() - it.pairs_measured;
}

// Returns the request for a norm. unfinished: y of the newest pair is not stored yet, and its slot contains g_base.
template <class Matrix>
CUDA_OPT_HD_INLINE NormRequest norm_request(const Settings &settings, const Iteration &it, const Matrix &matrix,
                                            Norm kind, bool unfinished) {
    if (kind == Norm::narrow_gradient) return {kind, settings.pgtol};
    if (kind != Norm::relative_change && kind != Norm::unexplained_gradient) return {kind};
    const int slot = matrix.slot(pair_to_measure(it, matrix));
    return {kind, it.change_weight, slot, unfinished && slot == matrix.newest_slot()};
}

template <class Matrix> CUDA_OPT_HD_INLINE void note_norm(Iteration &it, const Matrix &matrix, Norm kind, double norm) {
    it.note_norm(kind, norm, kind == Norm::relative_change ? matrix.curvature(pair_to_measure(it, matrix)) : 0);
}

} // namespace cudaopt
