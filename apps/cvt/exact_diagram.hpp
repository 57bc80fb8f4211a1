// The Voronoi diagram itself, clipped to the unit square, and the Delaunay triangles: the yardstick of the grid, with
// constant density, and what the pictures show. Boost.Polygon makes the diagram, with exact predicates, of the sites
// rounded to multiples of 2^-30; the cells are then cut by the bisectors of the sites as they are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cudaopt::cvt {

struct Point {
    double x, y;
};
using Polygon = std::vector<Point>;

// Numbers of three sites, anticlockwise.
struct Triangle {
    std::array<int32_t, 3> site;
    bool restricted; // whether the centre of its circumcircle, a vertex of the diagram, lies in the square
};

class ExactDiagram {
  public:
    // x: the sites in the square, x_0, y_0, ...
    // Throws std::runtime_error where the program was built without Boost.Polygon
    explicit ExactDiagram(const std::vector<double> &x);

    // Whether there was Boost.Polygon to build with.
    static bool available();

    // The cells, convex and anticlockwise; of sites that coincide all but one have none.
    const std::vector<Polygon> &cells() const { return cells_; }
    // How many sides of a cell are not of the square's.
    const std::vector<int32_t> &neighbours() const { return neighbours_; }
    const std::vector<Triangle> &triangles() const { return triangles_; }
    // The number of sites that have no cell because they coincide with others, to 2^-30.
    int64_t coinciding() const { return coinciding_; }

    // F = sum of the integrals of |p - x_i|^2 over the cells.
    double energy() const { return energy_; }
    // 2 m_i (x_i - c_i).
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
