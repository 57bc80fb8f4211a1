// Sweep 1 on the GPU: variable sums, the free variables' Gram matrix and the products of the leading columns, in one
// reading.
//
// A warp takes a tile of variables at a time, 256 bytes of each column; 8 bytes of x, g, l and u are a lane's. For the
// products, lane (c, r) holds two variables of column c of each block of 8 columns: exactly the fragments of the matrix
// unit, for A and for B at once, since the order of the variables is of no consequence to a sum over them.
//
// Which variables a warp takes is a function of n and of the number of columns alone, so the sums have the same bits in
// each run; of all ranks' n where there are pieces. Partial sums stand as [entry][block], so that they are read in
// order.
#pragma once

#include "sweeps/cuda/own_variables.cuh"
#include "sweeps/cuda/lane_products.cuh"

namespace cudaopt {

// Panels of up to so many blocks of columns (21 pairs, 19 where a metric is new): each warp keeps all products in its
// registers.
constexpr int widest_resident(InnerProducts kind) { return kind == InnerProducts::new_diagonal ? 8 : 6; }
constexpr int resident_blocks(int blocks) { return blocks <= 3 ? 2 : 1; }

// In a metric zeros are looked for where the columns have x's bits.
template <class Real, class History> constexpr bool has_kernels(InnerProducts kind) {
    return kind != InnerProducts::diagonal_held || std::is_same_v<Real, History>;
}

// The most stored columns, with as many pairs as so many blocks of multiplied columns have.
constexpr int most_stored(int blocks, InnerProducts kind) { return 2 * PanelsOfBlocks(blocks, kind).most_pairs; }

template <class Real, class History, int blocks, InnerProducts kind>
using SourcesOf =
    Sources<Real, History, most_stored(blocks, kind), most_beside(kind, DeviceVectors<Real, History>::apart)>;

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

template <class Real, class History, int blocks, InnerProducts kind>
__global__ void __launch_bounds__(products_threads, resident_blocks(blocks))
    inner_products_kernel(DeviceVectors<Real, History> v,
                          const __grid_constant__ SourcesOf<Real, History, blocks, kind> sources,
                          ProductsRequest request, ProductsLayout layout, SendAhead ahead, Pieces pieces, int stages,
                          bool aligned, double *partials) {
    constexpr bool free_gram = over_free_variables(kind), metric = in_metric(kind);
    constexpr bool new_diagonal = kind == InnerProducts::new_diagonal, many_active = looks_for_zeros(kind);
    constexpr bool apart = DeviceVectors<Real, History>::apart;
    constexpr int variables = Stage<Real, History>::variables, lane_variables = variables_of_lane<Real, History>;
    using Products = LaneProducts<blocks, kind>;
    constexpr PanelsOfBlocks panels(blocks, kind);
    extern __shared__ __align__(16) unsigned char shared[];
    trigger_programmatic_launch(); // the reduction may take its places
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = lane / 4, r = lane % 4, columns = layout.columns;
    const StageLayout<Real, History> place(v, request);

    int at_column[blocks];            // the lane's; what columns past the end give is not used
    unsigned scaled_by = 0;           // of products in a metric: a bit for each that is scaled by the inverse root
    bool of_caller[blocks];           // where the stored columns have fewer bits than g and z
    const auto appears = [&](int k) { // which column it is that stands there
        const int again = k - columns, older = again - panel::leading;
        if (again < 0) return k;
        return new_diagonal && older >= 0 && older + 1 < request.pairs ? panel::s_column(older + 1)
                                                                       : again % panel::leading;
    };
#pragma unroll
    for (int b = 0; b < blocks; b++) {
        const int k = b * column_block + c;
        const int column = appears(k);
        if (panel::inverse(column)) scaled_by |= 1u << b;
        of_caller[b] =
            apart && (b == 0 || b >= (new_diagonal ? panels.second_from() : blocks - 2)) && place.of_caller(column);
        at_column[b] = place.panel_at(column) + r * 2 * (of_caller[b] ? sizeof(Real) : sizeof(History));
    }
    Products products;
    LaneSums<Real> own_sums;
    // Of products in a metric, behind the ring: the factors of the tile's variables.
    double2 *const factors =
        reinterpret_cast<double2 *>(shared + products_warps * stages * place.bytes()) + (metric ? warp * variables : 0);

    const WarpTiles tiles(pieces, v.n, variables);
    using OwnRing = Ring<Real, History, most_stored(blocks, kind), most_beside(kind, apart), many_active>;
    OwnRing ring(sources, place, v, request,
                 OwnRing::whole_tiles(place, v.n, aligned, tiles.first, stages * tiles.step),
                 shared + warp * stages * place.bytes(), stages);
    take_off_variables_past_the_end<kind, lane_variables>(own_sums, v.n, tiles.first, lane, request);
    const auto inside = [&](int tile) { return tile >= tiles.begin ? tile : -1; };
    const auto ask = [&](int tile) { ring.ask(inside(tile), inside(tile - tiles.step)); };
    grid_dependency_sync(); // the caller's evaluation
    ring.look_ahead(inside(tiles.first));
    for (int s = 0; s < stages - 1; s++) ask(tiles.first - s * tiles.step);
    for (int tile = tiles.first; tile >= tiles.begin; tile -= tiles.step) {
        ask(tile - (stages - 1) * tiles.step);
        unsigned char *const stage = ring.await();

        VariablesAhead<Real, lane_variables> at;
        const bool any_y = load_own_variables<free_gram>(place, stage, request, tile, sources.list[0], at);
        if constexpr (metric) {
            load_variables(place.vector(stage, place.h) + lane * lane_variables, at.h);
            const WeightedVariables<Real, History> here{
                v, request, place.column(stage, 0) + lane * lane_variables,
                v.own_diagonal + int64_t{tile} * variables + lane * lane_variables, factors + lane * lane_variables};
            here.look_at(at, own_sums);
        }
        bool is_free[lane_variables], candidate[lane_variables];
        alignas(lane_variables * sizeof(Real)) Real z[lane_variables];
        const bool any_candidate = classify_variables<kind>(at, request.threshold, own_sums, is_free, z, candidate);
        if (crosses<kind>(request.threshold)) store_variables(z, place.vector(stage, place.x) + lane * lane_variables);
        __syncwarp();
        if (any_candidate) {
            double t[lane_variables];
            compute_breakpoints<kind>(at, candidate, sends_ahead(kind) ? ahead.reach : 0, own_sums, t);
            if (sends_ahead(kind) && ahead.below > 0) {
                const auto factor = [&](int variable, int j) {
                    return !metric ? 1.0 : panel::inverse(j) ? factors[variable].y : factors[variable].x;
                };
                send_own_variables(place, stage, int64_t{tile} * variables, at, t, columns, ahead, factor);
            }
        }

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
                lane_free[e] = free[(2 * r + e) % lane_variables] >> (2 * r + e) / lane_variables;
        }

        constexpr int octets_at_once = blocks <= 3 ? variables / 8 : 2; // of wide panels, as many as the registers bear
#pragma unroll octets_at_once
        for (int octet = 0; octet < variables / 8; octet++) {
            double w[blocks][2];
#pragma unroll
            for (int b = 0; b < blocks; b++) {
                const auto variables_of = [&](auto *first) { load2(first + octet * 8, w[b]); };
                if (apart && of_caller[b]) variables_of(reinterpret_cast<const Real *>(stage + at_column[b]));
                else variables_of(reinterpret_cast<const History *>(stage + at_column[b]));
            }
            if constexpr (metric) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const double2 factor = factors[octet * 8 + r * 2 + e];
#pragma unroll
                    for (int b = 0; b < blocks; b++) w[b][e] *= scaled_by >> b & 1 ? factor.y : factor.x;
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
                        const int again = b * column_block + c - columns;
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
                if (blocks > 2 && (any_free & octet_bits) == 0 && columns >= second_from * column_block)
                    products.template add<second_from>(w, over_part);
                else if (new_diagonal && panels.over_free_alone() < blocks && (all_free & octet_bits) == octet_bits)
                    products.template add<0, panels.over_free_alone()>(w, over_part);
                else products.add(w, over_part);
            } else {
                products.add(w, w);
            }
        }
        if (many_active && apart && request.fresh) ring.note_zeros(tile, zeros_of_y, request.newest_slot, any_y);
        __syncwarp(); // the stage is free for the tile after next
    }
    __pipeline_wait_prior(0);
    __syncthreads(); // the ring becomes the place where the warps' sums meet
    double *const warp_products = reinterpret_cast<double *>(shared);
    __shared__ double warp_sums[products_warps][WarpSums::size];
    products.store(warp_products + warp * Products::elements);
    const WarpSums sums(own_sums);
    if (lane == 0)
        for (int k = 0; k < WarpSums::size; k++) warp_sums[warp][k] = sums.v[k];
    __syncthreads();

    // A thread an element, warp after warp, straight to the block's place among the partial sums.
    const auto sum_at = [&](int place) {
        double sum = 0;
        for (int k = 0; k < products_warps; k++) sum += warp_products[k * Products::elements + place];
        return sum;
    };
    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.x + pieces.place(block_of_pieces(pieces))] = value;
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
                  Products::one_tile
                      ? sum_at(Products::place_over_all(i, j, columns))
                      : sum_at(Products::place_over_free(i, j)) + sum_at(Products::place_over_held(i, age_j, columns)));
        }
    }
    store_variable_sums<free_gram>(layout, warp_sums, store);
}

} // namespace cudaopt
