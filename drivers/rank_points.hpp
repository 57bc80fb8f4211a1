// The part of a grid problem that one rank computes, on the host or on CUDA. A rank is one of several processes that
// solve a problem together. This file provides the values at the rank's grid points, the values in the grid row before
// the first of them and in the row after the last, and the energy.
#pragma once

#include "testfuncs/bearing.hpp"
#include "testfuncs/torsion.hpp"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace driver {

using cudaopt::testfuncs::Grid;
using GridFunction = std::variant<cudaopt::testfuncs::Torsion, cudaopt::testfuncs::Bearing>;

// Computes a grid point's contribution to f, and its gradient, from the values v at the point and its neighbours.
// Outside the grid v = 0.
template <class Real, class Column> struct PointEnergy {
    Grid grid;
    const Column *columns;
    // The values of v from grid point first - nx on, that is, from the row before the rank's first point.
    const Real *values;
    int64_t first, begin;
    // The components of the gradient from grid point `begin` on.
    Real *g;

    CUDA_OPT_HD double value(int64_t i, int64_t j) const {
        const bool inside = 0 <= i && i < grid.nx && 0 <= j && j < grid.ny;
        return inside ? static_cast<double>(values[j * grid.nx + i - first + grid.nx]) : 0;
    }
    CUDA_OPT_HD void operator()(int64_t p, cudaopt::Sum &f) const {
        const int64_t i = grid.column(begin + p), j = grid.row(begin + p);
        const cudaopt::testfuncs::Neighbourhood around = {value(i, j),        value(i - 1, j), value(i + 1, j),
                                                          value(i, j - 1),    value(i, j + 1), value(i + 1, j - 1),
                                                          value(i - 1, j + 1)};
        const cudaopt::testfuncs::Sides sides = {i == 0, i == grid.nx - 1, j == 0, j == grid.ny - 1};
        g[p] = static_cast<Real>(columns[i](sides, around, f));
    }
};

// Returns one element for each column of the grid: the part of the function's data that depends only on the column.
template <class Function> auto columns_of(const Function &function) {
    const auto energy = function.energy();
    std::vector<std::decay_t<decltype(energy.column(0))>> columns;
    for (int64_t i = 0; i < function.grid.nx; i++) columns.push_back(energy.column(i));
    return columns;
}

// The grid points of one rank. x, g, f and the array values() are in the memory space of the rank's solver. values()
// contains v at the rank's points, in the grid row before them and in the row after them. On CUDA all functions except
// finish() only enqueue their work on the default stream.
template <class Real> class RankPoints {
  public:
    virtual ~RankPoints() = default;
    virtual Real *values() = 0;
    // Copies the values of the rank's own grid points.
    virtual void take(const Real *x) = 0;
    virtual void evaluate(double *f, Real *g) = 0;
    // The next functions are only used on CUDA, to exchange values via host memory. staging(count) returns host memory
    // for `count` values. copy_out(to, at, count) copies values() from index `at` on to host memory, and copy_in(at,
    // from, count) copies back. finish() waits for these copies.
    virtual Real *staging(int64_t) { return nullptr; }
    virtual void copy_out(Real *, int64_t, int64_t) {}
    virtual void copy_in(int64_t, const Real *, int64_t) {}
    virtual void finish() {}
};

// Creates the grid points of a rank, from point `first` on. `segments` contains the index, relative to `first`, at
// which each of the rank's segments begins, and the end of the last one. A segment is a range of variables whose
// contribution to f is summed separately.
template <class Real>
std::unique_ptr<RankPoints<Real>> make_cuda_points(const GridFunction &function, int64_t first,
                                                   const std::vector<int64_t> &segments);
// Selects the GPU of this process. It is the device with this number, modulo the number of devices of the machine.
void choose_device(int number);

} // namespace driver
