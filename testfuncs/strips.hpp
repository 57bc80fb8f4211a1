// Rules for functions v on a grid of interior points, whose energy is a sum over the elements of a triangulation: each
// square of the mesh is cut from its upper left to its lower right corner. The gradient's component at a point is
// gathered from the neighbours' values, so that every point is written once, by one thread.
//
// A row of the reduction is a strip: strip_rows points of one column, one above the other. Strips with consecutive
// numbers are neighbours in x, so that threads read and write consecutive addresses; a strip's values are all read
// before any of them is used, so that the reads are under way together. Of the strip_rows + 2 rows read, the two that
// belong to other strips come from the cache, and so do the columns to the left and right: an evaluation moves one
// read of v and one write of g, 2 w bytes a variable.
#pragma once

#include "testfuncs/function.hpp"
#include "testfuncs/grid.hpp"

namespace cudaopt::testfuncs {

constexpr int strip_rows = 4;

// A point's value and those of the neighbours with which it shares an element.
struct Neighbourhood {
    double here, left, right, below, above, below_right, above_left;
};

// Which sides of the domain a point is next to.
struct Sides {
    bool leftmost, rightmost, lowest, highest;
};

inline int64_t strips_of(const Grid &grid) { return grid.nx * ((grid.ny + strip_rows - 1) / strip_rows); }

// Energy gives
//     double boundary(i, j);    v at a node of the boundary: i = -1 or nx, or j = -1 or ny
//     Column column(i);         what is common to a column's points, with
//     void Column::enter(const Neighbourhood &)    of a strip's lowest point, before
//     double Column::operator()(const Sides &, const Neighbourhood &, Sum &f)    of each, upwards
//                               which returns the gradient's component and adds the point's share to f
template <class Real, class Energy> struct Strip {
    const Real *v;
    Real *g;
    Grid grid;
    Energy energy;

    CUDA_OPT_HD double value(int64_t i, int64_t j) const {
        if (j > grid.ny) return 0; // above the domain: read for the points that the uppermost strip lacks
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

// Boundary values zero.
struct ZeroBoundary {
    CUDA_OPT_HD double boundary(int64_t, int64_t) const { return 0; }
};

} // namespace cudaopt::testfuncs
