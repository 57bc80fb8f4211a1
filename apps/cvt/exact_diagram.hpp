// The exact Voronoi diagram, clipped to the unit square, and the Delaunay triangles.
//
// For a constant density they are the reference for the results on the grid, and the pictures show them. Boost.Polygon
// computes the diagram, with exact predicates, from the sites rounded to multiples of 2^-30. The cells are then clipped
// by the bisectors of the unrounded sites.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cudaopt::cvt {

struct Point {
    double x, y;
};
using Polygon = std::vector<Point>;

// A Delaunay triangle: the numbers of its three sites in anticlockwise order.
struct Triangle {
    std::array<int32_t, 3> site;
    // True if the circumcentre of the triangle, which is a vertex of the Voronoi diagram, lies in the square.
    bool restricted;
};

class ExactDiagram {
  public:
    // x: the coordinates of the sites, x_0, y_0, x_1, ..., all in the square. Throws std::runtime_error if the program
    // was built without Boost.Polygon.
    explicit ExactDiagram(const std::vector<double> &x);

    // Returns whether the program was built with Boost.Polygon, which computes the diagram.
    static bool available();

    // Returns the Voronoi cells. They are convex polygons with their vertices in anticlockwise order. If sites
    // coincide, only one of them has a cell.
    const std::vector<Polygon> &cells() const { return cells_; }
    // Returns for each Voronoi cell the number of its sides that are not on the boundary of the square.
    const std::vector<int32_t> &neighbours() const { return neighbours_; }
    const std::vector<Triangle> &triangles() const { return triangles_; }
    // Returns the number of sites that have no cell, because they coincide with other sites up to 2^-30.
    int64_t coinciding() const { return coinciding_; }

    // Returns the energy F: the sum over all cells of the integral of |p - x_i|^2 over cell i.
    double energy() const { return energy_; }
    // Returns the gradient of the energy, 2 m_i (x_i - c_i) for each site, where m_i is the area and c_i the centroid
    // of its cell.
    const std::vector<double> &gradient() const { return gradient_; }

  private:
    void add_cell(const std::vector<double> &x, std::size_t i, const std::vector<std::size_t> &neighbours);

    std::vector<Polygon> cells_;
    std::vector<int32_t> neighbours_;
    std::vector<Triangle> triangles_;
    int64_t coinciding_ = 0;
    double energy_ = 0;
    std::vector<double> gradient_;
};

} // namespace cudaopt::cvt
