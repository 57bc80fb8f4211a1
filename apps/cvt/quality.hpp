// Measures of how close triangles are to equilateral ones.
#pragma once

#include "apps/cvt/exact_diagram.hpp"

#include <cstdint>
#include <vector>

namespace cudaopt::cvt {

// Q = 2 sqrt(3) S / (p h), with the area S, the semiperimeter p and the longest edge h. Q is 1 for an equilateral
// triangle and 0 for a degenerate one.
double triangle_quality(const Point &a, const Point &b, const Point &c);
// The smallest angle in degrees.
double smallest_angle(const Point &a, const Point &b, const Point &c);

struct Quality {
    int64_t triangles = 0;
    double least_q = 1, mean_q = 0, least_angle = 60, mean_angle = 0; // of the smallest angle of each triangle
};

// restricted_only: omit the triangles whose circumcentre lies outside the square. These are slivers along its edges,
// and do not correspond to a vertex of the clipped diagram.
Quality quality_of(const ExactDiagram &diagram, const std::vector<double> &x, bool restricted_only);

} // namespace cudaopt::cvt
