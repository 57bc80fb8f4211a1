// Estimates the slope of f along a direction d by difference quotients, at steps that decrease by factors of 10, and
// compares it with the slope g'd that the gradient gives.
#pragma once

#include <algorithm>
#include <cmath>

namespace cudaopt {

// The values f(base + t d) and f(base - t d), and the sums of g_i D_i over the displacements D = x - base on both
// sides. gross: the 2-norm of the terms g_i D_i, divided by t; displacement: the sum of D_i. Both are those for t > 0.
struct SlopeSample {
    double t, f_plus, f_minus, slope_plus, slope_minus, gross, displacement;
};
constexpr int most_slope_samples = 10;

struct SlopeEstimate {
    bool known = false;    // whether f was finite at two successive steps
    double supplied = 0;   // g'd
    double difference = 0; // the central difference quotient of f at the chosen step
    double error = 0;      // the estimated error of the difference quotient
    double gross = 0;      // the size of g'd without cancellation, the 2-norm of its terms
    double longest = 0;    // the largest change of f per unit of t at the longest step with finite f
    double step = 0;
    int sample = 0;
    bool kink = false;
    double left = 0, right = 0; // one-sided difference quotients at the kink

    double residual() const { return difference - supplied; }
    double size() const { return std::max({std::fabs(supplied), std::fabs(difference), gross}); }
    double relative_residual() const { return std::fabs(residual()) / size(); }
};

// Estimates the slope. f0: the value of f at the base point. It chooses the step at which two successive central
// difference quotients agree best, with an allowance for the rounding errors of f.
SlopeEstimate estimate_slope(const SlopeSample *samples, int count, double f0);

} // namespace cudaopt
