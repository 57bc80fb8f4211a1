// How far the one-breakpoint approximation of the Cauchy point is from the exact one over the iterations of a solve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cudaopt::bench {

// |t_c - t*| / t* of each iteration.
struct CauchyDifferences {
    static constexpr std::array<double, 3> limits = {1e-6, 1e-3, 1e-1};
    std::array<double, 5> share = {}; // 0; below each limit, but not below the one before; not below the last
    double most = 0;

    // t: t* of each iteration; t_first: what the approximation gives there.
    CauchyDifferences(const std::vector<double> &t, const std::vector<double> &t_first) {
        for (std::size_t k = 0; k < t.size(); k++) {
            const double apart = std::fabs(t_first[k] - t[k]);
            const double difference = apart == 0 ? 0 : apart / t[k];
            std::size_t bin = difference == 0 ? 0 : 1;
            if (bin == 1)
                for (const double limit : limits) bin += !(difference < limit);
            share[bin]++;
            most = std::max(most, difference);
        }
        for (double &count : share) count /= static_cast<double>(t.size());
    }
};

} // namespace cudaopt::bench
