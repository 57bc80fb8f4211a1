// The walk of the Cauchy search along the breakpoints of a window (algorithm CP of Byrd, Lu, Nocedal, Zhu 1995). On a
// GPU all processors wait for it. The host therefore processes four variables at a time where one would wait for
// another. The results have the same bits as if the variables were processed one at a time.
#pragma once

#include "lbfgsb/cauchy_point.hpp"
#include "lbfgsb/downdate.hpp"

namespace cudaopt {

// Processes the breakpoints of a window that ends at hi, in increasing order, until the minimiser of the model along a
// segment lies within this segment (algorithm CP). Returns whether such a segment was found. Small problems downdate
// the inner products variable by variable. The others do so when it is known how many variables have been passed.
template <int M>
CUDA_OPT_HD_INLINE bool CauchySearch<M>::pass_window(const Matrix &matrix, const Factors &middle,
                                                     const CrossedWindow &window, double hi) {
    int64_t passed = 0;
    const bool found = pass_breakpoints(matrix, middle, window, hi, passed);
    if constexpr (in_groups) {
        const int columns = panel::columns(matrix.model_pairs());
        point_.gram_holds = point_.gram_holds && passed <= cauchy::most_downdates(point_.free_variables, columns);
        if (point_.gram_holds) subtract_products(window.variables, passed, columns, own_gram_.data());
    }
    return found;
}

template <int M>
CUDA_OPT_HD_INLINE bool CauchySearch<M>::pass_breakpoints(const Matrix &matrix, const Factors &middle,
                                                          const CrossedWindow &window, double hi, int64_t &next) {
    const int size = 2 * matrix.model_pairs();
    [[maybe_unused]] std::conditional_t<in_groups, Rows, dense::Nothing> rows;
    double *const gram = bisects ? own_gram_.data() : window.free_gram;
    const bool downdate =
        !in_groups && point_.gram_holds && window.count <= cauchy::most_downdates(point_.free_variables);
    while (next < window.count) {
        const double t = window.variables[next].t;
        if (minimiser() < t) return true;
        const double dt = t - at_.t;
        dense::add(c(), dt, p(), size);
        dense::add(c_reduced(), dt, p_reduced(), size);
        at_.slope += dt * at_.curvature;
        // Variables with equal breakpoints stop at the end of the same segment.
        for (; next < window.count && window.variables[next].t == t; next++) {
            if constexpr (in_groups) {
                if (size <= Rows::most_size) {
                    const CrossedVariable *const variable = window.variables + next;
                    const int row = static_cast<int>(next % Rows::count);
                    if (row == 0) load_rows(matrix, middle, variable, window.count - next, rows);
                    double forms[3];
                    middle.reduced_forms(size / 2, rows.reduced[row], c_reduced(), p_reduced(), forms);
                    move_path(matrix, *variable, rows.w[row], rows.reduced[row], forms[0], forms[1], forms[2]);
                    continue;
                }
            }
            fix_at_bound(matrix, middle, window.variables[next]);
            if (downdate) downdate_free_gram(matrix, window.variables[next], gram);
        }
        at_.curvature = greatest(at_.curvature, least_curvature_);
        if (!in_groups) point_.gram_holds = downdate;
        point_.threshold = at_.t = t;
        point_.segments++;
        if (point_.free_variables <= 0) return true;
    }
    return minimiser() <= hi;
}

// Loads the rows of W of as many variables as `rows` holds, or of those that are left. Four of them are reduced at
// once.
template <int M>
CUDA_OPT_HD inline void CauchySearch<M>::load_rows(const Matrix &matrix, const Factors &middle,
                                                   const CrossedVariable *variables, int64_t left, Rows &rows) {
    const int k = matrix.model_pairs();
    for (int r = 0; r < Rows::count; r++) {
        if (r < left) matrix.to_basis(variables[r].w, rows.w[r]);
        else dense::fill(rows.w[r], 2 * k, 0);
        dense::copy(rows.w[r], 2 * k, rows.reduced[r]);
    }
    middle.reduce_four(k, rows.reduced[0], Rows::most_size);
}

template <int M>
CUDA_OPT_HD_INLINE void CauchySearch<M>::fix_at_bound(const Matrix &matrix, const Factors &middle,
                                                      const CrossedVariable &variable) {
    const int size = 2 * matrix.model_pairs();
    dense::Room<2 * M> w_room(w_), w_reduced_room(w_reduced_);
    double *const w = w_room.data(), *const w_reduced = w_reduced_room.data();
    matrix.to_basis(variable.w, w);
    dense::copy(w, size, w_reduced);
    matrix.reduce_by_middle(middle, w_reduced);
    move_path(matrix, variable, w, w_reduced, matrix.middle_form(middle, w_reduced, c_reduced()),
              matrix.middle_form(middle, w_reduced, p_reduced()), matrix.middle_form(middle, w_reduced, w_reduced));
}

// Updates p, the slope and the curvature after a variable has reached its bound (Byrd et al. 1995, eqs. 4.9 and 4.10).
// w is the variable's row of W. The last three arguments are w'M c, w'M p and w'M w.
template <int M>
CUDA_OPT_HD_INLINE void CauchySearch<M>::move_path(const Matrix &matrix, const CrossedVariable &variable,
                                                   const double *w, const double *w_reduced, double w_m_c, double w_m_p,
                                                   double w_m_w) {
    const int size = 2 * matrix.model_pairs();
    const double theta = matrix.theta(), g = variable.g;
    at_.slope += g * g + theta * g * variable.z - g * w_m_c;
    at_.curvature -= theta * g * g + 2 * g * w_m_p + g * g * w_m_w;
    dense::add(p(), g, w, size);
    dense::add(p_reduced(), g, w_reduced, size);
    point_.free_variables--;
}

} // namespace cudaopt
