// The direction of the model whose initial inverse Hessian is gamma H_0, where H_0 is an operator of the caller. The
// face is that of the generalized Cauchy point of the model with B_0 = theta I: F is the set of the variables that are
// free there. On the other variables the direction leads to their bounds. On F it is that of Bertsekas (SIAM J. Control
// Optim. 20 (1982) 221),
//
//     d_F = -H_F g_F,
//
// where H_F results from gamma H_0 by the update of L-BFGS with the pairs restricted to F. The operator acts on F
// alone: the caller applies (B_FF)^-1, exactly or approximately.
//
// H_F g_F follows from the two-loop recursion (Nocedal and Wright 2006, algorithm 7.4). Its inner products are those of
// sweep 1, and y_j'H_0 q:
//
//     alpha_j = (s_j'g - sum over newer i of alpha_i s_j'y_i) / s_j'y_j,                   newest pair first,
//     q = g - sum_j alpha_j y_j,
//     beta_j = (gamma y_j'H_0 q + sum over older i of (alpha_i - beta_i) y_j's_i) / s_j'y_j,  oldest pair first,
//     H_F g_F = gamma H_0 q + sum_j (alpha_j - beta_j) s_j.
//
// gamma = s'y / y'H_0 y of the newest pair makes the scale of H_0 immaterial. It requires a second application of H_0.
// It is measured again only after 1, 2, 4 and at most longest_interval iterations while it remains within
// stable_factor, and after a step that was not the first trial of its line search, because gamma may then be too large.
//
// If gamma is measured, the two applications show whether H_0 is symmetric: q'H_0 y and y'H_0 q have to be equal. Their
// difference may be at most
//
//     most_asymmetry sqrt(q'H_0 q y'H_0 y) + rounding (||g|| + sum_j |alpha_j| ||y_j||) ||H_0 y||,
//
// so that an operator may be approximate. Otherwise the operator is refused at this iterate. The second term is a bound
// for rounding errors. If H_0 is exact and f quadratic, g is a combination of the y_j, and q contains nothing else.
//
// The direction leads to P(x + d). If f is too large there and the projection has changed x + d, the next trial point
// is P(x + t d) with a smaller t, and the line search goes along the segment to that point. If the projected step is
// not a descent direction, t is without_descent instead. If t is small enough, P(x + t d) - x descends, because no
// variable of F is at a bound to which d points, apart from those at which -g points inwards.
#pragma once

#include <cmath>

#include "lbfgsb/compact_matrix.hpp"

namespace cudaopt {

// The states of an operator's use at one iterate. In the first five, the model waits for a request.
enum class OperatorState {
    input,       // v is being formed
    application, // the caller is applying H_0 to v
    products,    // the inner products with H_0 v are being formed
    shortening,  // x is being reset to the base point; a shorter direction follows
    replacing,   // x is being reset to the base point; the direction of the model with B_0 = theta I follows
    found,       // the direction is known
    unsuitable,  // the direction of the model with B_0 = theta I is to be used at this iterate
    breakdown,   // a coefficient is not finite
    not_finite,  // an element of H_0 v is not finite
    not_positive // v'H_0 v is not positive
};

class OperatorModel {
  public:
    static constexpr int longest_interval = 8;
    static constexpr double stable_factor = 1.5;
    static constexpr double most_asymmetry = 0.3;
    static constexpr double rounding = 1e3 * machine_epsilon;
    // A pair is left out of a model if its curvature on F is not significant.
    static constexpr double least_curvature = 1e-8;
    // After this number of refusals in a solve, the operator is not used any more.
    static constexpr int most_refusals = 10;
    static constexpr int most_shortenings = 10; // of one direction
    // The factor of a direction that does not descend, because the projection has changed it.
    static constexpr double without_descent = 0.1;

    template <class Visit> void each_array(int m, Visit &visit) {
        m_ = m;
        visit(sy_, int64_t{m} * m);
        visit(alpha_, m), visit(steps_, m), visit(y_scales_, m), visit(coefficients_, m);
    }
    bool is_consistent(int m) const {
        return m_ == m && dense::is_within(0, pairs_, m) && dense::is_within(0, scale_age_, longest_interval) &&
               dense::is_within(1, scale_interval_, longest_interval) &&
               dense::is_within(0, refusals_, most_refusals) && dense::is_within(0, shortenings_, most_shortenings) &&
               dense::is_within(-1, measured_, m - 1) &&
               dense::is_within(OperatorState::input, state_, OperatorState::not_positive) &&
               dense::are_bools(scale_known_, measures_scale_, used_, refused_);
    }

    void reset() {
        forget_scale();
        measures_scale_ = used_ = refused_ = false;
        refusals_ = 0;
        applications_ = 0;
    }
    // Forgets gamma. The next model without pairs has a first step of length 1 at most.
    void forget_scale() { scale_known_ = false, scale_interval_ = 1, scale_age_ = longest_interval; }

    // Return whether the operator may be used at this iterate, and whether the newest direction is the operator's.
    bool is_usable() const { return !refused_ && refusals_ < most_refusals; }
    bool is_used() const { return used_; }
    void leave() { used_ = false; }
    // Return how often the caller has applied the operator in this solve, and how many refusals count against it
    // (refuse()). The second number is at most most_refusals.
    // These counters are not among the Results, because each problem of a batch stores those.
    int64_t applications() const { return applications_; }
    int refusals() const { return refusals_; }
    // The direction of the operator failed. B_0 = theta I serves until the next iterate. counts: it may be to blame.
    OperatorState refuse(bool counts) {
        refusals_ = least(refusals_ + counts, most_refusals);
        used_ = false, refused_ = true;
        scale_age_ = longest_interval;
        return state_ = OperatorState::replacing;
    }
    // first_trial: the step is the first trial of its line search.
    void accept_step(bool first_trial) {
        if (used_ && (!first_trial || shortenings_ > 0)) scale_age_ = longest_interval;
        used_ = refused_ = false;
    }

    // Begins a model with the products over F of the pairs of `matrix`, packed as in PanelProducts. The products
    // with g are not used, because the Cauchy search does not downdate them, apart from g'g in a bound for rounding
    // errors. p is W'd with d = -g on F (CauchySearch). `panel` describes F.
    OperatorState begin(const CompactMatrix<0> &matrix, const PanelProducts &sums, const double *over_free,
                        const double *p, const PanelRequest &panel) {
        const auto product = [&](int a, int b) {
            return over_free[panel::gram_index(least(a, b), greatest(a, b), sums.columns)];
        };
        const auto s = [&](int j) { return panel::s_column(age(j)); };
        const auto y = [&](int j) { return panel::y_column(age(j)); };
        panel_ = panel;
        pairs_ = matrix.pairs();
        used_ = true;
        shortenings_ = 0;
        measured_ = -1;
        for (int j = 0; j < pairs_; j++) steps_[j] = matrix.step(j), y_scales_[j] = matrix.y_scale(j);
        for (int i = 0; i < pairs_; i++)
            for (int j = 0; j < pairs_; j++) sy(i, j) = steps_[i] * y_scales_[j] * product(s(i), y(j));
        bool any = false;
        for (int j = 0; j < pairs_; j++) {
            const double norms =
                steps_[j] * std::sqrt(product(s(j), s(j))) * y_scales_[j] * std::sqrt(product(y(j), y(j)));
            if (!(sy(j, j) > least_curvature * norms)) sy(j, j) = 0;
            any = any || is_in_model(j);
        }
        for (int j = pairs_ - 1; j >= 0; j--) {
            double alpha = -p[pairs_ + j] / matrix.theta(); // s_j'g
            for (int i = j + 1; i < pairs_; i++) alpha -= alpha_[i] * sy(j, i);
            alpha_[j] = is_in_model(j) ? alpha / sy(j, j) : 0;
        }
        measures_scale_ = any && scale_age_ >= scale_interval_;
        if (!measures_scale_) {
            scale_age_ = least(scale_age_ + 1, longest_interval);
            return form_input();
        }
        const auto norm = [&](int column) { return std::sqrt(greatest(product(column, column), 0.0)); };
        q_terms_ = norm(panel::gradient); // perhaps of more variables than F, which does no harm
        for (int j = 0; j < pairs_; j++) q_terms_ += std::fabs(alpha_[j]) * y_scales_[j] * norm(y(j));
        return form_input();
    }

    // Continues after the request of the present state was performed. `products` are used in the state `products`.
    OperatorState resume(const OperatorProducts *products) {
        switch (state_) {
        case OperatorState::input: return state_ = OperatorState::application;
        case OperatorState::application: return state_ = OperatorState::products;
        case OperatorState::products: return state_ = accept(*products);
        case OperatorState::shortening:
            shortenings_++;
            for (int j = 0; j < pairs_; j++) coefficients_[j] = 0;
            scale_ = factor_;
            return state_ = OperatorState::found;
        default: return state_ = OperatorState::unsuitable;
        }
    }

    OperatorState state() const { return state_; }
    // The present request. In the state `input`, it is the vector v = scale g + sum_j c_j y_j on F. In the state
    // `found`, it is the direction scale H_0 q + sum_j c_j d_j on F, where s_j = step_j d_j.
    OperatorRequest request() const { return {panel_, scale_, coefficients_.data()}; }
    bool can_shorten() const { return shortenings_ < most_shortenings; }
    // Returns the factor t for a shorter d if f at P(x + d) is too large, and otherwise 1. f, slope: those at x.
    // allowed: the largest f that is accepted at P(x + d); f_trial: f there. t is the minimiser of the parabola through
    // f, the slope and f_trial, within [0.1, 0.5].
    double shorter(double f, double slope, double allowed, double f_trial) const {
        if (f_trial <= allowed || !can_shorten()) return 1;
        const double t = -slope / (2 * (f_trial - f - slope));
        return is_finite(t) ? least(greatest(t, 0.1), 0.5) : 0.5;
    }

    // The direction is multiplied by t.
    OperatorState shorten(double t) {
        factor_ = t;
        return state_ = OperatorState::shortening;
    }

  private:
    // If the vector was y of a pair, gamma follows, and q is the next vector.
    OperatorState accept(const OperatorProducts &products) {
        constexpr double least_square = 1e-200; // products of shorter vectors may underflow
        applications_++;
        const bool is_overflow = !is_finite(products.in_in); // the operator is not to blame
        if (!is_overflow && products.not_finite > 0) return OperatorState::not_finite;
        if (!is_overflow && !(products.in_out > 0) && products.in_in > least_square) return OperatorState::not_positive;
        if (!is_overflow && measures_scale_) {
            set_scale(products);
            return form_input();
        }
        if (is_overflow || !is_symmetric(products)) {
            refuse(true);
            return OperatorState::unsuitable;
        }
        return set_direction(products) ? OperatorState::found : OperatorState::breakdown;
    }

    // The vector is y of the newest pair that is used, for gamma, or q.
    OperatorState form_input() {
        const int newest = measures_scale_ ? newest_in_model() : -1;
        for (int j = 0; j < pairs_; j++)
            coefficients_[age(j)] = y_scales_[j] * (measures_scale_ ? j == newest : -alpha_[j]);
        scale_ = measures_scale_ ? 0 : 1;
        return state_ = OperatorState::input;
    }

    // products: those of y of the newest pair that is used, and of H_0 y.
    void set_scale(const OperatorProducts &products) {
        const int newest = newest_in_model();
        measures_scale_ = false;
        measured_ = newest;
        y_hy_ = products.in_out;
        q_hy_ = products.with_g;
        for (int j = 0; j < pairs_; j++) q_hy_ -= alpha_[j] * y_scales_[j] * products.with_y[age(j)];
        q_hy_error_ = rounding * q_terms_ * std::sqrt(products.out_out);
        const double gamma = sy(newest, newest) / products.in_out;
        if (!is_normal(gamma)) return;
        const bool stable = scale_known_ && gamma < stable_factor * gamma_ && gamma_ < stable_factor * gamma;
        scale_interval_ = stable ? least(2 * scale_interval_, longest_interval) : 1;
        gamma_ = gamma;
        scale_known_ = true;
        scale_age_ = 1;
    }

    // Returns whether these products with H_0 q are consistent with those with H_0 y, if gamma was measured.
    bool is_symmetric(const OperatorProducts &products) const {
        if (measured_ < 0) return true;
        const double difference = q_hy_ - y_scales_[measured_] * products.with_y[age(measured_)];
        const double approximate = most_asymmetry * std::sqrt(products.in_out) * std::sqrt(y_hy_);
        return std::fabs(difference) <= approximate + q_hy_error_;
    }

    // Returns false if a number is not finite.
    bool set_direction(const OperatorProducts &products) {
        if (!scale_known_) gamma_ = least(1.0, 1 / std::sqrt(products.out_out));
        scale_known_ = true;
        bool finite = is_finite(gamma_);
        for (int j = 0; j < pairs_; j++) {
            double beta = gamma_ * y_scales_[j] * products.with_y[age(j)];
            for (int i = 0; i < j; i++) beta += alpha_[i] * sy(i, j);
            if (is_in_model(j)) alpha_[j] -= beta / sy(j, j);
            coefficients_[age(j)] = -steps_[j] * alpha_[j];
            finite = finite && is_finite(coefficients_[age(j)]);
        }
        scale_ = -gamma_;
        return finite;
    }

    int newest_in_model() {
        int newest = pairs_ - 1;
        while (!is_in_model(newest)) newest--;
        return newest;
    }
    double &sy(int i, int j) { return sy_[i * m_ + j]; } // s_i'y_j on F; pair 0 is the oldest
    bool is_in_model(int j) { return sy(j, j) > 0; }     // s_j'y_j is set to 0 if the pair is left out
    int age(int j) const { return pairs_ - 1 - j; }

    OperatorState state_ = OperatorState::unsuitable;
    PanelRequest panel_{};
    double scale_ = 1, factor_ = 1; // factor_: that of the next shorter direction
    int m_ = 0, pairs_ = 0;
    bool scale_known_ = false, measures_scale_ = false, used_ = false, refused_ = false;
    int scale_age_ = longest_interval; // iterations since gamma was measured
    int scale_interval_ = 1;           // iterations after which it is measured again
    int refusals_ = 0;                 // in this solve
    int64_t applications_ = 0;
    int shortenings_ = 0; // of this direction
    double gamma_ = 1;
    // If gamma was measured at this iterate, the pair whose y was used, y'H_0 y, q'H_0 y and a bound for the rounding
    // errors of the latter; otherwise the pair is -1.
    int measured_ = -1;
    double y_hy_ = 0, q_hy_ = 0, q_hy_error_ = 0;
    double q_terms_ = 0;               // ||g|| + sum_j |alpha_j| ||y_j||, the norms of the terms of q
    dense::Array<0> sy_, alpha_;       // alpha_j, then alpha_j - beta_j
    dense::Array<0> steps_, y_scales_; // those of the pairs
    dense::Array<0> coefficients_;     // of a request, by age
};

} // namespace cudaopt
