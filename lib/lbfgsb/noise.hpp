// The noise level of f. The decisions take into account errors of f beyond its rounding errors, such as those of
// iterative solvers, random sampling and sums in single precision. If it is 0, these rules have no effect.
//
// eps_f is a bound on |f - E f|, where E f is the expected value. Two values of f whose difference is at most 2 eps_f
// may be equal. Slopes are compared as they are, because the line search needs their signs only.
#pragma once

#include <cmath>

#include "dense/numbers.hpp"
#include "lbfgsb/box.hpp"

namespace cudaopt {

namespace noise {

constexpr int samples = 8;               // number of values of f from which the noise level is estimated
constexpr double significant = 20;       // a decrease yields a useful curvature if it exceeds this many noise levels
constexpr double pg_progress = 0.7;      // a reduction of ||P g||_inf by this factor counts as progress
constexpr int most_in_vain = 120;        // evaluations without progress after which the solve ends
constexpr double relative_change = 0.01; // of the variables; it must change f by no more than the noise level
constexpr double agreement = 4;          // three noise levels agree if the largest is at most this times the least
constexpr double per_deviation = 2;      // eps_f / standard deviation; for uniform noise sqrt(3) suffices

// Returns the standard deviation of the noise in f, estimated from values at equally spaced points of a short line
// (Moré and Wild, SIAM J. Sci. Comput. 33 (2011) 1292, algorithm ECnoise). The k-th differences of a smooth function
// vanish with the spacing. The k-th differences of independent noise with standard deviation sigma have the variance
// (2k)! / k!^2 sigma^2. The estimate is taken from the first order k whose differences have both signs, and whose level
// agrees with those of the next two orders up to the factor 4. If there is none, it is taken from the highest order.
CUDA_OPT_HD_CALL inline double deviation(const double (&values)[samples]) {
    double differences[samples], levels[samples - 2];
    bool has_both_signs[samples - 2];
    for (int i = 0; i < samples; i++) differences[i] = values[i];
    double variance = 1; // k!^2 / (2k)!
    for (int k = 1; k < samples - 1; k++) {
        const int count = samples - k;
        double squares = 0, lowest = infinity, highest = -infinity;
        for (int i = 0; i < count; i++) {
            differences[i] = differences[i + 1] - differences[i];
            squares += differences[i] * differences[i];
            lowest = least(lowest, differences[i]);
            highest = greatest(highest, differences[i]);
        }
        variance *= k / (2.0 * (2 * k - 1));
        levels[k - 1] = std::sqrt(variance * squares / count);
        has_both_signs[k - 1] = lowest < 0 && highest > 0;
    }
    for (int k = 0; k + 2 < samples - 2; k++) {
        const double largest = greatest(greatest(levels[k], levels[k + 1]), levels[k + 2]);
        const double smallest = least(least(levels[k], levels[k + 1]), levels[k + 2]);
        if (has_both_signs[k] && largest <= agreement * smallest) return levels[k];
    }
    return levels[samples - 3];
}

// The states of the sampling of f: it waits for the next point, for f there, and for the sweep that reads f.
enum class Sampling { step, evaluation, products, ended };

} // namespace noise

// Samples f at `samples` equally spaced points of the direction.
class NoiseSamples {
  public:
    noise::Sampling begin() { return count_ = 1, state_ = noise::Sampling::step; }
    // f: that at the newest point, used in the state `products`. The sampling ends early if f is undefined.
    noise::Sampling resume(double f) {
        if (state_ == noise::Sampling::step) return state_ = noise::Sampling::evaluation;
        if (state_ == noise::Sampling::evaluation) return state_ = noise::Sampling::products;
        values_[count_ - 1] = f;
        is_defined_ = is_finite(f);
        if (!is_defined_ || count_ == noise::samples) return state_ = noise::Sampling::ended;
        return count_++, state_ = noise::Sampling::step;
    }
    noise::Sampling state() const { return state_; }
    // Returns the number of the newest point, or 0 if there was no sampling in this solve.
    int count() const { return count_; }
    // Returns the noise level eps_f, or 0 if f was undefined at a point.
    double level() const { return is_defined_ ? noise::per_deviation * noise::deviation(values_) : 0; }
    bool is_consistent() const {
        return dense::is_within(state_ != noise::Sampling::ended ? 1 : 0, count_, noise::samples) &&
               dense::are_bools(is_defined_) && dense::is_within(noise::Sampling::step, state_, noise::Sampling::ended);
    }

  private:
    noise::Sampling state_ = noise::Sampling::ended;
    int count_ = 0;
    bool is_defined_ = false;
    double values_[noise::samples] = {};
};

} // namespace cudaopt
