// LaneAgent computes the inner products of sweep 1 (inner_products.cuh) in double precision on the tensor cores. The
// columns are grouped in blocks of 8. Lane (c, r) = (lane / 4, lane % 4) loads variables 2r and 2r + 1 of column c of
// each block. The instruction assigns the inner indices r and r + 4 to the lane instead (matrix_unit.cuh). This does
// not matter: the terms of a sum may be in any order, if it is the same in both factors. The two values can therefore
// serve as the lane's part of both operands, A and B.
#pragma once

#include "sweeps/cuda/inner_products/lane_products.cuh"
#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

// The largest number of octets of columns for which each warp holds all products in its registers. It corresponds to 21
// pairs.
constexpr int most_lane_octets = 6;
constexpr int resident_blocks(int blocks) { return blocks <= 3 ? 2 : 1; }

// Returns the number of column blocks of the kernel that computes the inner products of `blocks` blocks of eight
// columns. Without products over the free variables, one instruction multiplies two column blocks by the first block.
// An odd number can then be rounded up at no cost.
constexpr int lane_size(InnerProducts kind, int blocks) {
    const bool odd = blocks % 2 == 1 && resident_blocks(blocks) == resident_blocks(blocks + 1);
    return kind == InnerProducts::unbounded && odd ? blocks + 1 : blocks;
}
constexpr int lane_octets(InnerProducts kind, int pairs) {
    return lane_size(kind, column_blocks(multiplied_columns(panel::columns(pairs), kind)));
}

template <class Real_, class History_, int blocks, InnerProducts kind_> class LaneAgent {
  public:
    using Real = Real_;
    using History = History_;
    using Products = LaneProducts<blocks, kind_>;
    static constexpr InnerProducts kind = kind_;
    static constexpr bool apart = DeviceVectors<Real, History>::apart, crosses_breakpoints = true;
    static constexpr int resident = resident_blocks(blocks), most_columns = 2 * most_pairs(blocks, kind),
                         always = most_columns, variables = Stage<Real, History>::variables,
                         lane_variables = variables_of_lane<Real, History>;
    // If the initial Hessian is a diagonal, the scale factors of the tile's variables are stored in shared memory after
    // the ring of stages.
    static constexpr int beside_bytes = in_metric(kind) ? variables * static_cast<int>(sizeof(double2)) : 0;

    __device__ LaneAgent(const StageLayout<Real, History> &place, const PanelRequest &request, int columns,
                         unsigned char *beside)
        : columns_(columns), factors_(reinterpret_cast<double2 *>(beside)) {
        // The columns of the panel are y and s of the pairs, g and z (lbfgsb/panel.hpp). The kernel multiplies some of
        // them twice, and numbers the multiplied columns 0, 1, ... (multiplied_columns()). Returns the index of the
        // panel column that has the number k.
        const auto appears = [&](int k) { return k < columns ? k : (k - columns) % panel::leading; };
#pragma unroll
        for (int b = 0; b < blocks; b++) {
            const int k = b * column_block + c();
            const int column = appears(k);
            if (panel::inverse(column)) scaled_by_ |= 1u << b;
            of_caller_[b] = apart && (b == 0 || b >= blocks - 2) && place.of_caller(column);
            at_column_[b] = place.panel_at(column) + r() * 2 * (of_caller_[b] ? sizeof(Real) : sizeof(History));
        }
    }

    // Loads the elements of the diagonal h for the lane's variables of a tile to at.h. Applies the update of a learned
    // diagonal (lbfgsb/learned_diagonal.hpp), if one is due, and adds the sums over h that VariableSum lists
    // (lbfgsb/panel.hpp). Stores the scale factors sqrt(h) and 1 / sqrt(h) in shared memory for all lanes. If the inner
    // products are not weighted, it sets the factors and at.h to 1. The kernel calls this function only if the initial
    // Hessian is a diagonal.
    __device__ void weigh(const DeviceVectors<Real, History> &v, const ProductsRequest &request,
                          const StageLayout<Real, History> &place, unsigned char *stage, int tile,
                          VariablesAhead<Real, lane_variables> &at, LaneSums<Real> &sums) const {
        const int own = threadIdx.x % 32 * lane_variables;
        const auto column = [=](int k) -> const History * { return place.column(stage, k) + own; };
        load_variables(place.vector(stage, place.h) + own, at.h);
        if (request.update.count > 0) {
            double learned[lane_variables];
#pragma unroll
            for (int k = 0; k < lane_variables; k++)
                learned[k] = request.update.anew ? 1.0 : static_cast<double>(at.h[k]);
            for (int pair = 0; pair < request.update.count; pair++) {
                const LearnedPair &of = request.update.pairs[pair];
                const int j = 2 * v.age_of(request, of.slot);
                const History *const y = column(j), *const d = column(j + 1);
#pragma unroll
                for (int k = 0; k < lane_variables; k++) learned[k] = learned_weight(learned[k], d[k], y[k], of);
            }
#pragma unroll
            for (int k = 0; k < lane_variables; k++) at.h[k] = static_cast<Real>(learned[k]);
            store_variables(at.h, v.own_diagonal + int64_t{tile} * variables + own);
        }
#pragma unroll
        for (int k = 0; k < lane_variables; k++) {
            if (request.pairs > 0) add_weighted_sums<Real>(at.h[k], column(0)[k], column(1)[k], request.weighted, sums);
            else sums.bad_weights += !is_weight(at.h[k]);
            if (!request.weighted) at.h[k] = 1;
            const panel::Scaling by = request.weighted ? scaling_of(at.h[k]) : panel::Scaling{1, 1};
            factors_[own + k] = {by.root, by.inverse_root};
        }
    }
    // Returns the factor by which an element of panel column j (y, s, g or z) is multiplied for a variable of the tile.
    // It is 1 without a diagonal.
    __device__ double factor(int variable, int j) const {
        return !in_metric(kind) ? 1.0 : panel::inverse(j) ? factors_[variable].y : factors_[variable].x;
    }

    __device__ void prepare(const DeviceVectors<Real, History> &, const PanelRequest &, int,
                            const StageLayout<Real, History> &, unsigned char *,
                            const VariablesAhead<Real, lane_variables> &, const bool (&)[lane_variables]) {}

    __device__ void multiply(unsigned char *stage, const bool (&is_free)[lane_variables]) {
        // These variables are bit masks. An octet is a group of eight variables. The mask lane_free[e] has a bit for
        // each octet, which is set if variable 2r + e of the octet is free. Bit k of any_free is set if any variable
        // that lane k has classified is free.
        unsigned lane_free[2], any_free = 0;
        if constexpr (free_gram) {
            unsigned free[lane_variables];
#pragma unroll
            for (int k = 0; k < lane_variables; k++) {
                free[k] = __ballot_sync(~0u, is_free[k]);
                any_free |= free[k];
            }
#pragma unroll
            for (int e = 0; e < 2; e++)
                lane_free[e] = free[(2 * r() + e) % lane_variables] >> (2 * r() + e) / lane_variables;
        }

        // In wide panels, the number of registers limits the unrolling.
        constexpr int octets_at_once = blocks <= 3 ? variables / 8 : 2;
#pragma unroll octets_at_once
        for (int octet = 0; octet < variables / 8; octet++) {
            double w[blocks][2];
#pragma unroll
            for (int b = 0; b < blocks; b++) {
                const auto variables_of = [&](auto *first) { load2(first + octet * 8, w[b]); };
                if (apart && of_caller_[b]) variables_of(reinterpret_cast<const Real *>(stage + at_column_[b]));
                else variables_of(reinterpret_cast<const History *>(stage + at_column_[b]));
            }
            if constexpr (in_metric(kind)) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const double2 factor = factors_[octet * 8 + r() * 2 + e];
#pragma unroll
                    for (int b = 0; b < blocks; b++) w[b][e] *= scaled_by_ >> b & 1 ? factor.y : factor.x;
                }
            }
            if constexpr (free_gram) {
                // Some columns appear twice in the second factor (multiplied_columns()). In the first appearance, the
                // elements of variables that are not free are set to 0. The second one contains all variables.
                double over_part[blocks][2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const bool is_free = lane_free[e] >> octet * 8 / lane_variables & 1;
#pragma unroll
                    for (int b = 0; b < blocks; b++) {
                        const bool first = Products::one_tile || b * column_block + c() < columns_;
                        over_part[b][e] = is_free || !first ? w[b][e] : 0.0;
                    }
                }
                // If no variable of an octet (eight variables) is free, the first appearances of columns are 0. If
                // there are many columns, their products are then omitted.
                const unsigned octet_bits = ((1u << (8 / lane_variables)) - 1) << octet * 8 / lane_variables;
                if (blocks > 2 && (any_free & octet_bits) == 0 && columns_ >= (blocks - 1) * column_block)
                    products_.template add<blocks - 1>(w, over_part);
                else products_.add(w, over_part);
            } else {
                products_.add(w, w);
            }
        }
    }

    // Stores the products of this warp in shared memory, where the other warps of the block can read them.
    __device__ void store_products(double *warp_products) {
        products_.store(warp_products + threadIdx.x / 32 * Products::elements);
    }
    // Adds the products of the warps, in the order of the warps, and calls store(entry, value) for each sum. One thread
    // computes each sum.
    template <class Store>
    __device__ static void store_sums(double *warp_products, const PanelRequest &request, const ProductsLayout &layout,
                                      const Store &store) {
        const int columns = layout.columns;
        const auto sum_at = [&](int place) {
            double sum = 0;
            for (int k = 0; k < products_warps; k++) sum += warp_products[k * Products::elements + place];
            return sum;
        };
        for (int e = threadIdx.x; e < columns * columns; e += products_threads) {
            const int i = e / columns, j = e % columns;
            if (free_gram && i <= j) {
                const double sum = sum_at(Products::place_over_free(i, j));
                store_over_free(request, layout, i, j, sum, store);
            }
            if (i < panel::leading && !forms_older_steps_alone(request))
                store(layout.leading_products + i * columns + j, sum_at(Products::place_over_all(i, j, columns)));
        }
    }

  private:
    static constexpr bool free_gram = over_free_variables(kind);
    __device__ static int c() { return threadIdx.x % 32 / 4; }
    __device__ static int r() { return threadIdx.x % 4; }

    const int columns_;
    // The array at_column_ contains the byte offsets of the lane's elements in the stage, one for each block of
    // columns. The results of columns past the end are discarded.
    int at_column_[blocks];
    // With a diagonal, bit b is set if the lane's column of block b is scaled by 1 / sqrt(h) instead of sqrt(h).
    unsigned scaled_by_ = 0;
    // The flag of_caller_[b] is true if the lane's column of block b is g or z and if these have more bits than the
    // stored columns.
    bool of_caller_[blocks];
    double2 *const factors_;
    Products products_;
};

} // namespace cudaopt
