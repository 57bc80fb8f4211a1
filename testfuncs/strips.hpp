// Rules for evaluating functions of v on a grid of interior points. The energy is a sum over the elements of a
// triangulation, for which each square of the mesh is divided from its upper left to its lower right corner. The
// component of the gradient at a point is computed from the neighbours' values, so that one thread writes it, once.
//
// A strip consists of strip_rows points in one column of the grid. The executor calls the rule (Strip) once per strip.
// Strips with consecutive indices are neighbours in x, so that threads access consecutive addresses. All values of a
// strip are loaded before any of them is used, so that the loads overlap. Of the strip_rows + 2 rows loaded, two belong
// to other strips and are in the cache, like the columns to the left and right. Therefore an evaluation transfers each
// value of v and each value of g once to or from memory: 2 w bytes per variable, with w bytes per number.
#pragma once

#include "testfuncs/function.hpp"
#include "testfuncs/grid.hpp"

namespace cudaopt::testfuncs {

constexpr int strip_rows = 4;

// The values of v at a point and at the neighbours with which it shares an element.
struct Neighbourhood {
    double here, left, right, below, above, below_right, above_left;
};

// The members state which sides of the domain a grid point is adjacent to.
struct Sides {
    bool leftmost, rightmost, lowest, highest;
};

inline int64_t strips_of(const Grid &grid) { return grid.nx * ((grid.ny + strip_rows - 1) / strip_rows); }

// Evaluates the energy on one strip, which consists of strip_rows grid points in one column. The type Energy must
// define
//     double boundary(i, j);    v at a node of the boundary: i = -1 or nx, or j = -1 or ny
//     Column column(i);         data that the points of a column share, with
//     void Column::enter(const Neighbourhood &)    called first, for the lowest point of a strip
//     double Column::operator()(const Sides &, const Neighbourhood &, Sum &f)    called for each point, upwards;
//                               returns the component of the gradient and adds the point's contribution to f
template <class Real, class Energy> struct Strip {
    const Real *v;
    Real *g;
    Grid grid;
    Energy energy;

    CUDA_OPT_HD double value(int64_t i, int64_t j) const {
        // The uppermost strip may extend beyond the domain. The values there are not used, and 0 is returned for them.
        if (j > grid.ny) return 0;
        const bool interior = 0 <= i && i < grid.nx && 0 <= j && j < grid.ny;
        return interior ? static_cast<double>(v[j * grid.nx + i]) : energy.boundary(i, j);
    }

    CUDA_OPT_HD void operator()(int64_t strip, Sum &f) const {
        const int64_t i = grid.column(strip), first = grid.row(strip) * strip_rows;
        double window[strip_rows + 2][3];
        const auto read = [&](const auto &value_at) {
            for (int row = 0; row < strip_rows + 2; row++)
                for (int column = 0; column < 3; column++)
                    window[row][column] = value_at(i + column - 1, first + row - 1);
        };
        if (0 < i && i < grid.nx - 1 && 0 < first && first + strip_rows < grid.ny)
            read([&](int64_t x, int64_t y) -> double { return v[y * grid.nx + x]; });
        else read([&](int64_t x, int64_t y) { return value(x, y); });

        auto column = energy.column(i);
        for (int row = 0; row < strip_rows; row++) {
            const int64_t j = first + row;
            if (j < grid.ny) {
                const double *below = window[row], *same = window[row + 1], *above = window[row + 2];
                const Sides sides = {i == 0, i == grid.nx - 1, j == 0, j == grid.ny - 1};
                const Neighbourhood around = {same[1], same[0], same[2], below[1], above[1], below[2], above[0]};
                if (row == 0) column.enter(around);
                g[j * grid.nx + i] = static_cast<Real>(column(sides, around, f));
            }
        }
    }
};

// An energy inherits from this struct if v = 0 at the boundary.
struct ZeroBoundary {
    CUDA_OPT_HD double boundary(int64_t, int64_t) const { return 0; }
};

} // namespace cudaopt::testfuncs
