// The metric that is learned: B_0 = theta diag(b), where b follows the diagonal of a BFGS update with each pair,
//
//     b_i <- b_i - (b_i s_i)^2 / sum b_j s_j^2 + y_i^2 / (c y's),      then c <- sum y_j^2 / b_j / y's,
//
// c b being B_0 as the pairs before have left it, c = theta and b = 1 at the first.
// It is elementwise but for two sums that the inner products have anyway, so that sweep 1 makes the update on its way,
// with the pair before the one that it measures. This file is the rule; state.hpp says when it is applied, the sweeps
// apply it. What is stored is h = 1 / b, as the caller's diagonal of H_0 is; theta stays a number of the memory.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt {

// What one sweep 1 learns, and from which pair; s = step d, and the step cancels.
struct MetricUpdate {
    bool wanted = false;
    bool anew = false;    // b was 1 so far; h is not looked at
    int slot = 0;         // of the pair
    double of_d = 0;      // 1 / sum b_j d_j^2
    double of_y = 0;      // 1 / (c y's)
    double curvature = 1; // y's
};

// Elements of b stay between 2^-26 and 2^26: over a spread of 2^52 = 1 / epsilon, sums of products in which all of them
// meet keep no digit of the smallest.
constexpr double most_learned = 67108864.0;

// b of a variable after the update; d, y: of the pair. b_i s_i^2 / sum b_j s_j^2 is the variable's share of s'B_0 s:
// of b that share goes.
CUDA_OPT_HD_INLINE double learned_curvature(double b, double d, double y, const MetricUpdate &update) {
    const double share = d * d * (b * update.of_d);
    const double kept = share < 1 ? b - b * share : 0; // NaN, of numbers out of range, is all of it
    const double learned = kept + y * y * update.of_y;
    return learned > 1 / most_learned ? (learned < most_learned ? learned : most_learned) : 1 / most_learned;
}

} // namespace cudaopt
