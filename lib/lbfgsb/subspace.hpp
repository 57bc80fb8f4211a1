// Subspace minimisation by the direct primal method (Byrd, Lu, Nocedal, Zhu 1995, section 5.1), reduced to what does
// not depend on n. With r_c = (1 - theta t*) g - W M c on the free variables, K = M^-1 - G / theta and G = W_F'W_F,
//
//     x_c - x + d_u = -g / theta + W q,    q = M c / theta - K^-1 W_F'r_c / theta^2    on the free variables.
//
// W_F'r_c = -(1 - theta t*) p - G M c, and K^-1 G M c = theta (K^-1 c - M c), so that neither M nor G is needed besides
// K:
//
//     q = K^-1 (p / theta + (c - t* p)) / theta,
//
// where c - t* p is W'(x_c - x) over the variables that were crossed: 0 where there are none. Divided twice: theta^2
// leaves the range of numbers long before theta does.
#pragma once

#include "lbfgsb/cauchy_point.hpp"

namespace cudaopt {

template <class Kind> class SubspaceOf {
  public:
    static constexpr int fixed_m = Kind::pairs;

    template <class Visit> CUDA_OPT_HD constexpr void each_array(int m, Visit &visit) {
        visit(v_, 2 * m);
        visit(q_, panel::columns(m));
    }

    // free_gram: the panel's products over the free variables, where these are not all. False: breakdown of the
    // factorisation, or a coefficient is not finite. Otherwise q receives the coefficients, in panel order.
    CUDA_OPT_HD bool minimise(LimitedMemoryOf<Kind> &memory, const CauchySearchOf<Kind> &cauchy,
                              const double *free_gram, bool all_free, double *q) {
        if (memory.pairs() == 0) {
            dense::fill(q, panel::columns(memory.model_pairs()), 0);
            return true;
        }
        dense::Room<2 * fixed_m> room(v_);
        double *const v = room.data();
        const int size = 2 * memory.model_pairs();
        const double scale = 1 / memory.theta();
        const double *const p = cauchy.p();
        for (int i = 0; i < size; i++) v[i] = scale * (scale * p[i]);
        if constexpr (Kind::bounds)
            if (cauchy.point().crossed) {
                const double *const c = cauchy.c(), t = cauchy.point().t;
                for (int i = 0; i < size; i++) v[i] = scale * (scale * p[i] + (c[i] - t * p[i]));
            }
        bool solved = true;
        if (all_free) memory.apply_full_space_inverse(v);
        else if constexpr (Kind::bounds) solved = memory.solve_subspace(free_gram, v);
        for (int i = 0; i < size; i++)
            if (!is_finite(v[i])) solved = false;
        if (!solved) return false;
        memory.to_panel(v, q);
        return true;
    }
    // A place for q, where its size is not known.
    CUDA_OPT_HD double *coefficients() { return q_.data(); }
    CUDA_OPT_HD const double *coefficients() const { return q_.data(); }

  private:
    dense::KeptRoom<fixed_m> v_;
    dense::KeptRoom<fixed_m> q_;
};

using Subspace = SubspaceOf<AnyKind>;

} // namespace cudaopt
