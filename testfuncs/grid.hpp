// Grids of nx x ny points, stored row by row: point (i, j), i and j from 0, is number j nx + i.
#pragma once

#include "exec/annotations.hpp"
#include "testfuncs/facts.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

struct Grid {
    int64_t nx, ny;

    CUDA_OPT_HD int64_t points() const { return nx * ny; }
    CUDA_OPT_HD int64_t column(int64_t point) const { return point % nx; }
    CUDA_OPT_HD int64_t row(int64_t point) const { return point / nx; }

    // For a grid of interior points of the unit square: the distance of point (i, j) to the boundary.
    double distance_to_boundary(int64_t point) const;
    // Returns a text such as "200 x 200".
    std::string text() const;
};

// Returns the parameters of a grid problem: nx and ny, and the problem's own parameters.
std::vector<Parameter> with_sides(std::vector<Parameter> own);

// Returns the dimension of a grid with the given number of variables per point. Sides that are not given are chosen
// such that the grid is as square, and its number of variables as close to n, as possible.
Dimension fit_grid(int64_t n, const Parameters &parameters, int variables_per_point = 1);
// Returns the grid whose dimension fit_grid() returns for these arguments.
Grid grid_of(int64_t n, const Parameters &parameters, int variables_per_point = 1);

} // namespace cudaopt::testfuncs
