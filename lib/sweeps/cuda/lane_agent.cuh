// The agent of sweep 1 (inner_products.cuh) that forms the products in double precision by the matrix unit: lane (c, r)
// holds two variables of column c of each block of 8 columns: exactly the fragments of the matrix unit, for A and for B
// at once, since the order of the variables is of no consequence to a sum over them.
#pragma once

#include "sweeps/cuda/lane_products.cuh"
#include "sweeps/cuda/ring.cuh"

namespace cudaopt {

// Panels of up to so many blocks of columns (21 pairs, 19 where a metric is new): each warp keeps all products in its
// registers.
constexpr int widest_resident(InnerProducts kind) { return kind == InnerProducts::new_diagonal ? 8 : 6; }
// Which kernel serves a kind: where tiles of zeros are not kept, a branch for each tile is all that 'general' has more
// than 'bounded'.
constexpr InnerProducts lane_kind(InnerProducts kind) {
    return kind == InnerProducts::bounded ? InnerProducts::general : kind;
}
constexpr int resident_blocks(int blocks) { return blocks <= 3 ? 2 : 1; }

// The blocks of the kernel that serves panels of so many: without products over the free variables blocks are
// multiplied two by two, so that one more costs no instruction of the matrix unit.
constexpr int lane_size(InnerProducts kind, int blocks) {
    const bool odd = blocks % 2 == 1 && resident_blocks(blocks) == resident_blocks(blocks + 1);
    return kind == InnerProducts::unbounded && odd ? blocks + 1 : blocks;
}

// The most stored columns, with as many pairs as so many blocks of multiplied columns have.
constexpr int most_stored(int blocks, InnerProducts kind) { return 2 * PanelsOfBlocks(blocks, kind).most_pairs; }

// The diagonal of a lane's own variables, of which at.h has been loaded: its update; its sums, by the newest pair; and
// what scales the variables, root and inverse root, as all lanes will need it. Where nothing is weighted, at.h
// becomes 1.
template <class Real, class History> struct WeightedVariables {
    const DeviceVectors<Real, History> &v;
    const ProductsRequest &request;
    const History *columns; // the lane's first variable of y_0, s_0, y_1, ... in the stage
    Real *h_to;
    double2 *factors_to;

    template <int lane_variables>
    __device__ void look_at(VariablesAhead<Real, lane_variables> &at, LaneSums<Real> &sums) const {
        if (request.update.count > 0) {
            double learned[lane_variables];
#pragma unroll
            for (int k = 0; k < lane_variables; k++)
                learned[k] = request.update.anew ? 1.0 : static_cast<double>(at.h[k]);
            for (int pair = 0; pair < request.update.count; pair++) {
                const LearnedPair &of = request.update.pairs[pair];
                const History *const y = column(2 * v.age_of(request, of.slot)), *const d = y + column_stride;
#pragma unroll
                for (int k = 0; k < lane_variables; k++) learned[k] = learned_weight(learned[k], d[k], y[k], of);
            }
#pragma unroll
            for (int k = 0; k < lane_variables; k++) at.h[k] = static_cast<Real>(learned[k]);
            store_variables(at.h, h_to);
        }
#pragma unroll
        for (int k = 0; k < lane_variables; k++) {
            if (request.pairs > 0) add_weighted_sums<Real>(at.h[k], column(0)[k], column(1)[k], request.weighted, sums);
            else sums.bad_weights += !is_weight(at.h[k]);
            if (!request.weighted) at.h[k] = 1;
            const panel::Scaling by = request.weighted ? scaling_of(at.h[k]) : panel::Scaling{1, 1};
            factors_to[k] = {by.root, by.inverse_root};
        }
    }

  private:
    static constexpr int column_stride = Stage<Real, History>::stride;
    __device__ const History *column(int k) const { return columns + k * column_stride; }
};

template <class Real_, class History_, int blocks, InnerProducts kind_> class LaneAgent {
  public:
    using Real = Real_;
    using History = History_;
    using Products = LaneProducts<blocks, kind_>;
    static constexpr InnerProducts kind = kind_;
    static constexpr bool apart = DeviceVectors<Real, History>::apart, crosses_breakpoints = true,
                          zeros = looks_for_zeros<Real, History>(kind);
    static constexpr LeaveOutZeros zeros_are = zeros ? LeaveOutZeros::where_kept : LeaveOutZeros::never;
    static constexpr int resident = resident_blocks(blocks), most_columns = most_stored(blocks, kind),
                         always = most_columns, variables = Stage<Real, History>::variables,
                         lane_variables = variables_of_lane<Real, History>;
    // Of products in a metric, behind the ring: the factors of the tile's variables.
    static constexpr int beside_bytes = in_metric(kind) ? variables * static_cast<int>(sizeof(double2)) : 0;

    __device__ LaneAgent(const StageLayout<Real, History> &place, const PanelRequest &request, int columns,
                         unsigned char *beside)
        : columns_(columns), factors_(reinterpret_cast<double2 *>(beside)) {
        const auto appears = [&](int k) { // which column it is that stands there
            const int again = k - columns, older = again - panel::leading;
            if (again < 0) return k;
            return new_diagonal && older >= 0 && older + 1 < request.pairs ? panel::s_column(older + 1)
                                                                           : again % panel::leading;
        };
#pragma unroll
        for (int b = 0; b < blocks; b++) {
            const int k = b * column_block + c();
            const int column = appears(k);
            if (panel::inverse(column)) scaled_by_ |= 1u << b;
            of_caller_[b] =
                apart && (b == 0 || b >= (new_diagonal ? panels.second_from() : blocks - 2)) && place.of_caller(column);
            at_column_[b] = place.panel_at(column) + r() * 2 * (of_caller_[b] ? sizeof(Real) : sizeof(History));
        }
    }

    // What only products in a metric do with the lane's own variables.
    __device__ void weigh(const DeviceVectors<Real, History> &v, const ProductsRequest &request,
                          const StageLayout<Real, History> &place, unsigned char *stage, int tile,
                          VariablesAhead<Real, lane_variables> &at, LaneSums<Real> &sums) const {
        const int own = threadIdx.x % 32 * lane_variables;
        load_variables(place.vector(stage, place.h) + own, at.h);
        const WeightedVariables<Real, History> here{v, request, place.column(stage, 0) + own,
                                                    v.own_diagonal + int64_t{tile} * variables + own, factors_ + own};
        here.look_at(at, sums);
    }
    // What scales the tile's variable in column j.
    __device__ double factor(int variable, int j) const {
        return !in_metric(kind) ? 1.0 : panel::inverse(j) ? factors_[variable].y : factors_[variable].x;
    }

    template <class OwnRing>
    __device__ void prepare(const OwnRing &, const StageLayout<Real, History> &, unsigned char *,
                            const VariablesAhead<Real, lane_variables> &, const bool (&)[lane_variables], bool) {}
    template <class OwnRing> __device__ void complete(const OwnRing &, unsigned char *) const {}

    template <class OwnRing>
    __device__ void multiply(const OwnRing &, unsigned char *stage, const bool (&is_free)[lane_variables]) {
        // Bits of the free variables: of the lane's two in each octet; of any of those that a lane looks at.
        unsigned lane_free[2], any_free = 0, all_free = ~0u;
        if constexpr (free_gram) {
            unsigned free[lane_variables];
#pragma unroll
            for (int k = 0; k < lane_variables; k++) {
                free[k] = __ballot_sync(~0u, is_free[k]);
                any_free |= free[k], all_free &= free[k];
            }
#pragma unroll
            for (int e = 0; e < 2; e++)
                lane_free[e] = free[(2 * r() + e) % lane_variables] >> (2 * r() + e) / lane_variables;
        }

        constexpr int octets_at_once = blocks <= 3 ? variables / 8 : 2; // of wide panels, as many as the registers bear
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
                // Of the columns the free variables; of their second appearances all, or of older steps the others.
                double over_part[blocks][2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const bool is_free = lane_free[e] >> octet * 8 / lane_variables & 1;
#pragma unroll
                    for (int b = 0; b < blocks; b++) {
                        const int again = b * column_block + c() - columns_;
                        const bool taken = Products::one_tile || again < 0           ? is_free
                                           : new_diagonal && again >= panel::leading ? !is_free
                                                                                     : true;
                        over_part[b][e] = taken ? w[b][e] : 0.0;
                    }
                }
                // Where there is much to multiply, octets with no free variable have the last block only, or in a
                // metric those with second appearances; and octets of free variables alone do without the older steps'.
                constexpr int second_from = new_diagonal ? panels.second_from() : blocks - 1;
                const unsigned octet_bits = ((1u << (8 / lane_variables)) - 1) << octet * 8 / lane_variables;
                if (blocks > 2 && (any_free & octet_bits) == 0 && columns_ >= second_from * column_block)
                    products_.template add<second_from>(w, over_part);
                else if (new_diagonal && panels.over_free_alone() < blocks && (all_free & octet_bits) == octet_bits)
                    products_.template add<0, panels.over_free_alone()>(w, over_part);
                else products_.add(w, over_part);
            } else {
                products_.add(w, w);
            }
        }
    }

    // The warp's sums, to a place that all warps of the block see.
    __device__ void store_products(double *warp_products) {
        products_.store(warp_products + threadIdx.x / 32 * Products::elements);
    }
    // Those of the block, a thread an element, warp after warp. store(entry, value)
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
            if (free_gram && i <= j)
                store(layout.free_gram + panel::gram_index(i, j, columns), sum_at(Products::place_over_free(i, j)));
            if (i < panel::leading)
                store(layout.leading_products + i * columns + j, sum_at(Products::place_over_all(i, j, columns)));
            if (new_diagonal && i <= j && i >= panel::leading && i % 2 == 1 && j % 2 == 1) {
                const int age_i = panel::age(i), age_j = panel::age(j);
                store(layout.older_steps + panel::older_index(age_i, age_j, request.pairs),
                      Products::one_tile ? sum_at(Products::place_over_all(i, j, columns))
                                         : sum_at(Products::place_over_free(i, j)) +
                                               sum_at(Products::place_over_held(i, age_j, columns)));
            }
        }
    }

  private:
    static constexpr bool free_gram = over_free_variables(kind), new_diagonal = kind == InnerProducts::new_diagonal;
    static constexpr PanelsOfBlocks panels{blocks, kind};
    __device__ static int c() { return threadIdx.x % 32 / 4; }
    __device__ static int r() { return threadIdx.x % 4; }

    const int columns_;
    int at_column_[blocks];  // the lane's; what columns past the end give is not used
    unsigned scaled_by_ = 0; // of products in a metric: a bit for each that is scaled by the inverse root
    bool of_caller_[blocks]; // where the stored columns have fewer bits than g and z
    double2 *const factors_;
    Products products_;
};

} // namespace cudaopt
