#include "sweeps/host/panel_tiles.hpp"

#include <algorithm>

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

namespace {

// All functions in this namespace are always inlined, so that they are compiled for the instruction set of each caller.

// Returns the sums over the lanes of four vectors.
CUDA_OPT_INLINE Lanes sums_over_lanes(const Lanes &a, const Lanes &b, const Lanes &c, const Lanes &d) {
    const Lanes ac = Lanes{a[0], a[1], c[0], c[1]} + Lanes{a[2], a[3], c[2], c[3]};
    const Lanes bd = Lanes{b[0], b[1], d[0], d[1]} + Lanes{b[2], b[3], d[2], d[3]};
    return Lanes{ac[0], bd[0], ac[2], bd[2]} + Lanes{ac[1], bd[1], ac[3], bd[3]};
}

// Loads elements r, r + 1, ... of column j of four columns, which are `pitch` elements apart in a tile, or anywhere.
template <int pitch> struct InTile {
    const double *first;
    CUDA_OPT_INLINE Lanes operator()(int j, int r) const { return at(first, j * pitch + r); }
};
struct Anywhere {
    const FourColumns &columns;
    CUDA_OPT_INLINE Lanes operator()(int j, int r) const { return *(const UnalignedLanes *)(columns.at[j] + r); }
};

// Computes the inner products of `rows` columns, which begin with a and are `pitch` elements apart, with four columns.
// The 4 * rows sums are independent of each other, so that the processor need not wait for one multiply-add before it
// starts the next one. With 2 rows, each iteration of the loop over r has 6 vector loads and 8 vector multiply-adds.
template <int rows, int pitch, class Right>
CUDA_OPT_INLINE void block_products(const double *a, const Right &b, const VariableGroups &groups, Lanes (&out)[rows]) {
    Lanes sums[rows][4] = {};
    for (int k = 0; k < groups.count; k++)
        for (int r = groups.begin[k]; r < groups.begin[k] + VariableGroups::size; r += lanes) {
            Lanes left[rows];
            for (int i = 0; i < rows; i++) left[i] = at(a, i * pitch + r);
            for (int j = 0; j < 4; j++) {
                const Lanes right = b(j, r);
                for (int i = 0; i < rows; i++) sums[i][j] = fused(left[i], right, sums[i][j]);
            }
        }
    for (int i = 0; i < rows; i++) out[i] = sums_over_lanes(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

// Adds products[j] to packed[j * step] for all j with from <= j < to. The other products of the block are discarded.
CUDA_OPT_INLINE void add_row(const Lanes &products, int from, int to, int step, double *packed) {
    for (int j = from; j < to; j++) packed[j * step] += products[j];
}

// The columns of `right` are processed in bands that stay in the first-level cache while all columns of `left` are
// multiplied with them.
template <int pitch>
CUDA_OPT_INLINE void symmetric_products(const double *left, const double *right, const VariableGroups &groups,
                                        int count, const PackedPlace &place, double *packed) {
    constexpr int band = 24;
    for (int begin = 0; begin < count; begin += band) {
        const int end = std::min(begin + band, count);
        for (int i0 = 0; i0 < end; i0 += 2)
            for (int j0 = std::max(i0, begin); j0 < end; j0 += 4) {
                Lanes products[2];
                block_products<2, pitch>(left + i0 * pitch, InTile<pitch>{right + j0 * pitch}, groups, products);
                for (int i = i0; i < std::min(i0 + 2, end); i++) {
                    const int row = place.origin + place.step * i, column = place.origin + place.step * j0;
                    add_row(products[i - i0], std::max(0, i - j0), std::min(4, end - j0), place.step,
                            packed + panel::gram_index(row, column, place.columns));
                }
            }
    }
}

template <int rows>
CUDA_OPT_INLINE void products_of_rows(const double *left, const VariableGroups &groups, const FourColumns &right,
                                      int count, int columns, double *full) {
    Lanes products[rows];
    block_products<rows, tile_height>(left, Anywhere{right}, groups, products);
    for (int i = 0; i < rows; i++) add_row(products[i], 0, count, 1, full + i * columns);
}

template <class Stored> CUDA_OPT_INLINE void load(const Stored *column, int variables, double *to, int height) {
    for (int r = 0; r < variables; r++) to[r] = column[r];
    for (int r = variables; r < height; r++) to[r] = 0;
}

// Four columns are added at a time, so that to[r] is loaded and stored less often.
template <class Stored>
CUDA_OPT_INLINE void add(const double *factors, const Stored *const *columns, int count, int64_t begin, int variables,
                         double *to) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const Stored *const a = columns[k] + begin, *const b = columns[k + 1] + begin,
                            *const c = columns[k + 2] + begin, *const d = columns[k + 3] + begin;
        const double p = factors[k], q = factors[k + 1], u = factors[k + 2], v = factors[k + 3];
        for (int r = 0; r < variables; r++)
            to[r] =
                fused<double>(v, d[r], fused<double>(u, c[r], fused<double>(q, b[r], fused<double>(p, a[r], to[r]))));
    }
    for (; k < count; k++) {
        const Stored *const column = columns[k] + begin;
        const double factor = factors[k];
        for (int r = 0; r < variables; r++) to[r] = fused<double>(factor, column[r], to[r]);
    }
}

} // namespace

VariableGroups first_groups(int variables) {
    VariableGroups groups{};
    for (int r = 0; r < variables; r += VariableGroups::size) groups.begin[groups.count++] = r;
    return groups;
}

VariableGroups groups_with_weights(const double *weights, int variables) {
    VariableGroups groups{};
    for (int r = 0; r < variables; r += VariableGroups::size)
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

CUDA_OPT_EACH_INSTRUCTION_SET
void add_symmetric_products(const double *left, const double *right, const VariableGroups &groups, int count,
                            const PackedPlace &place, double *packed) {
    symmetric_products<tile_height>(left, right, groups, count, place, packed);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_products_of_every_second(const double *tile, const VariableGroups &groups, int count, const PackedPlace &place,
                                  double *packed) {
    symmetric_products<2 * tile_height>(tile, tile, groups, count, place, packed);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_leading_products(const double *tile, const VariableGroups &groups, int leading, const FourColumns &right,
                          int count, int columns, double *full) {
    if (leading == 3) return products_of_rows<3>(tile, groups, right, count, columns, full);
    products_of_rows<2>(tile, groups, right, count, columns, full);
    products_of_rows<2>(tile + 2 * tile_height, groups, right, count, columns, full + 2 * columns);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_first_rows(const double *left, const VariableGroups &groups, int c, const FourColumns &right, int count,
                    int columns, double *packed) {
    Lanes products[3];
    block_products<3, tile_height>(left, Anywhere{right}, groups, products);
    for (int i = 0; i < 3; i++)
        add_row(products[i], std::max(0, i - c), count, 1, packed + panel::gram_index(i, c, columns));
}

CUDA_OPT_EACH_INSTRUCTION_SET
double dot_of_tile(const double *a, const double *b, int variables) {
    Lanes sum = {};
    for (int r = 0; r < variables; r += lanes) sum = fused(at(a, r), at(b, r), sum);
    return sum_over_lanes(sum);
}

CUDA_OPT_EACH_INSTRUCTION_SET void add_elements(const double *from, int count, double *to) {
    for (int i = 0; i < count; i++) to[i] += from[i];
}

CUDA_OPT_EACH_INSTRUCTION_SET void load_column(const float *column, int variables, double *to, int height) {
    load(column, variables, to, height);
}
CUDA_OPT_EACH_INSTRUCTION_SET void load_column(const bfloat16 *column, int variables, double *to, int height) {
    load(column, variables, to, height);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const double *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const float *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const bfloat16 *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
}

} // namespace cudaopt
