// f and its gradient at the points of a batch: of one function of the pattern search, a point a row.
#pragma once

#include "testfuncs/search/functions.hpp"

#include <cstdint>

namespace cudaopt::testfuncs::search {

// The rows that a list names, in the memory space where they are evaluated; Real is storage.
template <class Real> struct Rows {
    int n;
    int64_t count;       // of the list
    const int64_t *list; // rows, counted from 0
    const Real *x;       // rows of n
    double *f;           // a value a row
    Real *g;             // rows of n
    double *wide;        // rows of n where Real is not double, for the gradients before they are rounded
};

// On the host, by so many threads, 0: all there are.
// Throws std::invalid_argument where the function has no gradient
void evaluate_on_host(const Function &function, const Rows<double> &rows, int threads);
void evaluate_on_host(const Function &function, const Rows<float> &rows, int threads);

// On CUDA, queued on the stream: nothing is waited for. Throws std::runtime_error where there is no CUDA.
void evaluate_on_cuda(const Function &function, const Rows<double> &rows, void *stream);
void evaluate_on_cuda(const Function &function, const Rows<float> &rows, void *stream);

// A row as numbers in double precision.
template <class Real> struct Widened {
    const Real *x;
    CUDA_OPT_HD double operator[](int j) const { return x[j]; }
};

// The k-th row of the list.
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
