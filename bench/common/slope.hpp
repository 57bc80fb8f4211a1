// The slope of a straight line fitted to points by least squares.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace cudaopt::bench {

// Of the ordinates over the abscissae; points with what is not finite are left out. NaN where fewer than two are left.
inline double slope(const std::vector<std::pair<double, double>> &points) {
    double count = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;
    for (const auto &[x, y] : points)
        if (std::isfinite(x) && std::isfinite(y)) {
            count++;
            x_mean += x;
            y_mean += y;
        }
    x_mean /= count;
    y_mean /= count;
    for (const auto &[x, y] : points)
        if (std::isfinite(x) && std::isfinite(y)) {
            xx += (x - x_mean) * (x - x_mean);
            xy += (x - x_mean) * (y - y_mean);
        }
    return count > 1 ? xy / xx : std::numeric_limits<double>::quiet_NaN();
}

// NaN where ours is not positive: then the time of an iteration does not grow over these points, and no ratio has a
// meaning.
inline double ratio_of_slopes(double theirs, double ours) {
    return ours > 0 ? theirs / ours : std::numeric_limits<double>::quiet_NaN();
}

} // namespace cudaopt::bench
