#include "sweeps/host/panel_tiles.hpp"

#include <algorithm>

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

namespace {

// All functions in this namespace are always inlined, so that they are compiled for the instruction set of each caller.
// Vector is Lanes or WideLanes.

// Returns the sums over the lanes of four vectors.
CUDA_OPT_INLINE Lanes sums_over_lanes(const Lanes &a, const Lanes &b, const Lanes &c, const Lanes &d) {
    const Lanes ac = __builtin_shufflevector(a, c, 0, 1, 4, 5) + __builtin_shufflevector(a, c, 2, 3, 6, 7);
    const Lanes bd = __builtin_shufflevector(b, d, 0, 1, 4, 5) + __builtin_shufflevector(b, d, 2, 3, 6, 7);
    return __builtin_shufflevector(ac, bd, 0, 4, 2, 6) + __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
}
CUDA_OPT_INLINE Lanes halves_added(const WideLanes &v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
CUDA_OPT_INLINE Lanes sums_over_lanes(const WideLanes &a, const WideLanes &b, const WideLanes &c, const WideLanes &d) {
    return sums_over_lanes(halves_added(a), halves_added(b), halves_added(c), halves_added(d));
}

// Computes the inner products of `rows` columns, beginning with a, with 4 columns, beginning with b. Adjacent columns
// are `pitch` elements apart. The independent chains of multiply-adds, 8 or 12, hide the latency, and a step of 2 rows
// needs only 6 loads for 8 of them.
template <class Vector, int rows, int pitch>
CUDA_OPT_INLINE void block_products(const double *a, const double *b, const VariableGroups &groups,
                                    Lanes (&out)[rows]) {
    constexpr int width = sizeof(Vector) / sizeof(double);
    Vector sums[rows][4] = {};
    for (int k = 0; k < groups.count; k++)
        for (int r = groups.begin[k]; r < groups.begin[k] + VariableGroups::size; r += width) {
            Vector left[rows];
            for (int i = 0; i < rows; i++) left[i] = *(const Vector *)(a + i * pitch + r);
            for (int j = 0; j < 4; j++) {
                const Vector right = *(const Vector *)(b + j * pitch + r);
                for (int i = 0; i < rows; i++) sums[i][j] += left[i] * right;
            }
        }
    for (int i = 0; i < rows; i++) out[i] = sums_over_lanes(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

// Adds the products with the columns from <= j < to of a block.
CUDA_OPT_INLINE void add_row(const Lanes &products, int from, int to, int step, double *packed) {
    for (int j = from; j < to; j++) packed[j * step] += products[j];
}

// The columns of `right` are processed in bands that stay in the first-level cache while all columns of `left` are
// multiplied with them.
template <class Vector, int pitch>
CUDA_OPT_INLINE void symmetric_products(const double *left, const double *right, const VariableGroups &groups,
                                        int count, const PackedPlace &place, double *packed) {
    constexpr int band = 24;
    for (int begin = 0; begin < count; begin += band) {
        const int end = std::min(begin + band, count);
        for (int i0 = 0; i0 < end; i0 += 2)
            for (int j0 = std::max(i0, begin); j0 < end; j0 += 4) {
                Lanes products[2];
                block_products<Vector, 2, pitch>(left + i0 * pitch, right + j0 * pitch, groups, products);
                for (int i = i0; i < std::min(i0 + 2, end); i++) {
                    const int row = place.origin + place.step * i, column = place.origin + place.step * j0;
                    add_row(products[i - i0], std::max(0, i - j0), std::min(4, end - j0), place.step,
                            packed + panel::gram_index(row, column, place.columns));
                }
            }
    }
}

template <class Vector, int rows>
CUDA_OPT_INLINE void products_of_rows(const double *left, const double *tile, int columns, double *full) {
    const VariableGroups groups = all_groups();
    for (int j0 = 0; j0 < columns; j0 += 4) {
        Lanes products[rows];
        block_products<Vector, rows, tile_height>(left, tile + j0 * tile_height, groups, products);
        for (int i = 0; i < rows; i++) add_row(products[i], 0, std::min(4, columns - j0), 1, full + i * columns + j0);
    }
}

template <class Vector>
CUDA_OPT_INLINE void leading_products(const double *tile, int leading, int columns, double *full) {
    if (leading == 3) return products_of_rows<Vector, 3>(tile, tile, columns, full);
    products_of_rows<Vector, 2>(tile, tile, columns, full);
    products_of_rows<Vector, 2>(tile + 2 * tile_height, tile, columns, full + 2 * columns);
}

CUDA_OPT_WIDE
void symmetric_products_wide(const double *left, const double *right, const VariableGroups &groups, int columns,
                             double *packed) {
    symmetric_products<WideLanes, tile_height>(left, right, groups, columns, {0, 1, columns}, packed);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void symmetric_products_narrow(const double *left, const double *right, const VariableGroups &groups, int columns,
                               double *packed) {
    symmetric_products<Lanes, tile_height>(left, right, groups, columns, {0, 1, columns}, packed);
}

CUDA_OPT_WIDE void products_of_every_second_wide(const double *tile, int count, const PackedPlace &place,
                                                 double *packed) {
    symmetric_products<WideLanes, 2 * tile_height>(tile, tile, all_groups(), count, place, packed);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void products_of_every_second_narrow(const double *tile, int count, const PackedPlace &place, double *packed) {
    symmetric_products<Lanes, 2 * tile_height>(tile, tile, all_groups(), count, place, packed);
}

CUDA_OPT_WIDE void leading_products_wide(const double *tile, int leading, int columns, double *full) {
    leading_products<WideLanes>(tile, leading, columns, full);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void leading_products_narrow(const double *tile, int leading, int columns, double *full) {
    leading_products<Lanes>(tile, leading, columns, full);
}

} // namespace

VariableGroups all_groups() {
    VariableGroups groups;
    for (int r = 0; r < tile_height; r += VariableGroups::size) groups.begin[groups.count++] = r;
    return groups;
}

VariableGroups groups_with_weights(const double *weights) {
    VariableGroups groups;
    for (int r = 0; r < tile_height; r += VariableGroups::size)
        if (std::any_of(weights + r, weights + r + VariableGroups::size, [](double weight) { return weight != 0; }))
            groups.begin[groups.count++] = r;
    return groups;
}

CUDA_OPT_EACH_INSTRUCTION_SET
void weigh_variables(const double *tile, int columns, const double *weights, const VariableGroups &groups, double *to) {
    for (int c = 0; c < columns; c++)
        for (int k = 0; k < groups.count; k++)
            for (int r = groups.begin[k]; r < groups.begin[k] + VariableGroups::size; r += lanes)
                put(to, c * tile_height + r, at(tile, c * tile_height + r) * at(weights, r));
}

void add_symmetric_products(const double *left, const double *right, const VariableGroups &groups, int columns,
                            double *packed) {
    (has_wide_vectors() ? symmetric_products_wide : symmetric_products_narrow)(left, right, groups, columns, packed);
}

void add_products_of_every_second(const double *tile, int count, const PackedPlace &place, double *packed) {
    (has_wide_vectors() ? products_of_every_second_wide : products_of_every_second_narrow)(tile, count, place, packed);
}

void add_leading_products(const double *tile, int leading, int columns, double *full) {
    (has_wide_vectors() ? leading_products_wide : leading_products_narrow)(tile, leading, columns, full);
}

CUDA_OPT_EACH_INSTRUCTION_SET void add_elements(const double *from, int count, double *to) {
    for (int i = 0; i < count; i++) to[i] += from[i];
}

} // namespace cudaopt
