#include "gradient_check/slope.hpp"

#include <limits>

#include "dense/numbers.hpp"

namespace cudaopt {

namespace {

// Returns an estimate of the rounding error of f, which is assumed to be a sum of a few terms. A value that is exactly
// representable in single precision was most likely computed in single precision.
double rounding_of(double f) { return (is_single(f) && f != std::floor(f) ? 3e-7 : 1e-15) * std::fabs(f); }

double rounding_of(const SlopeSample &s, double f0) {
    return std::max({rounding_of(s.f_plus), rounding_of(s.f_minus), rounding_of(f0)}) / s.t;
}

// Returns the difference of the two one-sided difference quotients, minus the part that the gradient predicts. (That
// part is 0 if the displacements to the two sides have equal lengths.) The result decreases with t if f is smooth.
double jump(const SlopeSample &s, double f0) {
    return ((s.f_plus - f0 - s.slope_plus) - (f0 - s.f_minus + s.slope_minus)) / s.t;
}

// Returns the difference of the central difference quotient and g'd.
double residual(const SlopeSample &s) { return (s.f_plus - s.f_minus - (s.slope_plus - s.slope_minus)) / (2 * s.t); }

bool is_known(const SlopeSample &s) { return std::isfinite(s.f_plus) && std::isfinite(s.f_minus); }

// Finds a kink of f. At a kink, the value of jump() does not decrease while t decreases by a factor of 100, is far
// above the rounding errors, and is not small relative to the slope.
void look_for_kink(const SlopeSample *samples, int count, double f0, SlopeEstimate &estimate) {
    for (int k = 0; k + 2 < count; k++) {
        const SlopeSample &wide = samples[k], &middle = samples[k + 1], &narrow = samples[k + 2];
        if (!is_known(wide) || !is_known(middle) || !is_known(narrow)) continue;
        const double first = jump(wide, f0), second = jump(middle, f0), third = jump(narrow, f0);
        const auto [least, most] = std::minmax({std::fabs(first), std::fabs(second), std::fabs(third)});
        const bool stays = least > 0.7 * most && first * second > 0 && second * third > 0;
        const double size = std::max(narrow.gross, std::fabs(narrow.f_plus - narrow.f_minus) / (2 * narrow.t));
        if (!stays || least < 100 * rounding_of(narrow, f0) || least < 1e-3 * size) continue;
        estimate.kink = true;
        estimate.right = (narrow.f_plus - f0) / narrow.t;
        estimate.left = (f0 - narrow.f_minus) / narrow.t;
        estimate.step = narrow.t;
    }
}

} // namespace

SlopeEstimate estimate_slope(const SlopeSample *samples, int count, double f0) {
    SlopeEstimate best;
    best.error = std::numeric_limits<double>::infinity();
    double longest = 0;
    for (int k = count - 1; k >= 0; k--)
        if (const SlopeSample &s = samples[k]; is_known(s))
            longest = std::max(std::fabs(s.f_plus - f0), std::fabs(s.f_minus - f0)) / s.t;
    for (int k = 0; k + 1 < count; k++) {
        const SlopeSample &s = samples[k], &next = samples[k + 1];
        if (!is_known(s) || !is_known(next)) continue;
        // The change of the residual between two steps bounds the truncation errors of both. The rounding error is 10
        // times larger at the shorter step.
        const double error = std::fabs(residual(s) - residual(next)) + 10 * rounding_of(s, f0);
        if (!(error < best.error)) continue;
        const double supplied = (s.slope_plus - s.slope_minus) / (2 * s.t);
        best = {true, supplied, supplied + residual(s), error, s.gross, longest, s.t, k};
    }
    look_for_kink(samples, count, f0, best);
    return best;
}

} // namespace cudaopt
