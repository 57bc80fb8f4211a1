// This header implements the line search of Moré and Thuente, ACM TOMS 20 (1994) 286. It finds a step t with
//
//     phi(t) <= phi(0) + ftol t phi'(0)    (sufficient decrease)    and    |phi'(t)| <= gtol |phi'(0)|    (curvature).
//
// The line search works on scalars only and evaluates no function. The function start() proposes the first step. The
// function update() receives phi and phi' at the proposed step, and either ends the line search or proposes the next
// step. The struct contains the whole state. If phi and phi' are finite, every proposed step is finite and in
// [step_min, step_max].
#pragma once

#include "dense/numbers.hpp"

namespace cudaopt {

// The values are the info codes of the 2013 manual of L-BFGS for GPU-CUDA. Results::line_search_info contains the last
// one. It is that of `evaluate` if a limit of evaluations ended the line search.
enum class SearchVerdict {
    converged = 1,          // both conditions are satisfied
    interval_too_small = 2, // the interval of uncertainty is shorter than xtol allows; step() is the best step
    evaluate = 3,           // the caller must evaluate phi at step() and call update()
    at_minimum_step = 4,    // step() is step_min, which is still too long
    at_maximum_step = 5,    // step() is step_max, phi has decreased sufficiently and is still falling
    rounding_errors = 6     // rounding errors prevent further progress within the interval
};

struct SearchTolerances {
    double ftol, gtol, xtol, step_min, step_max;
};

class MoreThuente {
  public:
    // Starts the line search. It requires phi'(0) < 0 and a first step in [step_min, step_max].
    CUDA_OPT_HD_INLINE void start(double phi0, double slope0, double first_step, SearchTolerances tolerances) {
        *this = MoreThuente{};
        tolerances_ = tolerances;
        phi0_ = phi0;
        slope0_ = slope0;
        step_ = first_step;
        best_ = other_ = lowest_ = {0, phi0, slope0};
        width_ = tolerances.step_max - tolerances.step_min;
        last_width_ = 2 * width_;
        lower_ = 0;
        upper_ = step_ + extrapolate_most * step_;
    }

    CUDA_OPT_HD_INLINE SearchVerdict update(double phi, double slope) {
        const double slope_test = tolerances_.ftol * slope0_;
        const double phi_test = phi0_ + step_ * slope_test;
        last_width_is_first_ = !any_finite_;
        any_finite_ = true;
        if (phi < lowest_.phi) lowest_ = {step_, phi, slope};
        if (modified_ && phi <= phi_test && slope >= 0) modified_ = false;

        if (meets_both(phi, slope)) return SearchVerdict::converged;
        if (step_ == tolerances_.step_min && (phi > phi_test || slope >= slope_test))
            return SearchVerdict::at_minimum_step;
        if (step_ == tolerances_.step_max && phi <= phi_test && slope <= slope_test)
            return SearchVerdict::at_maximum_step;
        if (bracketed_ && upper_ - lower_ <= tolerances_.xtol * upper_) return SearchVerdict::interval_too_small;
        if (bracketed_ && (step_ <= lower_ || step_ >= upper_)) return SearchVerdict::rounding_errors;

        if (modified_ && phi <= best_.phi && phi > phi_test) {
            // At this step phi is lower than at best_, but the sufficient decrease condition fails. The interpolation
            // therefore replaces phi by psi(t) = phi(t) - phi(0) - ftol t phi'(0), which is positive if and only if the
            // condition fails (eq. 2.1, section 3). The constant phi(0) is omitted.
            Point best{best_.step, best_.phi - best_.step * slope_test, best_.slope - slope_test};
            Point other{other_.step, other_.phi - other_.step * slope_test, other_.slope - slope_test};
            interpolate(best, other, phi - step_ * slope_test, slope - slope_test, lower_, upper_);
            best_ = {best.step, best.phi + best.step * slope_test, best.slope + slope_test};
            other_ = {other.step, other.phi + other.step * slope_test, other.slope + slope_test};
        } else {
            interpolate(best_, other_, phi, slope, lower_, upper_);
        }

        // If phi is close to the overflow threshold, the interpolation can overflow. The interval is then bisected or,
        // before the minimum is bracketed, the step is extrapolated as far as allowed.
        if (!is_finite(step_)) step_ = bracketed_ ? best_.step + 0.5 * (other_.step - best_.step) : upper_;
        if (bracketed_) {
            if (std::fabs(other_.step - best_.step) >= bracket_shrink * last_width_)
                step_ = best_.step + 0.5 * (other_.step - best_.step);
            last_width_ = width_;
            width_ = std::fabs(other_.step - best_.step);
            lower_ = least(best_.step, other_.step);
            upper_ = greatest(best_.step, other_.step);
        } else {
            lower_ = step_ + extrapolate_least * (step_ - best_.step);
            upper_ = step_ + extrapolate_most * (step_ - best_.step);
        }
        step_ = least(greatest(step_, tolerances_.step_min), tolerances_.step_max);

        // If no step strictly inside the interval is left, the line search ends at the best step.
        if (bracketed_ && (step_ <= lower_ || step_ >= upper_ || upper_ - lower_ <= tolerances_.xtol * upper_))
            step_ = best_.step;
        return SearchVerdict::evaluate;
    }

    // Proposes a step closer to the best one. The caller uses this function if phi is not finite at step(). All later
    // steps are shorter than the failed step, and its undefined value is not used in any interpolation.
    CUDA_OPT_HD_CALL void cut() {
        const double failed = step_;
        step_ = best_.step + cut_factor * (failed - best_.step);
        if (failed > best_.step) {
            tolerances_.step_max = least(tolerances_.step_max, 0.5 * (step_ + failed));
            upper_ = least(upper_, failed);
        }
        if (any_finite_) return;
        // The shortened step may be less than step_min, which is reduced accordingly. If step_min were enforced, the
        // shortened step could be the failed step again.
        step_ = greatest(step_, smallest_normal);
        tolerances_.step_min = least(tolerances_.step_min, step_);
        start(phi0_, slope0_, step_, tolerances_);
    }

    // Returns whether phi and slope at step() satisfy both conditions, sufficient decrease and curvature, whatever
    // step_max is.
    CUDA_OPT_HD bool meets_both(double phi, double slope) const {
        return phi <= phi0_ + step_ * (tolerances_.ftol * slope0_) && std::fabs(slope) <= tolerances_.gtol * -slope0_;
    }

    // Returns whether step() repeats an endpoint of the interval of uncertainty. This means that phi and slope are
    // bitwise equal to those of the endpoint, and that step() is within `distance` of it. The next step would be even
    // closer to the endpoint.
    CUDA_OPT_HD bool repeats_an_end(double phi, double slope, double distance) const {
        const auto is_same = [&](const Point &end) {
            return phi == end.phi && slope == end.slope && std::fabs(step_ - end.step) <= distance;
        };
        return bracketed_ && (is_same(best_) || is_same(other_));
    }

    // Sets step_max after start(). Until then step_max equals the first step, and the new value must not be smaller.
    // The caller must ensure that the old value has not affected the line search (next_step_depends_on_step_max()).
    CUDA_OPT_HD_CALL void set_step_max(double step_max) {
        if (!any_finite_) {
            tolerances_.step_max = step_max;
            start(phi0_, slope0_, step_, tolerances_);
            // If the first update has bracketed the minimum, last_width_ is the only member that still depends on
            // step_max.
        } else if (last_width_is_first_) {
            last_width_ = step_max - tolerances_.step_min;
        }
    }

    // Returns whether the result of update(phi, slope) may change if step_max is increased to any value up to the
    // argument. Each decision in update() depends monotonically on step_max. It is therefore sufficient to compare the
    // results for the present step_max and for the argument.
    CUDA_OPT_HD_CALL bool next_step_depends_on_step_max(double step_max, double phi, double slope) const {
        MoreThuente as_taken = *this, longer = *this;
        longer.set_step_max(step_max);
        const SearchVerdict verdict = as_taken.update(phi, slope);
        return longer.update(phi, slope) != verdict ||
               (verdict == SearchVerdict::evaluate && (!as_taken.bracketed_ || as_taken.step_ != longer.step_));
    }

    // Validates an object that was loaded as bytes.
    bool is_consistent() const { return dense::are_bools(bracketed_, modified_, any_finite_, last_width_is_first_); }

    CUDA_OPT_HD double step() const { return step_; }
    CUDA_OPT_HD double step_max() const { return tolerances_.step_max; }
    // The function lowest_phi() returns the lowest phi of all updates, and lowest_step() the step at which it was
    // found. Before the first update the results are phi(0) and 0.
    CUDA_OPT_HD double lowest_step() const { return lowest_.step; }
    CUDA_OPT_HD double lowest_phi() const { return lowest_.phi; }

  private:
    // Before the minimum is bracketed, each step is longer than the previous one. The increase is at least 1.1 times
    // and at most 4 times the difference between the current step and the best step.
    static constexpr double extrapolate_least = 1.1, extrapolate_most = 4.0;
    // Two updates must reduce the interval of uncertainty to less than this fraction (section 4 of the paper).
    static constexpr double bracket_shrink = 0.66;
    static constexpr double cut_factor = 0.25;

    struct Point {
        double step, phi, slope;
    };
    struct Cubic {
        double share; // the position of the minimiser, relative to the distance from a to b
        double gamma; // the square root in the formula of the minimiser
    };

    // Returns the minimiser of the cubic that interpolates phi and its slope at the points a and b. All terms are
    // divided by the largest magnitude among them, so that the expression under the square root neither overflows nor
    // underflows.
    CUDA_OPT_HD static Cubic cubic(const Point &a, const Point &b, bool clip_radicand = false) {
        const double theta = 3 * (a.phi - b.phi) / (b.step - a.step) + a.slope + b.slope;
        const double scale = greatest(greatest(std::fabs(theta), std::fabs(a.slope)), std::fabs(b.slope));
        double radicand = (theta / scale) * (theta / scale) - (a.slope / scale) * (b.slope / scale);
        if (clip_radicand) radicand = greatest(0.0, radicand);
        const double gamma = (b.step < a.step ? -1 : 1) * scale * std::sqrt(radicand);
        const double p = (gamma - a.slope) + theta, q = ((gamma - a.slope) + gamma) + b.slope;
        return {p / q, gamma};
    }

    // Computes the next trial step and the new interval of uncertainty (section 4 of the paper). The four cases compare
    // phi and the slope at the trial step with those at the best step.
    CUDA_OPT_HD_CALL void interpolate(Point &best, Point &other, double phi, double slope, double step_min,
                                      double step_max) {
        const double trial = step_;
        const Point at{trial, phi, slope};
        const bool higher = phi > best.phi, opposite = slope * (best.slope / std::fabs(best.slope)) < 0,
                   flatter = std::fabs(slope) < std::fabs(best.slope), with_secant = !higher && (opposite || flatter);
        // Terms that several cases use are computed before the branches. On a GPU, each thread of a warp has its own
        // line search, and the threads then compute these terms together.
        Cubic c{0, 0};
        double next, minimiser = 0, secant = 0;
        if (higher || with_secant || bracketed_) {
            const Point from = higher ? best : at, to = higher ? at : with_secant ? best : other;
            c = cubic(from, to, with_secant && !opposite);
            minimiser = from.step + c.share * (to.step - from.step);
        }
        if (with_secant) secant = trial + (slope / (slope - best.slope)) * (best.step - trial);

        if (higher) {
            // Case 1: phi is higher, so the minimum is bracketed. The next step is the cubic step if it is closer to
            // the best step than the quadratic step. Otherwise it is the mean of both.
            const double secant_slope = (best.phi - phi) / (trial - best.step);
            const double quadratic = best.step + ((best.slope / (secant_slope + best.slope)) / 2) * (trial - best.step);
            next = std::fabs(minimiser - best.step) < std::fabs(quadratic - best.step)
                       ? minimiser
                       : minimiser + (quadratic - minimiser) / 2;
            bracketed_ = true;
        } else if (opposite) {
            // Case 2: phi is lower and the slopes have opposite signs, so the minimum is bracketed. The next step is
            // the cubic or the secant step, whichever is farther from the trial step.
            next = std::fabs(minimiser - trial) > std::fabs(secant - trial) ? minimiser : secant;
            bracketed_ = true;
        } else if (flatter) {
            // Case 3: phi is lower, and the slope has the same sign and a smaller magnitude. The cubic step is used
            // only if the cubic has a minimum beyond the trial step in the direction of the search.
            const double onward = c.share < 0 && c.gamma != 0 ? minimiser : trial > best.step ? step_max : step_min;
            if (bracketed_) {
                next = std::fabs(onward - trial) < std::fabs(secant - trial) ? onward : secant;
                const double limit = trial + bracket_shrink * (other.step - trial);
                next = trial > best.step ? least(limit, next) : greatest(limit, next);
            } else {
                next = std::fabs(onward - trial) > std::fabs(secant - trial) ? onward : secant;
                next = greatest(step_min, least(step_max, next));
            }
        } else if (bracketed_) {
            // Case 4: phi is lower, and the slope has the same sign but not a smaller magnitude.
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

    SearchTolerances tolerances_{};
    double phi0_ = 0, slope0_ = 0, step_ = 0;
    // The endpoints of the interval of uncertainty. The endpoint best_ has the lower phi, or in stage 1 the lower psi
    // (modified_).
    Point best_{}, other_{};
    Point lowest_{};
    double lower_ = 0, upper_ = 0;      // the next step is in [lower_, upper_]
    double width_ = 0, last_width_ = 0; // the lengths of the interval of uncertainty now and two updates ago
    bool bracketed_ = false;
    bool modified_ = true; // stage 1 uses psi(t) = phi(t) - phi(0) - ftol t phi'(0) instead of phi
    bool any_finite_ = false;
    // True after the first update() and false after all later ones. If the first update brackets the minimum, it sets
    // last_width_ to the initial length step_max - step_min. set_step_max() must then correct last_width_.
    bool last_width_is_first_ = false;
};

} // namespace cudaopt
