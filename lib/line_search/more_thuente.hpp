// The line search of Moré and Thuente, ACM TOMS 20 (1994) 286: a step t with
//
//     phi(t) <= phi(0) + ftol t phi'(0)    (sufficient decrease)    and    |phi'(t)| <= gtol |phi'(0)|    (curvature).
//
// It sees scalars only and evaluates nothing: start() proposes the first step, update() takes phi and phi' there and
// either ends the search or proposes the next. All its state is in the struct. Every step proposed is finite and in
// [step_min, step_max], whatever phi and phi' are, as long as they are finite.
#pragma once

#include "dense/loaded.hpp"
#include "dense/numbers.hpp"

namespace cudaopt {

enum class SearchVerdict {
    evaluate,           // evaluate phi at step() and call update()
    converged,          // both conditions hold
    interval_too_small, // the interval of uncertainty is below xtol: the best step is as good as it gets
    at_minimum_step,    // step() is stpmin and still too long
    at_maximum_step,    // step() is stpmax, with sufficient decrease and phi still falling
    rounding_errors     // no progress is possible within the interval
};

struct SearchTolerances {
    double ftol, gtol, xtol, step_min, step_max;
};

class MoreThuente {
  public:
    // phi(0), phi'(0) < 0, the first step in [step_min, step_max].
    CUDA_OPT_HD void start(double phi0, double slope0, double first_step, const SearchTolerances &tolerances);
    CUDA_OPT_HD SearchVerdict update(double phi, double slope);
    // phi is not finite at step(): propose a step nearer to the best one, before any interpolation sees the value,
    // and stay below the failed step from now on.
    CUDA_OPT_HD void cut();

    // Whether phi and slope at step() meet both conditions, whatever step_max is.
    CUDA_OPT_HD bool meets_both(double phi, double slope) const {
        return phi <= phi0_ + step_ * (tolerances_.ftol * slope0_) && std::fabs(slope) <= tolerances_.gtol * -slope0_;
    }

    // Whether phi and slope at step() are, bit for bit, those at an end of the interval that is at most so far away,
    // and the next step will be shorter.
    CUDA_OPT_HD bool repeats_an_end(double phi, double slope, double distance) const {
        const auto is_same = [&](const Point &end) {
            return phi == end.phi && slope == end.slope && std::fabs(step_ - end.step) <= distance;
        };
        return bracketed_ && (is_same(best_) || is_same(other_));
    }

    // step_max is known later than the search began, and is at least what it was taken to be: the first step. It has
    // not mattered so far.
    CUDA_OPT_HD void set_step_max(double step_max);
    // Whether an update with phi and slope may come out otherwise than with the step_max that was taken, if it is as
    // long as that, or less. Each choice of an update goes the same way from some step_max on: what both ends agree on
    // holds between them.
    CUDA_OPT_HD bool next_step_depends_on_step_max(double step_max, double phi, double slope) const;

    // Validates an object that was read as bytes.
    bool is_consistent() const { return dense::are_bools(bracketed_, modified_, any_finite_, last_width_is_first_); }

    CUDA_OPT_HD double step() const { return step_; }
    CUDA_OPT_HD double step_max() const { return tolerances_.step_max; }
    // The lowest phi of all updates, and where; phi(0) at 0 before the first.
    CUDA_OPT_HD double lowest_step() const { return lowest_.step; }
    CUDA_OPT_HD double lowest_phi() const { return lowest_.phi; }

  private:
    struct Point {
        double step, phi, slope;
    };
    struct Cubic {
        double share; // of the way from a to b
        double gamma; // the root in its formula
    };
    CUDA_OPT_HD static Cubic cubic(const Point &a, const Point &b, bool clip_radicand = false);
    CUDA_OPT_HD void interpolate(Point &best, Point &other, double phi, double slope, double step_min, double step_max);

    SearchTolerances tolerances_{};
    double phi0_ = 0, slope0_ = 0, step_ = 0;
    Point best_{}, other_{}; // endpoints of the interval of uncertainty; best_ has the least phi, or psi in stage 1
    Point lowest_{};
    double lower_ = 0, upper_ = 0;      // bounds of the next step
    double width_ = 0, last_width_ = 0; // lengths of the interval, now and two updates ago
    bool bracketed_ = false;
    bool modified_ = true; // stage 1: work with psi(t) = phi(t) - phi(0) - ftol t phi'(0)
    bool any_finite_ = false;
    bool last_width_is_first_ = false; // after the first update, of a minimum that is bracketed: step_max - step_min
};

namespace line_search {

constexpr double extrapolate_least = 1.1, extrapolate_most = 4.0; // factors of the last move, before bracketing
constexpr double bracket_shrink = 0.66;                           // demanded over two updates (section 4 of the paper)
constexpr double cut_factor = 0.25;

} // namespace line_search

// The minimiser of the cubic through a and b. All such formulas scale by the largest magnitude so that the radicand
// neither overflows nor underflows.
CUDA_OPT_HD inline MoreThuente::Cubic MoreThuente::cubic(const Point &a, const Point &b, bool clip_radicand) {
    const double theta = 3 * (a.phi - b.phi) / (b.step - a.step) + a.slope + b.slope;
    const double scale = greatest(greatest(std::fabs(theta), std::fabs(a.slope)), std::fabs(b.slope));
    double radicand = (theta / scale) * (theta / scale) - (a.slope / scale) * (b.slope / scale);
    if (clip_radicand) radicand = greatest(0.0, radicand);
    const double gamma = (b.step < a.step ? -1 : 1) * scale * std::sqrt(radicand);
    const double p = (gamma - a.slope) + theta, q = ((gamma - a.slope) + gamma) + b.slope;
    return {p / q, gamma};
}

CUDA_OPT_HD_INLINE void MoreThuente::start(double phi0, double slope0, double first_step,
                                           const SearchTolerances &tolerances) {
    *this = MoreThuente{};
    tolerances_ = tolerances;
    phi0_ = phi0;
    slope0_ = slope0;
    step_ = first_step;
    best_ = other_ = lowest_ = {0, phi0, slope0};
    width_ = tolerances.step_max - tolerances.step_min;
    last_width_ = 2 * width_;
    lower_ = 0;
    upper_ = step_ + line_search::extrapolate_most * step_;
}

CUDA_OPT_HD_INLINE SearchVerdict MoreThuente::update(double phi, double slope) {
    const double slope_test = tolerances_.ftol * slope0_;
    const double phi_test = phi0_ + step_ * slope_test;
    last_width_is_first_ = !any_finite_;
    any_finite_ = true;
    if (phi < lowest_.phi) lowest_ = {step_, phi, slope};
    if (modified_ && phi <= phi_test && slope >= 0) modified_ = false;

    if (meets_both(phi, slope)) return SearchVerdict::converged;
    if (step_ == tolerances_.step_min && (phi > phi_test || slope >= slope_test)) return SearchVerdict::at_minimum_step;
    if (step_ == tolerances_.step_max && phi <= phi_test && slope <= slope_test) return SearchVerdict::at_maximum_step;
    if (bracketed_ && upper_ - lower_ <= tolerances_.xtol * upper_) return SearchVerdict::interval_too_small;
    if (bracketed_ && (step_ <= lower_ || step_ >= upper_)) return SearchVerdict::rounding_errors;

    if (modified_ && phi <= best_.phi && phi > phi_test) {
        // psi has the sign that phi lacks: it is lower than at best_, phi is not low enough (eq. 2.1 and section 3).
        Point best{best_.step, best_.phi - best_.step * slope_test, best_.slope - slope_test};
        Point other{other_.step, other_.phi - other_.step * slope_test, other_.slope - slope_test};
        interpolate(best, other, phi - step_ * slope_test, slope - slope_test, lower_, upper_);
        best_ = {best.step, best.phi + best.step * slope_test, best.slope + slope_test};
        other_ = {other.step, other.phi + other.step * slope_test, other.slope + slope_test};
    } else {
        interpolate(best_, other_, phi, slope, lower_, upper_);
    }

    // Values near the ends of the range overflow in the interpolation: halve the interval, or extrapolate as far as may
    // be.
    if (!is_finite(step_)) step_ = bracketed_ ? best_.step + 0.5 * (other_.step - best_.step) : upper_;
    if (bracketed_) {
        if (std::fabs(other_.step - best_.step) >= line_search::bracket_shrink * last_width_)
            step_ = best_.step + 0.5 * (other_.step - best_.step);
        last_width_ = width_;
        width_ = std::fabs(other_.step - best_.step);
        lower_ = least(best_.step, other_.step);
        upper_ = greatest(best_.step, other_.step);
    } else {
        lower_ = step_ + line_search::extrapolate_least * (step_ - best_.step);
        upper_ = step_ + line_search::extrapolate_most * (step_ - best_.step);
    }
    step_ = least(greatest(step_, tolerances_.step_min), tolerances_.step_max);

    // No step strictly inside the interval is left: end with the best.
    if (bracketed_ && (step_ <= lower_ || step_ >= upper_ || upper_ - lower_ <= tolerances_.xtol * upper_))
        step_ = best_.step;
    return SearchVerdict::evaluate;
}

CUDA_OPT_HD_CALL inline void MoreThuente::set_step_max(double step_max) {
    if (!any_finite_) {
        SearchTolerances tolerances = tolerances_; // a copy, since start() clears its own
        tolerances.step_max = step_max;
        start(phi0_, slope0_, step_, tolerances);
    } else if (last_width_is_first_) { // within the bracket no step is the longest
        last_width_ = step_max - tolerances_.step_min;
    }
}

CUDA_OPT_HD_CALL inline bool MoreThuente::next_step_depends_on_step_max(double step_max, double phi,
                                                                        double slope) const {
    MoreThuente as_taken = *this, longer = *this;
    longer.set_step_max(step_max);
    const SearchVerdict verdict = as_taken.update(phi, slope);
    return longer.update(phi, slope) != verdict ||
           (verdict == SearchVerdict::evaluate && (!as_taken.bracketed_ || as_taken.step_ != longer.step_));
}

CUDA_OPT_HD_CALL inline void MoreThuente::cut() {
    const double failed = step_;
    step_ = best_.step + line_search::cut_factor * (failed - best_.step);
    if (failed > best_.step) {
        tolerances_.step_max = least(tolerances_.step_max, 0.5 * (step_ + failed));
        upper_ = least(upper_, failed);
    }
    if (any_finite_) return;
    SearchTolerances tolerances = tolerances_; // a copy, since start() clears its own
    // stpmin is for steps that can be evaluated: held to it, the cut would ask for the failed step again.
    step_ = greatest(step_, smallest_normal);
    tolerances.step_min = least(tolerances.step_min, step_);
    start(phi0_, slope0_, step_, tolerances);
}

// The trial step and the new interval, section 4 of the paper: four cases by the trial's phi and slope against best.
CUDA_OPT_HD_CALL inline void MoreThuente::interpolate(Point &best, Point &other, double phi, double slope,
                                                      double step_min, double step_max) {
    const double trial = step_;
    const Point at{trial, phi, slope};
    const bool higher = phi > best.phi, opposite = slope * (best.slope / std::fabs(best.slope)) < 0,
               flatter = std::fabs(slope) < std::fabs(best.slope), with_secant = !higher && (opposite || flatter);
    // What several cases have is formed before they part: so do threads side by side, with searches of their own.
    Cubic c{0, 0};
    double next, minimiser = 0, secant = 0;
    if (higher || with_secant || bracketed_) {
        const Point from = higher ? best : at, to = higher ? at : with_secant ? best : other;
        c = cubic(from, to, with_secant && !opposite);
        minimiser = from.step + c.share * (to.step - from.step);
    }
    if (with_secant) secant = trial + (slope / (slope - best.slope)) * (best.step - trial);

    if (higher) {
        // Case 1: higher. The minimum is bracketed; the cubic step if nearer to best than the quadratic, else the mean.
        const double secant_slope = (best.phi - phi) / (trial - best.step);
        const double quadratic = best.step + ((best.slope / (secant_slope + best.slope)) / 2) * (trial - best.step);
        next = std::fabs(minimiser - best.step) < std::fabs(quadratic - best.step)
                   ? minimiser
                   : minimiser + (quadratic - minimiser) / 2;
        bracketed_ = true;
    } else if (opposite) {
        // Case 2: lower, slopes of opposite sign. Bracketed; the farther of the cubic and the secant step.
        next = std::fabs(minimiser - trial) > std::fabs(secant - trial) ? minimiser : secant;
        bracketed_ = true;
    } else if (flatter) {
        // Case 3: lower, same sign, flatter. The cubic step counts only if it goes on in this direction to a minimum.
        const double onward = c.share < 0 && c.gamma != 0 ? minimiser : trial > best.step ? step_max : step_min;
        if (bracketed_) {
            next = std::fabs(onward - trial) < std::fabs(secant - trial) ? onward : secant;
            const double limit = trial + line_search::bracket_shrink * (other.step - trial);
            next = trial > best.step ? least(limit, next) : greatest(limit, next);
        } else {
            next = std::fabs(onward - trial) > std::fabs(secant - trial) ? onward : secant;
            next = greatest(step_min, least(step_max, next));
        }
    } else if (bracketed_) {
        // Case 4: lower, same sign, not flatter.
        next = minimiser;
    } else {
        next = trial > best.step ? step_max : step_min;
    }

    if (higher) {
        other = at;
    } else {
        if (opposite) other = best;
        best = at;
    }
    step_ = next;
}

} // namespace cudaopt
