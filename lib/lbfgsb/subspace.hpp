// Subspace minimisation by the direct primal method (Byrd, Lu, Nocedal, Zhu 1995, section 5.1), reduced to operations
// whose cost does not depend on n. The symbols are those of compact_matrix.hpp and cauchy_point.hpp. Let
// r_c = (1 - theta t*) g - W M c on the free variables, G = W_F'W_F and K = M^-1 - G / theta. The displacement to the
// subspace minimiser is then
//
//     x_c - x + d_u = -g / theta + W q,    q = M c / theta - K^-1 W_F'r_c / theta^2    on the free variables.
//
// Since W_F'r_c = -(1 - theta t*) p - G M c and K^-1 G M c = theta (K^-1 c - M c), K suffices without M and G:
//
//     q = K^-1 (p / theta + (c - t* p)) / theta,
//
// where c - t* p is W'(x_c - x) over the variables whose breakpoints were crossed, and 0 if there are none. The code
// divides by theta twice, because theta^2 overflows or underflows long before theta does.
#pragma once

#include "lbfgsb/cauchy_point.hpp"

namespace cudaopt {

// Computes the coefficients q of the direction, one for each of the panel's columns (panel.hpp). p and c belong to the
// Cauchy point at t (CauchySearch); c is NULL if no breakpoint was crossed. over_free contains the inner products of
// these columns over the free variables, or is NULL if all variables are free. `system` and v are workspace, where v
// has 2k elements for k pairs. Returns false if the factorisation breaks down or a coefficient is not finite.
template <int M>
CUDA_OPT_HD_INLINE bool minimise_subspace(const CompactMatrix<M> &matrix, const double *p, const double *c, double t,
                                          const double *over_free, typename CompactMatrix<M>::Factors &system,
                                          double *v, double *q) {
    if (matrix.pairs() == 0) {
        dense::fill(q, panel::columns(matrix.model_pairs()), 0);
        return true;
    }
    const int size = 2 * matrix.model_pairs();
    const double scale = 1 / matrix.theta();
    for (int i = 0; i < size; i++) v[i] = scale * (scale * p[i]);
    if (c)
        for (int i = 0; i < size; i++) v[i] = scale * (scale * p[i] + (c[i] - t * p[i]));
    bool solved = true;
    if (over_free) solved = matrix.solve_subspace(system, over_free, v);
    else matrix.apply_full_space_inverse(v);
    for (int i = 0; i < size; i++)
        if (!is_finite(v[i])) solved = false;
    if (!solved) return false;
    matrix.to_panel(v, q);
    return true;
}

} // namespace cudaopt
