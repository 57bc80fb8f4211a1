#include "sweeps/host/diagonal_tiles.hpp"

#include "lbfgsb/panel.hpp"
#include "sweeps/host/instruction_sets.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

CUDA_OPT_EACH_INSTRUCTION_SET
void learn_tile(const double *d, const double *y, const LearnedPair &pair, double *h) {
    const LearnedPair of = pair;
    for (int r = 0; r < tile_height; r++) h[r] = learned_weight(h[r], d[r], y[r], of);
}

CUDA_OPT_EACH_INSTRUCTION_SET
WeightedSums weighted_sums_of_tile(const double *h, const double *y, const double *d, int variables, bool weighted) {
    const Lanes zero = {}, one = zero + 1, most = zero + largest_finite;
    Lanes bad = zero, of_y = zero, of_d = zero;
    for (int r = 0; r < tile_height; r += lanes) {
        const Indices inside = lanes_before(variables, r);
        const Lanes weight = at(h, r), other = weighted ? one : weight;
        bad += select(inside & ~((weight > 0) & (weight <= most)), one, zero);
        of_y += select(inside, at(y, r) * at(y, r) * other, zero);
        of_d += select(inside, at(d, r) * at(d, r) / other, zero);
    }
    return {sum_over_lanes(bad), sum_over_lanes(of_y), sum_over_lanes(of_d)};
}

CUDA_OPT_EACH_INSTRUCTION_SET
void scaling_of_tile(const double *h, TileScaling &scaling) {
    for (int r = 0; r < tile_height; r++) {
        const panel::Scaling by = panel::scaling_of(h[r]);
        scaling.roots[r] = by.root, scaling.inverse_roots[r] = by.inverse_root;
    }
}

CUDA_OPT_EACH_INSTRUCTION_SET
void scale_columns(const TileScaling &scaling, int count, double *columns) {
    for (int c = 0; c < count; c++) {
        const double *const factors = panel::inverse(c) ? scaling.inverse_roots : scaling.roots;
        for (int r = 0; r < tile_height; r++) columns[c * tile_height + r] *= factors[r];
    }
}

} // namespace cudaopt
