// The inner products of the panel's columns (layout.hpp) for one small problem. The panel is stored row by row, one row
// for each variable. One lane forms each product, as one sum in the order of the variables.
//
// With several lanes, and on the host, the products are formed in strips: a few columns times four (form_strip). One
// thread of a device forms all products with some columns in one traversal, with the sums in registers (form_band).
#pragma once

#include <type_traits>

#include "batch/layout.hpp"

namespace cudaopt::batch {

#ifdef __CUDACC__ // nvcc does not support the vector types of GCC and clang
struct Four {
    double v[granule];
    template <class Values> CUDA_OPT_HD_INLINE static Four at(const Values &values) {
        Four four;
        for (int c = 0; c < granule; c++) four.v[c] = values[c];
        return four;
    }
    CUDA_OPT_HD_INLINE static Four of(double a, double b, double c, double d) { return {{a, b, c, d}}; }
    CUDA_OPT_HD_INLINE double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD_INLINE void add_product(double a, const Four &b) {
        for (int c = 0; c < granule; c++) v[c] += a * b.v[c];
    }
};
#else
typedef double FourDoubles __attribute__((vector_size(32), aligned(8), may_alias));
struct Four {
    FourDoubles v;
    template <class Values> CUDA_OPT_HD_INLINE static Four at(const Values &values) {
        if constexpr (std::is_convertible_v<Values, const double *>)
            return {*reinterpret_cast<const FourDoubles *>(static_cast<const double *>(values))};
        else return of(values[0], values[1], values[2], values[3]);
    }
    // The vector is formed in registers, because loading it right after its elements were stored would stall.
    CUDA_OPT_HD_INLINE static Four of(double a, double b, double c, double d) { return {FourDoubles{a, b, c, d}}; }
    CUDA_OPT_HD_INLINE double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD_INLINE void add_product(double a, const Four &b) { v += a * b.v; }
};
#endif

// The elements of one variable in all correction pairs, or the coefficients of the panel's columns. If their number is
// a compile-time constant, it is `count`, and they are copied to registers. Otherwise `count` is 0, and they are read
// where they are stored.
template <class Real, int count, class Values> struct CopiedRow {
    Real values[count] = {};
    CopiedRow() = default;
    CUDA_OPT_HD_INLINE explicit CopiedRow(const Values &from) {
        for (int k = 0; k < count; k++) values[k] = from[k];
    }
    CUDA_OPT_HD_INLINE Real operator[](int k) const { return values[k]; }
};
template <class Real, int count, class Values = const Real *>
using RowOfPairs = std::conditional_t<count == 0, Values, CopiedRow<Real, count, Values>>;

// One column of the correction pairs, or another vector, which may be stored in more bits than the pairs.
template <class Stored, class Real> struct Column {
    const Stored *of_pairs;
    const Real *of_vectors;
    int stride;
    CUDA_OPT_HD_INLINE double operator[](int i) const {
        return of_vectors ? static_cast<double>(of_vectors[i]) : static_cast<double>(of_pairs[i * stride]);
    }
};
template <class Real> struct Column<Real, Real> {
    const Real *first;
    int stride;
    CUDA_OPT_HD_INLINE double operator[](int i) const { return first[i * stride]; }
};
template <class Stored, class Real>
CUDA_OPT_HD_INLINE Column<Stored, Real> column_of_pairs(const Stored *first, int stride) {
    if constexpr (std::is_same_v<Stored, Real>) return {first, stride};
    else return {first, nullptr, stride};
}
template <class Stored, class Real> CUDA_OPT_HD_INLINE Column<Stored, Real> column_of_vector(const Real *first) {
    if constexpr (std::is_same_v<Stored, Real>) return {first, 1};
    else return {nullptr, first, 1};
}

// Returns the inner product of two columns, summed in the order of the variables.
template <class Column> CUDA_OPT_HD_INLINE double product(int rows, const Column &left, const Column &right) {
    double sum = 0;
    CUDA_OPT_UNROLLED(4)
    for (int i = 0; i < rows; i++) sum += left[i] * right[i];
    return sum;
}

// The panel of a problem, read in groups of four columns. The column z is 0 here, because the Cauchy search of a small
// problem obtains the variables that it fixes at bounds one by one, and needs no products with z.
template <class PairValues, class Values> struct PanelRows {
    PairValues rows; // y and d (s = step d) of all pairs, the newest first
    int stride;
    Values g;

    CUDA_OPT_HD_INLINE Four columns(int i, int first) const {
        const PairValues row = rows + i * stride;
        if (first >= panel::leading) return Four::at(row + (first - 2));
        return Four::of(row[panel::y_new], row[panel::s_new], g[i], 0);
    }
    CUDA_OPT_HD_INLINE double entry(int i, int column) const {
        const PairValues row = rows + i * stride;
        if (column >= panel::leading) return row[column - 2];
        if (column == panel::gradient) return g[i];
        return column == panel::displacement ? 0 : static_cast<double>(row[column]);
    }
    template <class Stored, class Real> CUDA_OPT_HD_INLINE Column<Stored, Real> column(int which) const {
        if (which == panel::gradient) return column_of_vector<Stored, Real>(g);
        return column_of_pairs<Stored, Real>(rows + (which < panel::leading ? which : which - 2), stride);
    }
    // Loads the elements of variable i in columns from, ..., to - 1, except z.
    template <int from, int to> CUDA_OPT_HD_INLINE void load(int i, double *entries) const {
        for (int column = from; column < to; column++)
            if (column != panel::displacement) entries[column] = entry(i, column);
    }
};

// The variables over which a product is summed: AllRows are all variables, ListedRows those of a list.
struct AllRows {
    int count;
    CUDA_OPT_HD_INLINE int operator[](int k) const { return k; }
};
struct ListedRows {
    int count;
    const int *list;
    CUDA_OPT_HD_INLINE int operator[](int k) const { return list[k]; }
};

// Computes sums[r], the inner products of column a + r with the columns b, ..., b + 3, for 0 <= r < height.
template <int height, class Panel, class Rows>
CUDA_OPT_HD_INLINE void form_strip(const Panel &panel, Rows rows, int a, int b, Four *sums) {
    CUDA_OPT_HOST_UNROLLED(4)
    for (int r = 0; r < height; r++) sums[r] = Four{};
    CUDA_OPT_ROLLED
    for (int k = 0; k < rows.count; k++) {
        const int i = rows[k];
        const Four right = panel.columns(i, b);
        if constexpr (height > 1) {
            const Four left = panel.columns(i, a);
            CUDA_OPT_HOST_UNROLLED(4)
            for (int r = 0; r < height; r++) sums[r].add_product(left[r], right);
        } else {
            sums[0].add_product(panel.entry(i, a), right);
        }
    }
}

// Computes the products of the columns before z with all columns. Each lane calls store(a, b, product) for some.
template <class Team, class Panel, class Rows, class Store>
CUDA_OPT_HD_INLINE void form_leading(const Team &team, const Panel &panel, int columns, Rows rows, const Store &store) {
    constexpr int heads = panel::displacement, height = Team::width == 1 ? heads : 1, high = heads / height;
    const int strips = high * (padded(columns) / granule);
    CUDA_OPT_ROLLED
    for (int strip = team.lane(); strip < strips; strip += Team::width) {
        const int a = strip % high * height, b = strip / high * granule;
        Four sums[height];
        form_strip<height>(panel, rows, a, b, sums);
        for (int r = 0; r < height; r++)
            for (int c = 0; c < granule && b + c < columns; c++) store(a + r, b + c, sums[r][c]);
    }
}

// Numbers consecutively the products of the columns before z with all columns except z, one product for each pair of
// columns a <= b. This function returns their number, and the next one returns the columns a and b of product k.
CUDA_OPT_HD constexpr int leading_product_count(int columns) { return panel::displacement * (columns - 2); }
struct ColumnPair {
    int a, b;
};
CUDA_OPT_HD_INLINE ColumnPair leading_product(int k, int columns) {
    int a = 0;
    for (; k >= columns - 1 - a; a++) k -= columns - 1 - a;
    const int b = a + k;
    return {a, b < panel::displacement ? b : b + 1};
}

// Computes the products of all columns a <= b. If the team has one lane, only the first `heads` of the first four
// columns are used as a; 3 excludes the fourth column, z.
template <int heads, class Team, class Panel, class Rows, class Store>
CUDA_OPT_HD_INLINE void form_triangle(const Team &team, const Panel &panel, int columns, Rows rows,
                                      const Store &store) {
    constexpr int height = Team::width == 1 ? granule : 1, high = granule / height, top = height == 1 ? 1 : heads;
    const int blocks = padded(columns) / granule, strips = blocks * (blocks + 1) / 2 * high;
    CUDA_OPT_ROLLED
    for (int strip = team.lane(); strip < strips; strip += Team::width) {
        // The pairs (left,right) of groups of four columns, left <= right, are numbered in the order (0,0), (0,1),
        // (1,1), (0,2), ... `right` is the group that contains b, and `before` is the number of the pair (0,right).
        int right = 0, before = 0;
        for (const int block = strip / high; block > before + right; right++) before += right + 1;
        const int a = (strip / high - before) * granule + strip % high * height, b = right * granule;
        const auto form = [&](auto rows_of_strip) {
            Four sums[rows_of_strip];
            form_strip<rows_of_strip>(panel, rows, a, b, sums);
            for (int r = 0; r < rows_of_strip; r++)
                for (int c = 0; c < granule && b + c < columns; c++)
                    if (a + r <= b + c) store(a + r, b + c, sums[r][c]);
        };
        if (Team::width == 1 && a == 0) form(dense::Known<top>{});
        else form(dense::Known<height>{});
    }
}

// Calls load(i) for several variables, then use(i, loaded) for each of them, so that a thread of a device waits for the
// data of `most` variables only once. use() is also called for indices beyond the last variable, whose data it must
// ignore.
template <int most, class Team, class Load, class Use>
CUDA_OPT_HD_INLINE void rows_together(const Team &team, int n, const Load &load, const Use &use) {
    constexpr int together = Team::width == 1 && on_device ? most : 1;
    CUDA_OPT_ROLLED
    for (int first = 0; first < n; first += together * Team::width) {
        const auto row_of = [&](int r) { return first + r * Team::width + team.lane(); };
        std::decay_t<decltype(load(0))> loaded[together];
        for (int r = 0; r < together; r++)
            if (row_of(r) < n) loaded[r] = load(row_of(r));
        for (int r = 0; r < together; r++)
            if (first + r * Team::width < n) use(row_of(r), loaded[r]);
    }
}

// Calls use(k, load(k)) for k = 0, ..., count - 1. At any time `ahead` loads have been issued in advance.
template <int ahead, class Load, class Use>
CUDA_OPT_HD_INLINE void in_turn(int count, const Load &load, const Use &use) {
    std::decay_t<decltype(load(0))> loaded[ahead];
    CUDA_OPT_UNROLLED(ahead)
    for (int r = 0; r < ahead; r++)
        if (r < count) loaded[r] = load(r);
    CUDA_OPT_ROLLED
    for (int first = 0; first < count; first += ahead) {
        CUDA_OPT_UNROLLED(ahead)
        for (int r = 0; r < ahead; r++) {
            const int k = first + r;
            if (k >= count) break;
            const auto here = loaded[r];
            if (k + ahead < count) loaded[r] = load(k + ahead);
            use(k, here);
        }
    }
}

// Computes the products of columns a <= b with from <= a < to, except z, if the number of columns is a compile-time
// constant. It traverses the variables once, with each sum in a register, because a row would no longer be in the cache
// of a device in a second traversal. The next rows are loaded while the current one is processed.
template <int from, int to, int columns, int ahead, class Panel, class Rows, class Store>
CUDA_OPT_HD_INLINE void form_band(const Panel &panel, Rows rows, const Store &store) {
    constexpr int z = panel::displacement;
    struct Entries {
        double of[columns];
    };
    double sums[to - from][columns] = {};
    in_turn<ahead>(
        rows.count,
        [&](int k) {
            Entries row;
            panel.template load<from, columns>(rows[k], row.of);
            return row;
        },
        [&](int, const Entries &row) {
            CUDA_OPT_UNROLLED(columns)
            for (int a = from; a < to; a++)
                for (int b = a; b < columns; b++)
                    if (a != z && b != z) sums[a - from][b] += row.of[a] * row.of[b];
        });
    CUDA_OPT_UNROLLED(columns)
    for (int a = from; a < to; a++)
        for (int b = a; b < columns; b++)
            if (a != z && b != z) store(a, b, sums[a - from][b]);
}

} // namespace cudaopt::batch
