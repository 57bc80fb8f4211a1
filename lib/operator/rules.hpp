// The operations of an operator as initial Hessian on each variable, for host and device. Real is the type of the
// caller's vectors and History that of the columns of S and Y. Arithmetic is in double precision. F is the set of the
// variables that are free on the face of the generalized Cauchy point.
#pragma once

#include "sweeps/rules.hpp"

namespace cudaopt {

// The columns of one sweep. A model with more pairs needs several sweeps. Loops over the columns have this constant
// length, so that the compiler unrolls them: on a GPU all loads are in flight together, and the sums are in registers.
constexpr int operator_columns = 8;

// Some columns w_j of S or Y, and their coefficients c_j. The newest column of Y may not be stored yet; it is then
// g - g_base.
template <class Real, class History> struct OperatorColumns {
    const Real *g, *g_base;
    int count = 0;
    const History *column[operator_columns] = {};
    double coefficient[operator_columns] = {};
    bool fresh = false; // column[0] is to be formed from g and g_base
    CUDA_OPT_HD double at(int j, int64_t i) const {
        if (j == 0 && fresh) return gradient_change<History>(g[i], g_base[i]);
        return column[j][i];
    }
    // Returns element i of scale v + sum_j c_j w_j. If scale is 0, v is not read.
    CUDA_OPT_HD double combined(double scale, const Real *v, int64_t i) const {
        double sum = scale != 0 ? scale * v[i] : 0;
        for (int j = 0; j < operator_columns; j++)
            if (j < count) sum += coefficient[j] * at(j, i);
        return sum;
    }
};

// Sets the mask of F, and v = scale g + sum_j c_j w_j on F and v = 0 elsewhere. It reads x, g, l, u and the columns,
// and writes the mask and v.
template <class Real, class History> struct FormInput {
    const Real *x, *g;
    BoxArrays<Real> box;
    double threshold;
    Real *mask, *v;
    double scale;
    OperatorColumns<Real, History> columns;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const double l = box.lower(i), u = box.upper(i);
        const bool is_free = threshold < 0 || breakpoint<double>(x[i], g[i], l, u) > threshold;
        mask[i] = is_free ? Real(1) : Real(0);
        v[i] = static_cast<Real>(is_free ? columns.combined(scale, g, i) : 0);
    }
};

// v <- scale v + sum_j c_j w_j on F, and v <- 0 elsewhere. It reads v, the mask and the columns, and writes v.
template <class Real, class History> struct Combine {
    Real *v;
    const Real *mask;
    double scale;
    OperatorColumns<Real, History> columns;
    CUDA_OPT_HD void operator()(int64_t i) const {
        v[i] = static_cast<Real>(mask[i] != 0 ? columns.combined(scale, v, i) : 0);
    }
};

struct OperatorRecord {
    Sum with_column[operator_columns], in_in, in_out, out_out, with_g;
    Count not_finite;
    CUDA_OPT_HD void join(const OperatorRecord &o) {
        for (int j = 0; j < operator_columns; j++) with_column[j].join(o.with_column[j]);
        in_in.join(o.in_in), in_out.join(o.in_out), out_out.join(o.out_out), with_g.join(o.with_g),
            not_finite.join(o.not_finite);
    }
};

// Computes inner products over F of v, H_0 v, g and the columns. It reads the mask, v, H_0 v, g and the columns.
template <class Real, class History> struct MultiplyOutput {
    const Real *in, *out, *mask;
    OperatorColumns<Real, History> columns;
    CUDA_OPT_HD void operator()(int64_t i, OperatorRecord &record) const {
        if (mask[i] == 0) return;
        const double v = in[i], applied = out[i];
        record.in_in.add(v * v);
        record.in_out.add(v * applied);
        record.out_out.add(applied * applied);
        record.with_g.add(columns.g[i] * applied);
        record.not_finite.add(!is_finite(applied));
        for (int j = 0; j < operator_columns; j++)
            if (j < columns.count) record.with_column[j].add(columns.at(j, i) * applied);
    }
};

// Forms d and the trial point from the move, and stores the base point and a new y, as sweep 2 does. It reads x, g, l,
// u, g_base and the move, and writes x, x_base, g_base, d and y.
template <class Real, class History> struct TakeOperatorDirection {
    const Real *g, *move;
    BoxArrays<Real> box;
    DirectionRequest request;
    TrialArrays<Real, History> to;
    const Real *g_base_before; // belongs to the new y
    CUDA_OPT_HD void operator()(int64_t i, DirectionRecord &record) const {
        const BoxedVariable at{to.x[i], g[i], box.lower(i), box.upper(i)};
        const TrialVariable<Real, History> trial = take_trial<Real, History>(at, request, 1, move[i], record);
        if (to.y_fresh) to.y_fresh[i] = gradient_change<History>(g[i], g_base_before[i]);
        to.d[i] = trial.d;
        to.g_base[i] = g[i];
        to.x_base[i] = to.x[i];
        to.x[i] = trial.x;
    }
};

} // namespace cudaopt
