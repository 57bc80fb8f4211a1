// Differences of f along a direction, at steps that fall by factors of 10, and what they say of the slope that the
// gradient gives.
#pragma once

namespace cudaopt {

// f(base + t d), f(base - t d), and the sums of g D over the displacements D to both sides.
struct SlopeSample {
    double t, f_plus, f_minus, slope_plus, slope_minus, gross;
};
constexpr int most_slope_samples = 10;

struct SlopeEstimate {
    bool known = false;    // f was finite at some steps
    double supplied = 0;   // g'd
    double difference = 0; // of f, at the step that was chosen
    double error = 0;      // of the difference, at most about
    double gross = 0;      // what g'd would be without cancellation
    double longest = 0;    // changes of f per t at the longest step
    double step = 0;
    int sample = 0;
    bool kink = false;
    double left = 0, right = 0; // one-sided differences at the kink

    double residual() const { return difference - supplied; }
};

// f0: at the base. The step is chosen where two neighbouring central differences agree best, with an allowance for the
// rounding errors of f.
SlopeEstimate estimate_slope(const SlopeSample *samples, int count, double f0);

} // namespace cudaopt
