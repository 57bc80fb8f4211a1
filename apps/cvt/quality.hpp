// How near triangles are to equilateral ones.
#pragma once

#include "apps/cvt/exact_diagram.hpp"

#include <cstdint>
#include <vector>

namespace cudaopt::cvt {

// Q = 2 sqrt(3) S / (p h), with the area S, half the perimeter p and the longest edge h: 1 where equilateral, 0 where
// flat.
double triangle_quality(const Point &a, const Point &b, const Point &c);
// In degrees.
double smallest_angle(const Point &a, const Point &b, const Point &c);

struct Quality {
    int64_t triangles = 0;
    double least_q = 1, mean_q = 0, least_angle = 60, mean_angle = 0; // of the smallest angles
};

// restricted_only: leave out the triangles whose circumcentre lies outside the square: slivers along its edges,
// which no vertex of the clipped diagram stands for
Quality quality_of(const ExactDiagram &diagram, const std::vector<double> &x, bool restricted_only);

} // namespace cudaopt::cvt
