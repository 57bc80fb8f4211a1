// Sweep 1 on the GPU in single precision, for columns of bfloat16: as inner_products.cuh has it, but for the products.
// Without crossings and not in a metric.
#pragma once

#include "sweeps/cuda/bfloat16_products.cuh"
#include "sweeps/cuda/own_variables.cuh"

namespace cudaopt {

constexpr int bfloat16_resident(int octets) { return octets <= 3 ? 2 : 1; }
constexpr int most_bfloat16_stored(int octets) { return (octets * column_block - gradient_parts) / 2 * 2; }
inline bool has_bfloat16_kernel(const PanelRequest &request) {
    return request.single && !request.in_metric() && request.pairs > 0 && request.threshold == 0 &&
           bfloat16_octets(request.pairs) <= most_octets;
}
constexpr int tiles_passed_on = 2; // 128 variables

template <class Real, int octets, InnerProducts kind>
using Bfloat16Sources = Sources<Real, bfloat16, most_bfloat16_stored(octets), most_beside(kind, true)>;

// What a warp needs besides its ring: g in parts, and a mask of the free variables.
template <class Real> struct Bfloat16Beside {
    static constexpr int stride = Stage<Real, bfloat16>::stride, bytes = (gradient_parts + 1) * stride * 2;
};

template <class Real, int octets, InnerProducts kind>
__global__ void __launch_bounds__(products_threads, bfloat16_resident(octets))
    inner_products_bfloat16_kernel(DeviceVectors<Real, bfloat16> v,
                                   const __grid_constant__ Bfloat16Sources<Real, octets, kind> sources,
                                   PanelRequest request, ProductsLayout layout, SendAhead ahead, Pieces pieces,
                                   int stages, bool aligned, double *partials) {
    constexpr bool free_gram = over_free_variables(kind), many_active = kind == InnerProducts::many_active;
    constexpr int variables = Stage<Real, bfloat16>::variables, lane_variables = variables_of_lane<Real, bfloat16>;
    using Products = Bfloat16Products<octets, free_gram>;
    using Beside = Bfloat16Beside<Real>;
    extern __shared__ __align__(16) unsigned char shared[];
    trigger_programmatic_launch(); // the reduction may take its places
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, columns = layout.columns;
    const StageLayout<Real, bfloat16> place(v, request);
    bfloat16 *const parts =
        reinterpret_cast<bfloat16 *>(shared + products_warps * stages * place.bytes() + warp * Beside::bytes);
    bfloat16 *const mask = parts + gradient_parts * Beside::stride;

    // Where the lane's variable of the matrices begins, of two octets at a time: a column's first or last eight of
    // sixteen variables.
    int at_column[(octets + 1) / 2];
    const int matrix_column = lane / 16 * column_block + lane % 8, matrix_row = lane / 8 % 2 * 8;
#pragma unroll
    for (int b = 0; b < (octets + 1) / 2; b++) {
        const int c = 2 * b * column_block + matrix_column, stored = c < 2 ? c : c - gradient_parts;
        at_column[b] = place.column_at(stored < place.columns ? stored : 0) + matrix_row * 2; // past the end: not used
    }
    const bool of_parts = matrix_column >= 2 && matrix_column < 2 + gradient_parts;
    const unsigned at_parts = shared_address(parts + (matrix_column - 2) * Beside::stride + matrix_row);

    Products products;
    LaneSums<Real> own_sums;
    double slope = 0, squares = 0; // g's_new, which the line search wants in double precision, and g'g
    const WarpTiles tiles(pieces, v.n, variables);
    // The first eight columns are y, s, three parts of g, y, s, y. Where the others are 0, there is little to multiply.
    constexpr int most_columns = most_bfloat16_stored(octets), in_first_octet = column_block - gradient_parts;
    using OwnRing = Ring<Real, bfloat16, most_columns, most_beside(kind, true), many_active,
                         many_active ? in_first_octet : most_columns>;
    OwnRing ring(sources, place, v, request,
                 OwnRing::whole_tiles(place, v.n, aligned, tiles.first, stages * tiles.step),
                 shared + warp * stages * place.bytes(), stages);
    take_off_variables_past_the_end<kind, lane_variables>(own_sums, v.n, tiles.first, lane, request);
    const auto inside = [&](int tile) { return tile >= tiles.begin ? tile : -1; };
    const auto ask = [&](int tile) { ring.ask(inside(tile), inside(tile - tiles.step)); };
    grid_dependency_sync(); // the caller's evaluation
    ring.look_ahead(inside(tiles.first));
    for (int s = 0; s < stages - 1; s++) ask(tiles.first - s * tiles.step);
    int until_passed_on = tiles_passed_on;
    bool leading_wait = false, others_wait = false; // to be passed on
    for (int tile = tiles.first; tile >= tiles.begin; tile -= tiles.step) {
        ask(tile - (stages - 1) * tiles.step);
        unsigned char *const stage = ring.await();

        VariablesAhead<Real, lane_variables> at;
        const bool any_y = load_own_variables<free_gram>(place, stage, request, tile, sources.list[0], at);
        bool is_free[lane_variables], candidate[lane_variables];
        Real z[lane_variables];
        const bool any_candidate = classify_variables<kind>(at, 0, own_sums, is_free, z, candidate);
#pragma unroll
        for (int k = 0; k < lane_variables; k++) squares += static_cast<double>(at.g[k]) * at.g[k];
        static_assert(lane_variables == 2);
        const unsigned own_free = (is_free[0] ? 0xffffu : 0) | (is_free[1] ? 0xffff0000u : 0);
        const unsigned any_free = free_gram ? __ballot_sync(~0u, own_free) : 0;
        // Nothing is multiplied where no variable is free and all columns but g are 0.
        const bool idle = many_active && ring.all_are_zero() && any_free == 0 && !__any_sync(~0u, any_y);
        if (!idle) {
            const auto s_new = Elements<bfloat16, lane_variables>::load(place.column(stage, 1) + lane * lane_variables);
            slope += at.g[0] * s_new[0];
            slope += at.g[1] * s_new[1];
            store_parts(static_cast<float>(at.g[0]), static_cast<float>(at.g[1]), parts + lane * 2, Beside::stride);
            if (free_gram) *reinterpret_cast<unsigned *>(mask + lane * 2) = own_free;
        }
        __syncwarp();
        const bool leading_alone = many_active && ring.others_are_zero();
        if (any_candidate) {
            if (leading_alone) ring.clear_others(stage);
            double t[lane_variables];
            compute_breakpoints<kind>(at, candidate, ahead.reach, own_sums, t);
            if (ahead.below > 0)
                send_own_variables(place, stage, int64_t{tile} * variables, at, t, columns, ahead,
                                   [](int, int) { return 1.0; });
        }

        const unsigned stage_at = shared_address(stage);
        const auto load_two_octets = [&](int group, int b, unsigned(&first)[2], unsigned(&second)[2]) {
            load_matrices((b == 0 && of_parts ? at_parts : stage_at + at_column[b]) + group * 32, first, second);
        };
        const auto load_mask = [&](int group, unsigned(&lane_mask)[2]) {
            if (free_gram) {
                const bfloat16 *const own = mask + group * 16 + lane % 4 * 2;
                lane_mask[0] = *reinterpret_cast<const unsigned *>(own);
                lane_mask[1] = *reinterpret_cast<const unsigned *>(own + 8);
            }
        };
        if (!leading_alone) {
            others_wait = true;
#pragma unroll
            for (int group = 0; group < variables / 16; group++) {
                unsigned w[Products::even][2], lane_mask[2] = {};
#pragma unroll
                for (int b = 0; b < (octets + 1) / 2; b++) load_two_octets(group, b, w[2 * b], w[2 * b + 1]);
                load_mask(group, lane_mask);
                constexpr int lanes = 16 / lane_variables;
                products.add(w, lane_mask, any_free >> group * lanes & ((1u << lanes) - 1));
            }
        } else if (!idle) {
            leading_wait = true;
#pragma unroll
            for (int group = 0; group < variables / 16; group++) {
                unsigned w[2][2], lane_mask[2] = {};
                load_two_octets(group, 0, w[0], w[1]);
                load_mask(group, lane_mask);
                products.add_leading(w[0], lane_mask);
            }
        }
        if (--until_passed_on == 0) {
            if (!many_active || others_wait) products.pass_on();
            else if (leading_wait) products.pass_on_leading();
            until_passed_on = tiles_passed_on, leading_wait = others_wait = false;
        }
        if (many_active && request.fresh) ring.note_zeros(tile, zeros_of_y, request.newest_slot, any_y);
        __syncwarp(); // the stage is free for the tile after next
    }
    products.pass_on();
    __pipeline_wait_prior(0);
    __syncthreads(); // the ring becomes the place where the warps' sums meet
    double *const warp_products = reinterpret_cast<double *>(shared);
    __shared__ double warp_sums[products_warps][WarpSums::size], warp_slopes[products_warps],
        warp_squares[products_warps];
    products.store(warp_products + warp * Products::elements);
    const WarpSums sums(own_sums);
    slope = warp_sum(slope), squares = warp_sum(squares);
    if (lane == 0) {
        for (int k = 0; k < WarpSums::size; k++) warp_sums[warp][k] = sums.v[k];
        warp_slopes[warp] = slope, warp_squares[warp] = squares;
    }
    __syncthreads();
    // A thread an element, warp after warp, to the place of the first one's.
    for (int e = threadIdx.x; e < Products::elements; e += products_threads) {
        double sum = warp_products[e];
#pragma unroll
        for (int k = 1; k < products_warps; k++) sum += warp_products[k * Products::elements + e];
        warp_products[e] = sum;
    }
    __syncthreads();

    // Straight to the block's place among the partial sums.
    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.x + pieces.place(block_of_pieces(pieces))] = value;
    };
    // Of panel columns i and j, part after part of g.
    const auto sum_of = [&](int i, int j, const auto &place_of) {
        const auto first = [](int column) { return column <= panel::gradient ? column : column + 1; };
        const auto count = [](int column) { return column == panel::gradient ? gradient_parts : 1; };
        double sum = 0;
        if (i == panel::displacement || j == panel::displacement) return sum;
        for (int a = 0; a < count(i); a++)
            for (int b = 0; b < count(j); b++) sum += warp_products[place_of(first(i) + a, first(j) + b)];
        return sum;
    };
    for (int i = free_gram ? warp : columns; i < columns; i += products_warps)
        for (int j = i + lane; j < columns; j += 32)
            store(layout.free_gram + panel::gram_index(i, j, columns),
                  sum_of(i, j, [](int a, int b) { return Products::place_over_free(min(a, b), max(a, b)); }));
    for (int e = threadIdx.x; e < panel::leading * columns; e += products_threads) {
        const int i = e / columns, j = e % columns;
        const bool is_slope = min(i, j) == panel::s_new && max(i, j) == panel::gradient,
                   is_square = i == panel::gradient && j == panel::gradient;
        double over_all = is_slope || is_square ? 0 : sum_of(i, j, Products::place_over_all);
        for (int k = 0; is_slope && k < products_warps; k++) over_all += warp_slopes[k];
        for (int k = 0; is_square && k < products_warps; k++) over_all += warp_squares[k];
        store(layout.leading_products + i * columns + j, over_all);
    }
    store_variable_sums<free_gram>(layout, warp_sums, store);
}

} // namespace cudaopt
