#include "gradient_check/gradient_check.hpp"

#include <algorithm>
#include <cmath>

#include "cuda_opt.h"

namespace cudaopt {

GradientCheck::GradientCheck(std::unique_ptr<CheckSweeps> sweeps, const UserArrays &arrays, int64_t n, int bits,
                             int64_t seed, bool find_component, int threads, void *stream)
    : sweeps_(std::move(sweeps)), arrays_(arrays), n_(n), single_(bits == 32), seed_(seed),
      find_component_(find_component), direction_(random_direction(0)) {
    sweeps_->begin(arrays, {threads, stream, cancellation_});
}

CheckDirection GradientCheck::random_direction(int k) const {
    return {0, static_cast<uint64_t>(seed_) * 0x2545f4914f6cdd1du + static_cast<uint64_t>(k), 0, n_};
}

int GradientCheck::evaluate(double t, Stage stage) {
    moved_ = sweeps_->move(direction_, t);
    stage_ = stage;
    return CUDA_OPT_EVALUATE_FG;
}

int GradientCheck::finish(int code) {
    sweeps_->restore_x();
    return code;
}

int GradientCheck::conclude(int verdict, const SlopeEstimate &e) {
    result = {verdict, -1, e.supplied, e.difference, e.error};
    return finish(0);
}

// Collects evidence of a g that is computed in single precision although x is double. It counts the points at which g
// differs from the gradient at the base point, and those among them at which every component of g is exactly
// representable in single precision.
void GradientCheck::note_precision(const LookRecord &look) {
    if (single_ || look.not_finite.v > 0 || !(look.change.v > 0)) return;
    points_++;
    single_points_ += look.not_single.v == 0;
    needs_single_ = needs_single_ || look.not_short.v > 0;
}

int GradientCheck::begin_direction(int first, int count) {
    sample_count_ = count;
    at_sample_ = 0;
    for (int k = 0; k < count; k++) samples_[k].t = longest_check_step * std::pow(10.0, -(first + k));
    return evaluate(samples_[0].t, Stage::plus);
}

int GradientCheck::resume() {
    SlopeSample &sample = samples_[at_sample_];
    switch (stage_) {
    case Stage::start: {
        const int task = evaluate(0, Stage::at_base);
        if (moved_.improper.v == 0) return task;
        message.set("%lld components of x are not finite, or have bounds that cross, or a scale that is not positive "
                    "and finite",
                    shown(moved_.improper.v));
        return finish(CUDA_OPT_IMPROPER_INPUT);
    }
    case Stage::at_base:
    case Stage::repeated: {
        const LookRecord look = sweeps_->look(true);
        if (!is_finite(look.f.v) || look.not_finite.v > 0) {
            message.set("f and g cannot be evaluated at x: f = %g, and %lld of %lld components of g are NaN or "
                        "infinite",
                        std::isnan(look.f.v) ? std::fabs(look.f.v) : look.f.v, shown(look.not_finite.v), shown(n_));
            return finish(CUDA_OPT_NOT_FINITE);
        }
        if (stage_ == Stage::at_base) return evaluate(0.01, Stage::far);
        base_ = look;
        return next_direction();
    }
    case Stage::far: return evaluate(0, Stage::back);
    case Stage::back: f_before_ = sweeps_->look(true).f.v; return evaluate(0, Stage::repeated);
    case Stage::plus:
    case Stage::minus: {
        const LookRecord look = sweeps_->look(false);
        note_precision(look);
        const bool plus = stage_ == Stage::plus;
        (plus ? sample.f_plus : sample.f_minus) = look.f.v;
        (plus ? sample.slope_plus : sample.slope_minus) = moved_.slope.v;
        if (plus) {
            sample.gross = std::sqrt(moved_.squares.v) / sample.t;
            sample.displacement = moved_.displacement.v;
            return evaluate(-sample.t, Stage::minus);
        }
        if (++at_sample_ < sample_count_) return evaluate(samples_[at_sample_].t, Stage::plus);
        const SlopeEstimate estimate = estimate_slope(samples_, sample_count_, base_.f.v);
        if (end_ > 0) return narrow(estimate);
        if (estimate.known) estimates_[known_++] = estimate;
        return next_direction();
    }
    }
    return 0;
}

int GradientCheck::next_direction() {
    // If the gradient is 0, the direction -g does not exist.
    if (direction_count_ == 0 && !(base_.size.v > 0)) direction_count_++;
    if (direction_count_ == directions) return judge();
    direction_ = random_direction(direction_count_);
    if (direction_count_++ == 0) direction_.gradient_size = base_.size.v;
    return begin_direction(0, single_ ? most_slope_samples / 2 + 1 : most_slope_samples);
}

// The gradient is called wrong along a direction if the residual, the difference of f minus g'd, is far above the error
// of the difference and not small relative to the slope.
bool GradientCheck::is_wrong(const SlopeEstimate &e) const {
    const double residual = std::fabs(e.residual()), rounding = single_ ? 1e-3 : 1e-6;
    // The components of g have rounding errors relative to the size of their terms. They matter near a stationary
    // point, where the terms cancel.
    return residual > 10 * e.error && residual > rounding * e.size() && residual > rounding * rounding * e.longest;
}

// Compares the slopes along all directions and sets the verdict.
int GradientCheck::judge() {
    const SlopeEstimate *worst = nullptr, *kink = nullptr, *unclear = nullptr;
    for (const SlopeEstimate *e = estimates_; e != estimates_ + known_; e++) {
        if (e->kink && !kink) kink = e;
        // The slope is uncertain if its error is large both relative to the slope and relative to e->longest, the
        // largest change of f per unit of t at the longest step. Near a stationary point the slope is 0, so that the
        // first test alone would call every slope there uncertain.
        if (is_wrong(*e)) {
            if (!worst || e->relative_residual() > worst->relative_residual()) worst = e;
        } else if (e->error > 0.01 * e->size() && e->error > 1e-6 * e->longest) unclear = e;
    }
    // The gradient of a parallel evaluation may depend on the order of summation, so that it need not repeat bitwise.
    if (!(base_.change.v <= (single_ ? 1e-4 : 1e-6) * base_.size.v)) {
        result = {CUDA_OPT_GRADIENT_OF_ANOTHER_POINT, -1, base_.change.v, base_.size.v, 0};
        message.set("g is not a function of x alone: two evaluations at the same x in succession gave gradients that "
                    "differ by %g in a component, where the largest is %g%s; %s",
                    base_.change.v, base_.size.v, f_before_ == base_.f.v ? ", and the same f" : "",
                    worst ? "g may be that of a point before, or be added to and not set"
                          : "the second one agrees with differences of f, so that g is that of the point before");
        return finish(0);
    }
    if (kink) {
        message.set("f has a kink at x: the differences to both sides along one direction are %.7g and %.7g, down to "
                    "a step of %g; g'd is %.7g",
                    kink->left, kink->right, kink->step, kink->supplied);
        return conclude(CUDA_OPT_GRADIENT_KINK, *kink);
    }
    return worst ? reject(*worst) : accept(unclear);
}

// Sets the verdict if g is wrong along no direction. unclear: a direction whose slope is uncertain; NULL: none.
int GradientCheck::accept(const SlopeEstimate *unclear) {
    if (moved_.fixed.v == n_) {
        message.set("g was not checked, because the bounds fix all %lld variables", shown(n_));
        return conclude(CUDA_OPT_GRADIENT_UNDECIDED, {});
    }
    if (unclear) {
        message.set("differences of f do not settle: along one direction g'd is %.7g and the best difference %.7g "
                    "with an error of about %.2g; f has errors, or varies at a smaller scale",
                    unclear->supplied, unclear->difference, unclear->error);
        return conclude(CUDA_OPT_GRADIENT_UNDECIDED, *unclear);
    }
    if (known_ == 0) {
        message.set("f is not finite near x, so that there are no differences");
        return conclude(CUDA_OPT_GRADIENT_UNDECIDED, {});
    }
    const SlopeEstimate &e = estimates_[0];
    if (points_ > 2 && single_points_ == points_ && needs_single_) {
        message.set("g is computed in single precision: every component at each of %lld points is a number of single "
                    "precision, although x is double; along one direction g'd is %.10g and the difference %.10g",
                    shown(points_), e.supplied, e.difference);
        return conclude(CUDA_OPT_GRADIENT_SINGLE_PRECISION, e);
    }
    Message unchecked;
    unchecked.set("; the components of %lld variables that the bounds fix were not checked", shown(moved_.fixed.v));
    message.set("g agrees with differences of f along %d directions; along the first g'd is %.10g and the difference "
                "%.10g, with an error of about %.2g%s",
                known_, e.supplied, e.difference, e.error, moved_.fixed.v > 0 ? unchecked.text() : "");
    return conclude(CUDA_OPT_GRADIENT_CONSISTENT, e);
}

// Sets the verdict if g is wrong. worst: the direction with the largest relative residual.
int GradientCheck::reject(const SlopeEstimate &worst) {
    double least_factor = HUGE_VAL, most_factor = -HUGE_VAL;
    for (const SlopeEstimate *e = estimates_; e != estimates_ + known_; e++) {
        if (!(std::fabs(e->difference) > 100 * e->error)) continue;
        least_factor = std::min(least_factor, e->supplied / e->difference);
        most_factor = std::max(most_factor, e->supplied / e->difference);
    }
    const bool one_factor = least_factor <= most_factor && base_.size.v > 0 &&
                            most_factor - least_factor <= 0.01 * std::fabs(most_factor - 1);
    if (one_factor) {
        const bool sign = std::fabs(most_factor + 1) <= 0.01;
        Message fault;
        if (sign) fault.set("has the wrong sign");
        else fault.set("is %.5g times the gradient of f", (least_factor + most_factor) / 2);
        message.set("g %s: along one direction g'd is %.7g, but f changes by %.7g per step, and so along all %d",
                    fault.text(), worst.supplied, worst.difference, known_);
        return conclude(sign ? CUDA_OPT_GRADIENT_WRONG_SIGN : CUDA_OPT_GRADIENT_WRONG_FACTOR, worst);
    }
    if (!find_component_) {
        message.set("g is not the gradient of f: along one direction g'd is %.7g, but f changes by %.7g per step, "
                    "with an error of about %.2g; a component of g is wrong or 0",
                    worst.supplied, worst.difference, worst.error);
        return conclude(CUDA_OPT_GRADIENT_WRONG_COMPONENT, worst);
    }
    // Bisects the range of variables. The residual along a direction d is the sum over i of d_i times the error of g_i.
    // The half of the range with the larger part of the residual therefore contains a wrong component.
    end_ = n_;
    best_sample_ = std::min(worst.sample, most_slope_samples - 2);
    direction_ = random_direction(1);
    return begin_direction(best_sample_, 2);
}

// Continues the bisection with an estimate of the slope along a direction that is nonzero in a range of variables only.
// The first of these ranges contains all variables, the later ones are the first half of the range that remains, and
// the last contains one variable.
int GradientCheck::narrow(const SlopeEstimate &estimate) {
    if (direction_.end == end_) {
        residual_ = estimate.residual();
    } else {
        const double left = estimate.residual(), right = residual_ - left;
        const bool in_left = std::fabs(left) >= std::fabs(right);
        residual_ = in_left ? left : right;
        (in_left ? end_ : direction_.first) = direction_.end;
    }
    const int64_t first = direction_.first, remain = end_ - first;
    if (remain == 1 && direction_.end == end_) {
        // The direction has one nonzero element, whose size is the displacement divided by t.
        const SlopeSample &sample = samples_[sample_count_ - 1];
        const double size = sample.displacement / sample.t;
        result = {CUDA_OPT_GRADIENT_WRONG_COMPONENT, first, estimate.supplied / size, estimate.difference / size,
                  std::fabs(estimate.error / size)};
        message.set(
            "component %lld (counted from 0) of g is %.7g, but differences of f give %.7g, with an error of about "
            "%.2g; it is the worst, or one of several that are wrong",
            shown(first), result.supplied, result.difference, result.error);
        return finish(0);
    }
    direction_.end = remain == 1 ? end_ : first + remain / 2;
    return remain == 1 ? begin_direction(std::max(0, best_sample_ - 1), 4) : begin_direction(best_sample_, 2);
}

} // namespace cudaopt
