#include "apps/cvt/quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudaopt::cvt {
namespace {

double cross(const Point &a, const Point &b, const Point &c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Returns the lengths of the edges of a triangle in increasing order.
std::array<double, 3> edges(const Point &a, const Point &b, const Point &c) {
    std::array<double, 3> length = {std::hypot(b.x - a.x, b.y - a.y), std::hypot(c.x - b.x, c.y - b.y),
                                    std::hypot(a.x - c.x, a.y - c.y)};
    std::sort(length.begin(), length.end());
    return length;
}

} // namespace

double triangle_quality(const Point &a, const Point &b, const Point &c) {
    const std::array<double, 3> length = edges(a, b, c);
    const double area = std::fabs(cross(a, b, c)) / 2, half_perimeter = (length[0] + length[1] + length[2]) / 2;
    return length[2] > 0 ? 2 * std::sqrt(3.) * area / (half_perimeter * length[2]) : 0;
}

double smallest_angle(const Point &a, const Point &b, const Point &c) {
    // The smallest angle is opposite the shortest edge. The arguments of atan2 are its sine and its cosine, both
    // multiplied by the lengths of the other two edges.
    const std::array<double, 3> l = edges(a, b, c);
    const double cosine = (l[1] * l[1] + l[2] * l[2] - l[0] * l[0]) / 2;
    return std::atan2(std::fabs(cross(a, b, c)), cosine) * 180 / std::acos(-1.);
}

Quality quality_of(const ExactDiagram &diagram, const std::vector<double> &x, bool restricted_only) {
    Quality quality;
    for (const Triangle &triangle : diagram.triangles()) {
        if (restricted_only && !triangle.restricted) continue;
        std::array<Point, 3> p;
        for (std::size_t k = 0; k < 3; k++) {
            const auto i = static_cast<std::size_t>(triangle.site[k]);
            p[k] = {x[2 * i], x[2 * i + 1]};
        }
        const double q = triangle_quality(p[0], p[1], p[2]), angle = smallest_angle(p[0], p[1], p[2]);
        quality.least_q = std::min(quality.least_q, q);
        quality.least_angle = std::min(quality.least_angle, angle);
        quality.mean_q += q;
        quality.mean_angle += angle;
        quality.triangles++;
    }
    if (quality.triangles > 0) {
        quality.mean_q /= static_cast<double>(quality.triangles);
        quality.mean_angle /= static_cast<double>(quality.triangles);
    }
    return quality;
}

} // namespace cudaopt::cvt
