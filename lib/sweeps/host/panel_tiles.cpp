#include "sweeps/host/panel_tiles.hpp"

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

namespace {

// Computes the inner products of 4 columns with 2 columns at once. The 8 independent chains of multiply-adds hide the
// latency and need only 6 loads per step. The function is always inlined, so that it is compiled for the instruction
// set of each caller.
__attribute__((always_inline)) inline void block_products(const double *a, const double *b, double *out) {
    Lanes sums[8] = {};
    for (int r = 0; r < tile_height; r += lanes) {
        const Lanes b0 = *(const Lanes *)(b + r), b1 = *(const Lanes *)(b + tile_height + r);
        for (int i = 0; i < 4; i++) {
            const Lanes ai = *(const Lanes *)(a + i * tile_height + r);
            sums[2 * i] += ai * b0;
            sums[2 * i + 1] += ai * b1;
        }
    }
    for (int i = 0; i < 8; i++) out[i] = (sums[i][0] + sums[i][2]) + (sums[i][1] + sums[i][3]);
}

} // namespace

CUDA_OPT_EACH_INSTRUCTION_SET
void weigh_variables(const double *tile, int columns, const double *weights, double *to) {
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < tile_height; r += lanes)
            put(to, c * tile_height + r, at(tile, c * tile_height + r) * at(weights, r));
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_symmetric_products(const double *tile, int columns, double *packed) {
    for (int i0 = 0; i0 < columns; i0 += 4)
        for (int j0 = i0; j0 < columns; j0 += 2) {
            double products[8];
            block_products(tile + i0 * tile_height, tile + j0 * tile_height, products);
            for (int i = i0; i < i0 + 4 && i < columns; i++)
                for (int j = j0; j < j0 + 2 && j < columns; j++)
                    if (i <= j) packed[panel::gram_index(i, j, columns)] += products[2 * (i - i0) + (j - j0)];
        }
}

CUDA_OPT_EACH_INSTRUCTION_SET
void add_special_products(const double *tile, int columns, double *full) {
    for (int j0 = 0; j0 < columns; j0 += 2) {
        double products[8];
        block_products(tile, tile + j0 * tile_height, products);
        for (int i = 0; i < 4; i++)
            for (int j = j0; j < j0 + 2 && j < columns; j++) full[i * columns + j] += products[2 * i + (j - j0)];
    }
}

} // namespace cudaopt
