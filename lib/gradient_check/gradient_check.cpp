#include "gradient_check/gradient_check.hpp"

#include <algorithm>
#include <cmath>

#include "cuda_opt.h"

namespace cudaopt {

GradientCheck::GradientCheck(std::unique_ptr<CheckSweeps> sweeps, const UserArrays &arrays, int64_t n, int bits,
                             int64_t seed, bool find_component, int threads, void *stream)
    : sweeps_(std::move(sweeps)), arrays_(arrays), n_(n), bits_(bits), seed_(seed), find_component_(find_component),
      threads_(threads), stream_(stream) {}

CheckDirection GradientCheck::random_direction(int k, int64_t first, int64_t end) const {
    return {false, static_cast<uint64_t>(seed_) * 0x2545f4914f6cdd1du + static_cast<uint64_t>(k), first, end};
}

int GradientCheck::evaluate(const CheckDirection &direction, double t, Stage stage) {
    moved_ = sweeps_->move(direction, gradient_size_, t);
    stage_ = stage;
    return CUDA_OPT_EVALUATE_FG;
}

int GradientCheck::finish(int code) {
    sweeps_->restore_x();
    stage_ = Stage::ended;
    return code;
}

bool GradientCheck::is_finite_here(const LookRecord &look, Message &message) const {
    if (std::isfinite(look.f.v) && look.not_finite.v == 0) return true;
    message.set("f and g cannot be evaluated at x: f = %g, and %lld of %lld components of g are NaN or infinite",
                std::isnan(look.f.v) ? std::fabs(look.f.v) : look.f.v, static_cast<long long>(look.not_finite.v),
                static_cast<long long>(n_));
    return false;
}

// Collects evidence of a g that is computed in single precision although x is double. It counts the points at which g
// differs from the gradient at the base point, and those among them at which every component of g is exactly
// representable in single precision.
void GradientCheck::note_precision(const LookRecord &look) {
    if (bits_ != 64 || look.not_finite.v > 0 || !(look.change.v > 0)) return;
    points_++;
    single_points_ += look.not_single.v == 0;
    needs_single_ = needs_single_ || look.not_short.v > 0;
}

int GradientCheck::begin_direction(const CheckDirection &direction, int first, int count) {
    direction_ = direction;
    first_sample_ = first;
    sample_count_ = count;
    at_sample_ = 0;
    return next_step();
}

int GradientCheck::next_step() {
    samples_[at_sample_].t = longest_check_step * std::pow(10.0, -(first_sample_ + at_sample_));
    return evaluate(direction_, samples_[at_sample_].t, Stage::plus);
}

int GradientCheck::resume(Message &message) {
    const CheckDirection away = random_direction(0, 0, n_);
    switch (stage_) {
    case Stage::start: {
        sweeps_->begin(arrays_, threads_, stream_, cancellation_);
        const int task = evaluate(away, 0, Stage::at_base);
        if (moved_.improper.v == 0) return task;
        message.set("%lld components of x are not finite, or have bounds that cross, or a scale that is not positive "
                    "and finite",
                    static_cast<long long>(moved_.improper.v));
        return finish(CUDA_OPT_IMPROPER_INPUT);
    }
    case Stage::at_base:
        if (!is_finite_here(sweeps_->look(true), message)) return finish(CUDA_OPT_NOT_FINITE);
        fixed_ = moved_.fixed.v;
        return evaluate(away, 0.01, Stage::far);
    case Stage::far: return evaluate(away, 0, Stage::back);
    case Stage::back: f_before_ = sweeps_->look(true).f.v; return evaluate(away, 0, Stage::repeated);
    case Stage::repeated: {
        const LookRecord look = sweeps_->look(true);
        if (!is_finite_here(look, message)) return finish(CUDA_OPT_NOT_FINITE);
        f0_ = look.f.v;
        change_ = look.change.v;
        gradient_size_ = look.size.v;
        return next_direction(message);
    }
    case Stage::plus: {
        const LookRecord look = sweeps_->look(false);
        SlopeSample &sample = samples_[at_sample_];
        sample.f_plus = look.f.v;
        sample.slope_plus = moved_.slope.v;
        sample.gross = std::sqrt(moved_.squares.v) / sample.t;
        note_precision(look);
        displacement_ = moved_.displacement.v;
        return evaluate(direction_, -sample.t, Stage::minus);
    }
    case Stage::minus: {
        const LookRecord look = sweeps_->look(false);
        samples_[at_sample_].f_minus = look.f.v;
        samples_[at_sample_].slope_minus = moved_.slope.v;
        note_precision(look);
        if (++at_sample_ < sample_count_) return next_step();
        return take_estimate(estimate_slope(samples_, sample_count_, f0_), message);
    }
    case Stage::ended: break;
    }
    return 0;
}

int GradientCheck::take_estimate(const SlopeEstimate &estimate, Message &message) {
    if (narrowing_) return narrow(estimate, message);
    if (estimate.known) estimates_[known_++] = estimate;
    return next_direction(message);
}

int GradientCheck::next_direction(Message &message) {
    const int count = bits_ == 32 ? most_slope_samples / 2 + 1 : most_slope_samples;
    // If the gradient is 0, the direction -g does not exist.
    if (direction_count_ == 0 && !(gradient_size_ > 0)) direction_count_++;
    if (direction_count_ == directions) return judge(message);
    const int k = direction_count_++;
    CheckDirection direction = random_direction(k, 0, n_);
    direction.along_gradient = k == 0;
    return begin_direction(direction, 0, count);
}

// Compares the slopes along all directions and sets the verdict. The gradient is called wrong along a direction if the
// residual, the difference of f minus g'd, is far above the error of the difference and not small relative to the
// slope.
int GradientCheck::judge(Message &message) {
    const SlopeEstimate *worst = nullptr, *kink = nullptr, *unclear = nullptr;
    double least_factor = HUGE_VAL, most_factor = -HUGE_VAL;
    int wrong = 0;
    for (const SlopeEstimate *e = estimates_; e != estimates_ + known_; e++) {
        const double size = std::max({std::fabs(e->supplied), std::fabs(e->difference), e->gross});
        const double residual = std::fabs(e->residual());
        if (e->kink && !kink) kink = e;
        // The components of g have rounding errors relative to the size of their terms. They matter near a stationary
        // point, where the terms cancel.
        const bool is_wrong =
            residual > 10 * e->error && residual > rounding() * size && residual > rounding() * rounding() * e->longest;
        // The slope is uncertain if its error is large both relative to the slope and relative to e->longest, the
        // largest change of f per unit of t at the longest step. Near a stationary point the slope is 0, so that the
        // first test alone would call every slope there uncertain.
        if (!is_wrong && e->error > 0.01 * size && e->error > 1e-6 * e->longest) unclear = e;
        wrong += is_wrong;
        if (is_wrong && (!worst || residual / size > std::fabs(worst->residual()) /
                                                         std::max({std::fabs(worst->supplied),
                                                                   std::fabs(worst->difference), worst->gross})))
            worst = e;
        if (std::fabs(e->difference) > 100 * e->error) {
            least_factor = std::min(least_factor, e->supplied / e->difference);
            most_factor = std::max(most_factor, e->supplied / e->difference);
        }
    }
    const auto note = [&](int verdict, const SlopeEstimate &e) {
        result_ = {verdict, -1, e.supplied, e.difference, e.error, e.step};
    };
    // The gradient of a parallel evaluation may depend on the order of summation, so that it need not repeat bitwise.
    const bool repeats = change_ <= (bits_ == 32 ? 1e-4 : 1e-6) * gradient_size_;
    if (!repeats) {
        result_ = {CUDA_OPT_GRADIENT_OF_ANOTHER_POINT, -1, change_, gradient_size_, 0, 0};
        message.set("g is not a function of x alone: two evaluations at the same x in succession gave gradients that "
                    "differ by %g in a component, where the largest is %g%s; %s",
                    change_, gradient_size_, f_before_ == f0_ ? ", and the same f" : "",
                    wrong == 0 ? "the second one agrees with differences of f, so that g is that of the point before"
                               : "g may be that of a point before, or be added to and not set");
        return finish(0);
    }
    if (kink) {
        note(CUDA_OPT_GRADIENT_KINK, *kink);
        message.set("f has a kink at x: the differences to both sides along one direction are %.7g and %.7g, down to a "
                    "step of %g; g'd is %.7g",
                    kink->left, kink->right, kink->step, kink->supplied);
        return finish(0);
    }
    if (wrong == 0) {
        if (fixed_ == n_) {
            result_ = {CUDA_OPT_GRADIENT_UNDECIDED, -1, 0, 0, 0, 0};
            message.set("g was not checked, because the bounds fix all %lld variables", static_cast<long long>(n_));
            return finish(0);
        }
        if (known_ == 0 || unclear) {
            if (unclear) note(CUDA_OPT_GRADIENT_UNDECIDED, *unclear);
            else result_ = {CUDA_OPT_GRADIENT_UNDECIDED, -1, 0, 0, 0, 0};
            if (unclear)
                message.set("differences of f do not settle: along one direction g'd is %.7g and the best difference "
                            "%.7g with an error of about %.2g; f has errors, or varies at a smaller scale",
                            unclear->supplied, unclear->difference, unclear->error);
            else message.set("f is not finite near x, so that there are no differences");
            return finish(0);
        }
        const SlopeEstimate &e = estimates_[0];
        if (points_ > 2 && single_points_ == points_ && needs_single_) {
            note(CUDA_OPT_GRADIENT_SINGLE_PRECISION, e);
            message.set(
                "g is computed in single precision: every component at each of %lld points is a number of single "
                "precision, although x is double; along one direction g'd is %.10g and the difference %.10g",
                static_cast<long long>(points_), e.supplied, e.difference);
            return finish(0);
        }
        note(CUDA_OPT_GRADIENT_CONSISTENT, e);
        Message unchecked;
        unchecked.set("; the components of %lld variables that the bounds fix were not checked",
                      static_cast<long long>(fixed_));
        message.set(
            "g agrees with differences of f along %d directions; along the first g'd is %.10g and the difference "
            "%.10g, with an error of about %.2g%s",
            known_, e.supplied, e.difference, e.error, fixed_ > 0 ? unchecked.text() : "");
        return finish(0);
    }
    const bool one_factor = least_factor <= most_factor && gradient_size_ > 0 &&
                            most_factor - least_factor <= 0.01 * std::fabs(most_factor - 1);
    if (one_factor) {
        const bool sign = std::fabs(most_factor + 1) <= 0.01;
        note(sign ? CUDA_OPT_GRADIENT_WRONG_SIGN : CUDA_OPT_GRADIENT_WRONG_FACTOR, *worst);
        if (sign)
            message.set("g has the wrong sign: along one direction g'd is %.7g, but f changes by %.7g per step, and so "
                        "along all %d",
                        worst->supplied, worst->difference, known_);
        else
            message.set("g is %.5g times the gradient of f: along one direction g'd is %.7g, but f changes by %.7g per "
                        "step, and so along all %d",
                        (least_factor + most_factor) / 2, worst->supplied, worst->difference, known_);
        return finish(0);
    }
    note(CUDA_OPT_GRADIENT_WRONG_COMPONENT, *worst);
    message.set("g is not the gradient of f: along one direction g'd is %.7g, but f changes by %.7g per step, with an "
                "error of about %.2g; a component of g is wrong or 0",
                worst->supplied, worst->difference, worst->error);
    if (!find_component_) return finish(0);
    // Bisects the range of variables. The residual along a direction d is the sum over i of d_i times the error of g_i.
    // The half of the range with the larger part of the residual therefore contains a wrong component.
    narrowing_ = true;
    first_ = 0, end_ = n_;
    best_sample_ = std::min(worst->sample, most_slope_samples - 2);
    return begin_direction(random_direction(1, 0, n_), best_sample_, 2);
}

// Continues the bisection with an estimate of the slope along a direction that is nonzero in a range of variables only.
// The first of these ranges contains all variables, the later ones are the first half of the range that remains, and
// the last contains one variable.
int GradientCheck::narrow(const SlopeEstimate &estimate, Message &message) {
    if (direction_.end - direction_.first == n_ && n_ > 1) {
        residual_ = estimate.residual();
    } else if (end_ - first_ > 1) {
        const double left = estimate.residual(), right = residual_ - left;
        const bool in_left = std::fabs(left) >= std::fabs(right);
        residual_ = in_left ? left : right;
        (in_left ? end_ : first_) = middle_;
    }
    if (end_ - first_ == 1 && direction_.first == first_ && direction_.end == end_) {
        // The direction has one nonzero element, whose size is the displacement divided by t.
        const double size = displacement_ / samples_[sample_count_ - 1].t;
        result_.component = first_;
        result_.supplied = estimate.supplied / size;
        result_.difference = estimate.difference / size;
        result_.error = std::fabs(estimate.error / size);
        result_.step = std::fabs(size) * estimate.step;
        message.set(
            "component %lld (counted from 0) of g is %.7g, but differences of f give %.7g, with an error of about "
            "%.2g; it is the worst, or one of several that are wrong",
            static_cast<long long>(first_), result_.supplied, result_.difference, result_.error);
        return finish(0);
    }
    if (end_ - first_ == 1) {
        middle_ = end_;
        CheckDirection one = direction_;
        one.first = first_, one.end = end_;
        return begin_direction(one, std::max(0, best_sample_ - 1), 4);
    }
    middle_ = first_ + (end_ - first_) / 2;
    CheckDirection half = direction_;
    half.first = first_, half.end = middle_;
    return begin_direction(half, best_sample_, 2);
}

} // namespace cudaopt
