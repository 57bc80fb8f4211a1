// Measures how close the Delaunay triangles of a tessellation are to equilateral ones.
#pragma once

#include "apps/cvt/exact_diagram.hpp"

#include <cstdint>
#include <vector>

namespace cudaopt::cvt {

// Returns the quality Q = 2 sqrt(3) S / (p h) of a triangle, with the area S, the semiperimeter p and the longest edge
// h. Q is 1 for an equilateral triangle and 0 for a degenerate one.
double triangle_quality(const Point &a, const Point &b, const Point &c);
// Returns the smallest angle of a triangle in degrees.
double smallest_angle(const Point &a, const Point &b, const Point &c);

struct Quality {
    int64_t triangles = 0;
    // The angles are the least and the mean of the smallest angles of all triangles.
    double least_q = 1, mean_q = 0, least_angle = 60, mean_angle = 0;
};

// Returns the quality of the Delaunay triangles. If restricted_only is true, triangles whose circumcentre lies outside
// the square are omitted. These are slivers along its edges and do not correspond to a vertex of the clipped diagram.
Quality quality_of(const ExactDiagram &diagram, const std::vector<double> &x, bool restricted_only);

} // namespace cudaopt::cvt
