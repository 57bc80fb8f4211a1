// Grids of nx x ny points, which are stored row by row: point (i, j) has the index j nx + i, where i, j >= 0.
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

    // Returns the distance of a point to the boundary, for a grid of interior points of the unit square.
    double distance_to_boundary(int64_t point) const;
    // Returns the size of the grid as text, for example "200 x 200".
    std::string text() const;
};

// Returns the list of parameters of a grid problem: nx and ny, and then the problem's own parameters.
std::vector<Parameter> with_sides(std::vector<Parameter> own);

// Returns the dimension of a grid with the given number of variables per point. If nx or ny is not given, it is chosen
// such that the grid is as square, and its number of variables as close to n, as possible.
Dimension fit_grid(int64_t n, const Parameters &parameters, int variables_per_point = 1);
// Returns the grid that fit_grid() has chosen for the same arguments.
Grid grid_of(int64_t n, const Parameters &parameters, int variables_per_point = 1);

} // namespace cudaopt::testfuncs
