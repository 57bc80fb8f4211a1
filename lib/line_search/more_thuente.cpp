#include "line_search/more_thuente.hpp"

#include <algorithm>
#include <cmath>

namespace cudaopt {

namespace {

constexpr double extrapolate_least = 1.1, extrapolate_most = 4.0; // factors of the last move, before bracketing
constexpr double bracket_shrink = 0.66;                           // demanded over two updates (section 4 of the paper)
constexpr double cut_factor = 0.25;

// Minimiser of the cubic through (a, phi_a, slope_a) and (b, phi_b, slope_b), as seen from a. All such formulas scale
// by the largest magnitude so that the radicand neither overflows nor underflows.
double cubic_from(double a, double phi_a, double slope_a, double b, double phi_b, double slope_b, double sign,
                  bool clip_radicand, double *radicand_out) {
    const double theta = 3 * (phi_a - phi_b) / (b - a) + slope_a + slope_b;
    const double scale = std::max({std::fabs(theta), std::fabs(slope_a), std::fabs(slope_b)});
    double radicand = (theta / scale) * (theta / scale) - (slope_a / scale) * (slope_b / scale);
    if (clip_radicand) radicand = std::max(0.0, radicand);
    const double gamma = sign * scale * std::sqrt(radicand);
    *radicand_out = gamma;
    const double p = (gamma - slope_a) + theta, q = ((gamma - slope_a) + gamma) + slope_b;
    return p / q;
}

} // namespace

void MoreThuente::start(double phi0, double slope0, double first_step, const SearchTolerances &tolerances) {
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

SearchVerdict MoreThuente::update(double phi, double slope) {
    const double slope_test = tolerances_.ftol * slope0_;
    const double phi_test = phi0_ + step_ * slope_test;
    any_finite_ = true;
    if (phi < lowest_.phi) lowest_ = {step_, phi, slope};
    if (modified_ && phi <= phi_test && slope >= 0) modified_ = false;

    if (phi <= phi_test && std::fabs(slope) <= tolerances_.gtol * -slope0_) return SearchVerdict::converged;
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
    if (!std::isfinite(step_)) step_ = bracketed_ ? best_.step + 0.5 * (other_.step - best_.step) : upper_;
    if (bracketed_) {
        if (std::fabs(other_.step - best_.step) >= bracket_shrink * last_width_)
            step_ = best_.step + 0.5 * (other_.step - best_.step);
        last_width_ = width_;
        width_ = std::fabs(other_.step - best_.step);
        lower_ = std::min(best_.step, other_.step);
        upper_ = std::max(best_.step, other_.step);
    } else {
        lower_ = step_ + extrapolate_least * (step_ - best_.step);
        upper_ = step_ + extrapolate_most * (step_ - best_.step);
    }
    step_ = std::min(std::max(step_, tolerances_.step_min), tolerances_.step_max);

    // No step strictly inside the interval is left: end with the best.
    if (bracketed_ && (step_ <= lower_ || step_ >= upper_ || upper_ - lower_ <= tolerances_.xtol * upper_))
        step_ = best_.step;
    return SearchVerdict::evaluate;
}

void MoreThuente::cut() {
    const double failed = step_;
    step_ = best_.step + cut_factor * (failed - best_.step);
    if (failed > best_.step) {
        tolerances_.step_max = std::min(tolerances_.step_max, 0.5 * (step_ + failed));
        upper_ = std::min(upper_, failed);
    }
    const SearchTolerances tolerances = tolerances_; // a copy, since start() clears its own
    if (!any_finite_) start(phi0_, slope0_, std::max(step_, tolerances.step_min), tolerances);
}

// The trial step and the new interval, section 4 of the paper: four cases by the trial's phi and slope against best.
void MoreThuente::interpolate(Point &best, Point &other, double phi, double slope, double step_min, double step_max) {
    const double trial = step_;
    const bool opposite = slope * (best.slope / std::fabs(best.slope)) < 0;
    double next, gamma;

    if (phi > best.phi) {
        // Case 1: higher. The minimum is bracketed; the cubic step if nearer to best than the quadratic, else the mean.
        const double cubic = best.step + cubic_from(best.step, best.phi, best.slope, trial, phi, slope,
                                                    trial < best.step ? -1 : 1, false, &gamma) *
                                             (trial - best.step);
        const double secant_slope = (best.phi - phi) / (trial - best.step);
        const double quadratic = best.step + ((best.slope / (secant_slope + best.slope)) / 2) * (trial - best.step);
        next =
            std::fabs(cubic - best.step) < std::fabs(quadratic - best.step) ? cubic : cubic + (quadratic - cubic) / 2;
        bracketed_ = true;
    } else if (opposite) {
        // Case 2: lower, slopes of opposite sign. Bracketed; the farther of the cubic and the secant step.
        const double cubic = trial + cubic_from(trial, phi, slope, best.step, best.phi, best.slope,
                                                trial > best.step ? -1 : 1, false, &gamma) *
                                         (best.step - trial);
        const double secant = trial + (slope / (slope - best.slope)) * (best.step - trial);
        next = std::fabs(cubic - trial) > std::fabs(secant - trial) ? cubic : secant;
        bracketed_ = true;
    } else if (std::fabs(slope) < std::fabs(best.slope)) {
        // Case 3: lower, same sign, flatter. The cubic step counts only if it goes on in this direction to a minimum.
        const double r =
            cubic_from(trial, phi, slope, best.step, best.phi, best.slope, trial > best.step ? -1 : 1, true, &gamma);
        const double cubic = r < 0 && gamma != 0 ? trial + r * (best.step - trial)
                             : trial > best.step ? step_max
                                                 : step_min;
        const double secant = trial + (slope / (slope - best.slope)) * (best.step - trial);
        if (bracketed_) {
            next = std::fabs(cubic - trial) < std::fabs(secant - trial) ? cubic : secant;
            const double limit = trial + bracket_shrink * (other.step - trial);
            next = trial > best.step ? std::min(limit, next) : std::max(limit, next);
        } else {
            next = std::fabs(cubic - trial) > std::fabs(secant - trial) ? cubic : secant;
            next = std::max(step_min, std::min(step_max, next));
        }
    } else if (bracketed_) {
        // Case 4: lower, same sign, not flatter.
        next = trial + cubic_from(trial, phi, slope, other.step, other.phi, other.slope, trial > other.step ? -1 : 1,
                                  false, &gamma) *
                           (other.step - trial);
    } else {
        next = trial > best.step ? step_max : step_min;
    }

    if (phi > best.phi) {
        other = {trial, phi, slope};
    } else {
        if (opposite) other = best;
        best = {trial, phi, slope};
    }
    step_ = next;
}

} // namespace cudaopt
