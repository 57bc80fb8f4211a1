// Evaluates one test function of the pattern search and its gradient at a batch of points, one point per row.
#pragma once

#include "testfuncs/search/functions.hpp"

#include <cstdint>

namespace cudaopt::testfuncs::search {

// The points of a batch and the results at these points, in the memory space of the evaluation. Each point is a row of
// n values. Only the rows in `list` are evaluated. Real is the storage type.
template <class Real> struct Rows {
    int n;
    // The number of rows in `list`.
    int64_t count;
    // The indices of the rows to be evaluated. The first row has the index 0.
    const int64_t *list;
    const Real *x; // rows of n
    double *f;     // one value per row
    Real *g;       // rows of n
    // If Real is not double: rows of n values for gradients before they are rounded.
    double *wide;
};

// Evaluates the function on the host with the given number of threads; 0: all processors. Throws std::invalid_argument
// if the function has no gradient.
void evaluate_on_host(const Function &function, const Rows<double> &rows, int threads);
void evaluate_on_host(const Function &function, const Rows<float> &rows, int threads);

// Enqueues the evaluation of the function on the CUDA stream without synchronisation. Throws std::runtime_error in a
// build without CUDA.
void evaluate_on_cuda(const Function &function, const Rows<double> &rows, void *stream);
void evaluate_on_cuda(const Function &function, const Rows<float> &rows, void *stream);

// Gives access to the values of a row, converted to double precision.
template <class Real> struct Widened {
    const Real *x;
    CUDA_OPT_HD double operator[](int j) const { return x[j]; }
};

// Evaluates the function at the point in row k of the list.
template <class F, class Real> CUDA_OPT_HD void evaluate_row(const F &function, const Rows<Real> &rows, int64_t k) {
    const int64_t row = rows.list[k], first = row * rows.n;
    const Widened<Real> x{rows.x + first};
    if constexpr (std::is_same_v<Real, double>) {
        function.gradient(x, rows.n, rows.g + first);
    } else {
        function.gradient(x, rows.n, rows.wide + first);
        for (int j = 0; j < rows.n; j++) rows.g[first + j] = static_cast<Real>(rows.wide[first + j]);
    }
    rows.f[row] = function(x, rows.n);
}

} // namespace cudaopt::testfuncs::search
