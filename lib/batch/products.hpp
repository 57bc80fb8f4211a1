// The products of the columns, from the panel by rows. Each is one sum in the order of the rows; they are shared
// out among the lanes, so that no sum is split.
#pragma once

#include "batch/places.hpp"

namespace cudaopt::batch {

// Four numbers side by side.
#ifdef __CUDACC__ // nvcc knows no vectors of the compiler's
struct Four {
    double v[granule];
    CUDA_OPT_HD_INLINE static Four at(const double *values) { return {{values[0], values[1], values[2], values[3]}}; }
    CUDA_OPT_HD_INLINE double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD_INLINE void add_product(double a, const Four &b) {
        for (int c = 0; c < granule; c++) v[c] += a * b.v[c];
    }
};
#else
typedef double FourDoubles __attribute__((vector_size(32), aligned(8), may_alias));
struct Four {
    FourDoubles v;
    CUDA_OPT_HD_INLINE static Four at(const double *values) { return {*reinterpret_cast<const FourDoubles *>(values)}; }
    CUDA_OPT_HD_INLINE double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD_INLINE void add_product(double a, const Four &b) { v += a * b.v; }
};
#endif

// The rows that count: all, or those of a list.
struct AllRows {
    int count;
    CUDA_OPT_HD_INLINE int operator[](int k) const { return k; }
};
struct ListedRows {
    int count;
    const int *list;
    CUDA_OPT_HD_INLINE int operator[](int k) const { return list[k]; }
};

// sums[r] = the products of column a + r with the columns b .. b + 3, r < height.
template <int height, class Rows>
CUDA_OPT_HD_INLINE void form_strip(const double *panel, int stride, Rows rows, int a, int b, Four *sums) {
    for (int r = 0; r < height; r++) sums[r] = Four{};
    for (int k = 0; k < rows.count; k++) {
        const double *const row = panel + rows[k] * stride;
        const Four right = Four::at(row + b);
        for (int r = 0; r < height; r++) sums[r].add_product(row[a + r], right);
    }
}

// Products of all columns among the first `heads` with all, of the panel's `columns`: the strips of a lane.
// store(a, b, product)
template <class Team, class Rows, class Store>
CUDA_OPT_HD_INLINE void form_leading(const Team &team, const double *panel, int stride, int columns, Rows rows,
                                     const Store &store) {
    constexpr int height = Team::width == 1 ? granule : 1, heads = panel::leading / height;
    const int strips = heads * (stride / granule);
    for (int strip = team.lane(); strip < strips; strip += Team::width) {
        const int a = strip % heads * height, b = strip / heads * granule;
        Four sums[height];
        form_strip<height>(panel, stride, rows, a, b, sums);
        for (int r = 0; r < height; r++)
            for (int c = 0; c < granule && b + c < columns; c++) store(a + r, b + c, sums[r][c]);
    }
}

// Those of columns a <= b.
template <class Team, class Rows, class Store>
CUDA_OPT_HD_INLINE void form_triangle(const Team &team, const double *panel, int stride, int columns, Rows rows,
                                      const Store &store) {
    constexpr int height = Team::width == 1 ? granule : 1, heads = granule / height;
    const int blocks = stride / granule, strips = blocks * (blocks + 1) / 2 * heads;
    for (int strip = team.lane(); strip < strips; strip += Team::width) {
        int right = 0, before = 0; // the block of b, and how many blocks stand before its first
        for (const int block = strip / heads; block > before + right; right++) before += right + 1;
        const int a = (strip / heads - before) * granule + strip % heads * height, b = right * granule;
        Four sums[height];
        form_strip<height>(panel, stride, rows, a, b, sums);
        for (int r = 0; r < height; r++)
            for (int c = 0; c < granule && b + c < columns; c++)
                if (a + r <= b + c) store(a + r, b + c, sums[r][c]);
    }
}

} // namespace cudaopt::batch
