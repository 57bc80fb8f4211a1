// This header implements sweep 1 on the GPU for many correction pairs in bfloat16, with products in single precision
// (bfloat16_products.cuh). The products do not fit in the registers of one warp. They are divided into rectangles
// (product_rectangles.hpp), one per warp. A block copies each column to shared memory once (block_ring.cuh), and all
// its warps multiply it. If a block has too few warps for all rectangles, gridDim.x blocks process the same variables,
// and the columns are read through the L2 cache by all of them.
//
// One or two of the warps do not multiply. They classify the variables of the next tiles while the others multiply the
// current ones.
#pragma once

#include "sweeps/cuda/inner_products/block_ring.cuh"
#include "sweeps/cuda/inner_products/cluster_pace.cuh"
#include "sweeps/cuda/inner_products/own_variables.cuh"
#include "sweeps/cuda/inner_products/rectangle_products.cuh"

namespace cudaopt {

// In each step, a block processes two tiles of 64 variables. A warp adds its single-precision sums to its
// double-precision ones after 256 variables. The preparing warps copy no tiles, because the other warps would then have
// to wait for them.
constexpr int most_preparing = 2, tiles_of_step = 2, steps_passed_on = 2;

// RectangleShare describes how the rectangles are divided among the blocks that process the same variables. A block has
// up to seven, since at least one of its eight warps prepares tiles.
struct RectangleShare {
    int blocks, of_block;

    explicit RectangleShare(int rectangles)
        : blocks((rectangles + products_warps - 2) / (products_warps - 1)),
          of_block((rectangles + blocks - 1) / blocks) {}
    // As many warps prepare tiles as do not multiply.
    int preparing() const { return std::min(most_preparing, products_warps - of_block); }
    RectangleShare(bool free_gram, int pairs)
        : RectangleShare(free_gram ? ProductRectangles<true>{bfloat16_octets(pairs)}.count()
                                   : ProductRectangles<false>{bfloat16_octets(pairs)}.count()) {}
};

// RectangleSpace describes the shared memory of a block. The stages are followed by two buffers of prepared tiles.
template <class Real> struct RectangleSpace {
    int stages, bytes;
    bool fits;

    RectangleSpace(const StageLayout<Real, bfloat16> &place, bool free_gram, int block_shared) {
        using Ring = BlockRing<Real, bfloat16, products_threads, tiles_of_step>;
        const int elements = free_gram ? ProductRectangles<true>::elements : ProductRectangles<false>::elements;
        const int stage = tiles_of_step * place.bytes(),
                  prepared = 2 * tiles_of_step * static_cast<int>(sizeof(PreparedTile<Real>));
        stages = std::min(Ring::most_stages, (block_shared - prepared) / stage);
        bytes = std::max(stages * stage + prepared, products_warps * elements * static_cast<int>(sizeof(double)));
        fits = stages >= Ring::least_stages && bytes <= block_shared;
    }
};

// TilePreparation classifies the variables of the tiles of a warp, two variables of each tile per lane.
template <class Real, InnerProducts kind, int tiles> class TilePreparation {
  public:
    static constexpr int of_tile = variables_of_lane<Real, bfloat16>, own = tiles * of_tile,
                         variables = Stage<Real, bfloat16>::variables;
    static_assert(of_tile == 2);

    // The argument first_block is true in the first of the blocks that process the same variables. Only this block
    // stores y and sends variables to the host.
    __device__ TilePreparation(const DeviceVectors<Real, bfloat16> &v, const PanelRequest &request,
                               const StageLayout<Real, bfloat16> &place, bool first_block)
        : v_(v), request_(request), place_(place), first_block_(first_block) {}

    // Prepares the tiles with the indices tile[k], which are in the given stages. A negative index means that there is
    // no tile.
    __device__ void prepare(const int (&tile)[tiles], unsigned char *const (&stage)[tiles],
                            PreparedTile<Real> *const (&to)[tiles], const SendAhead &ahead, int columns) {
        const int lane = threadIdx.x % 32, first = lane * of_tile;
        VariablesAhead<Real, own> at{};
#pragma unroll
        for (int k = 0; k < tiles; k++)
            if (tile[k] >= 0) load(tile[k], stage[k], k * of_tile, at);
            else take_off_variables_past_the_end<kind>(sums, of_tile, request_);
        bool is_free[own], candidate[own];
        Real z[own];
        const bool any_candidate = classify_variables<kind>(at, 0, sums, is_free, z, candidate);
#pragma unroll
        for (int k = 0; k < tiles; k++) {
            if (tile[k] < 0) continue;
            const int e = k * of_tile;
            const unsigned own_free = (is_free[e] ? 0xffffu : 0) | (is_free[e + 1] ? 0xffff0000u : 0);
            const bool any_free = __any_sync(~0u, own_free);
            if (lane == 0) to[k]->any_free = any_free;
            *reinterpret_cast<unsigned *>(to[k]->mask + first) = own_free;
            store_parts(static_cast<float>(at.g[e]), static_cast<float>(at.g[e + 1]), to[k]->parts[0] + first,
                        PreparedTile<Real>::stride);
            const auto s_new = Elements<bfloat16, of_tile>::load(place_.column(stage[k], 1) + first);
#pragma unroll
            for (int i = 0; i < of_tile; i++) {
                gradient.square += static_cast<double>(at.g[e + i]) * at.g[e + i];
                gradient.slope += at.g[e + i] * s_new[i];
            }
        }
        if (!any_candidate) return;
        double t[own];
        compute_breakpoints<kind>(at, candidate, ahead.reach, sums, t);
        if (ahead.below <= 0 || !first_block_) return;
        // All lanes have stored their elements of y.
        __syncwarp();
        for (int k = 0; k < tiles; k++) {
            if (tile[k] < 0) continue;
            VariablesAhead<Real, of_tile> there;
            double t_there[of_tile];
#pragma unroll
            for (int e = 0; e < own; e++)
                if (e / of_tile == k) {
                    there.x[e % of_tile] = at.x[e], there.g[e % of_tile] = at.g[e];
                    there.l[e % of_tile] = at.l[e], there.u[e % of_tile] = at.u[e];
                    t_there[e % of_tile] = t[e];
                }
            send_own_variables(place_, stage[k], int64_t{tile[k]} * variables, there, t_there, columns, ahead,
                               [](int, int) { return 1.0; });
        }
    }

    LaneSums<Real> sums;
    GradientSums gradient;

  private:
    // Loads the lane's variables of a tile to the elements from `to` on.
    __device__ void load(int tile, unsigned char *stage, int to, VariablesAhead<Real, own> &at) const {
        VariablesAhead<Real, of_tile> there{};
        load_own_variables<over_free_variables(kind)>(place_, stage, request_, tile, v_.y(request_.newest_slot), there,
                                                      first_block_);
        const int64_t first = int64_t{tile} * variables + threadIdx.x % 32 * of_tile;
#pragma unroll
        for (int k = 0; k < of_tile; k++) {
            // A bound that is the same for all variables is in the stage past the last variable, too.
            const bool inside = first + k < v_.n;
            at.x[to + k] = there.x[k], at.g[to + k] = there.g[k];
            at.l[to + k] = inside ? there.l[k] : 0, at.u[to + k] = inside ? there.u[k] : 0;
        }
    }

    const DeviceVectors<Real, bfloat16> &v_;
    const PanelRequest &request_;
    const StageLayout<Real, bfloat16> &place_;
    const bool first_block_;
};

// Waits until all threads of the block have called this function. In contrast to __syncthreads(), the calls may be at
// different places in the code, because a named barrier counts the threads.
__device__ inline void wait_for_all_warps() { __barrier_sync_count(1, products_threads); }

// Executes sweep 1. The last `preparing` warps of a block prepare the tiles.
template <class Real, InnerProducts kind, int preparing>
__global__ void __launch_bounds__(products_threads, 1)
    inner_products_rectangle_kernel(DeviceVectors<Real, bfloat16> v, PanelRequest request, ProductsLayout layout,
                                    SendAhead ahead, Pieces pieces, int rectangles_of_block, bool clustered, int stages,
                                    bool aligned, double *partials) {
    constexpr bool free_gram = over_free_variables(kind);
    constexpr int variables = Stage<Real, bfloat16>::variables, tiles = tiles_of_step,
                  tiles_of_warp = tiles / preparing;
    using Map = ProductRectangles<free_gram>;
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ double warp_sums[preparing][WarpSums::size];
    __shared__ GradientSums gradients[preparing];
    // The blocks of the reduction may now be scheduled early.
    trigger_programmatic_launch();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool first_block = blockIdx.x == 0;
    const int block = static_cast<int>(pieces.by_segments() ? gridDim.y - 1 - blockIdx.y : blockIdx.y);
    const StageLayout<Real, bfloat16> place(v, request);
    constexpr int copying = 32 * (products_warps - preparing);
    const BlockRing<Real, bfloat16, copying, tiles> ring(v, request, place, aligned, shared, stages);
    auto *const prepared = reinterpret_cast<PreparedTile<Real>(*)[tiles]>(shared + stages * tiles * place.bytes());

    // Step t processes the tiles first - t * stride, first - t * stride - 1, ... Like the other kernels of sweep 1,
    // this one traverses the variables from the last to the first.
    const BlockShare share = pieces.share(v.n, variables, block, gridDim.y, tiles);
    const int first = static_cast<int>(share.end - 1 - share.offset), begin = static_cast<int>(share.begin),
              stride = static_cast<int>(share.step), steps = first < begin ? 0 : (first - begin) / stride + 1;
    // Returns the index of a tile of step t, or -1 if there is none.
    const auto tile_of = [&](int t, int which) {
        const int tile = first - t * stride - which;
        return t < steps && tile >= begin ? tile : -1;
    };
    ClusterPace pace(clustered);
    int ahead_stage = 0;
    const auto copy = [&](int t) {
        if (threadIdx.x >= copying) return;
        for (int which = 0; which < tiles; which++)
            if (const int tile = tile_of(t, which); tile >= 0) ring.copy(tile, ring.tile(ahead_stage, which));
        __pipeline_commit();
        ahead_stage = ring.next(ahead_stage);
    };
    // Waits for the tiles of the next step, and until all warps have finished the previous step. Then starts the copies
    // of a later step, which overwrite the tiles of the previous one.
    const auto begin_step = [&](int t) {
        ring.await();
        pace.step();
        wait_for_all_warps();
        copy(t + stages - 1);
    };
    // Waits until the kernels of the caller's evaluation of f and g are complete.
    grid_dependency_sync();
    for (int t = 0; t < stages - 2; t++) copy(t);

    const Map map{bfloat16_octets(request.pairs)};
    const int first_rectangle = static_cast<int>(blockIdx.x) * rectangles_of_block;
    if (warp >= products_warps - preparing) {
        // In step t, this warp prepares tiles of step t + 1.
        const int own = warp - (products_warps - preparing), first_own = own * tiles_of_warp;
        TilePreparation<Real, kind, tiles_of_warp> preparation(v, request, place, first_block);
        if (own == 0)
            take_off_variables_past_the_end<kind, variables_of_lane<Real, bfloat16>>(preparation.sums, v.n, first, lane,
                                                                                     request);
        for (int t = -1, now = 0; t < steps; t++, now = ring.next(now)) {
            begin_step(t);
            if (t + 1 == steps) break;
            int tile[tiles_of_warp];
            unsigned char *stage[tiles_of_warp];
            PreparedTile<Real> *to[tiles_of_warp];
#pragma unroll
            for (int k = 0; k < tiles_of_warp; k++) {
                tile[k] = tile_of(t + 1, first_own + k);
                stage[k] = ring.tile(now, first_own + k);
                to[k] = &prepared[(t + 1) % 2][first_own + k];
            }
            preparation.prepare(tile, stage, to, ahead, layout.columns);
        }
        const WarpSums sums(preparation.sums);
        const GradientSums gradient{warp_sum(preparation.gradient.slope), warp_sum(preparation.gradient.square)};
        if (lane == 0) {
            for (int k = 0; k < WarpSums::size; k++) warp_sums[own][k] = sums.v[k];
            gradients[own] = gradient;
        }
        __pipeline_wait_prior(0);
        wait_for_all_warps();
    } else {
        const bool multiplies = warp < rectangles_of_block && first_rectangle + warp < map.count();
        RectangleProducts<Real, free_gram> products(map.at(multiplies ? first_rectangle + warp : 0),
                                                    bfloat16_columns(request.pairs));
        begin_step(-1);
        for (int t = 0, now = 0; t < steps; t++, now = ring.next(now)) {
            begin_step(t);
            for (int which = 0; multiplies && which < tiles; which++)
                if (tile_of(t, which) >= 0) products.add(ring.tile(now, which), prepared[t % 2][which]);
            if (t % steps_passed_on == steps_passed_on - 1) products.pass_on();
        }
        products.pass_on();
        __pipeline_wait_prior(0);
        wait_for_all_warps();
        // The shared memory of the ring is reused for the products.
        products.store(reinterpret_cast<double *>(shared) + warp * Map::elements);
    }
    __syncthreads();
    pace.end();

    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.y + pieces.place(block)] = value;
    };
    // Stores the product of panel columns i and j, if it is in a rectangle of this block. The panel column g is
    // multiplied as three columns, its parts. A product with g is therefore the sum of the products with the parts.
    // These are all in octet 0, and so in the same rectangle.
    const auto first_part = [](int column) { return column <= panel::gradient ? column : column + gradient_parts - 2; };
    const auto store_product = [&](int entry, int i, int j, const auto &place_of) {
        const auto count = [](int column) { return column == panel::gradient ? gradient_parts : 1; };
        const int which = place_of(first_part(i), first_part(j)).rectangle - first_rectangle;
        if (which < 0 || which >= rectangles_of_block) return;
        const double *const products = reinterpret_cast<const double *>(shared) + which * Map::elements;
        double sum = 0;
        if (i != panel::displacement && j != panel::displacement)
            for (int a = 0; a < count(i); a++)
                for (int b = 0; b < count(j); b++)
                    sum += products[place_of(first_part(i) + a, first_part(j) + b).element];
        store(entry, sum);
    };
    const int columns = layout.columns;
    for (int i = free_gram ? warp : columns; i < columns; i += products_warps)
        for (int j = i + lane; j < columns; j += 32)
            store_product(layout.free_gram + panel::gram_index(i, j, columns), i, j,
                          [&](int a, int b) { return map.over_free(min(a, b), max(a, b)); });
    for (int e = threadIdx.x; e < panel::leading * columns; e += products_threads) {
        const int i = e / columns, j = e % columns, entry = layout.leading_products + e;
        const bool is_slope = min(i, j) == panel::s_new && max(i, j) == panel::gradient,
                   is_square = i == panel::gradient && j == panel::gradient;
        if (is_slope || is_square) {
            double sum = 0;
            for (const GradientSums &of_warp : gradients) sum += is_slope ? of_warp.slope : of_warp.square;
            if (first_block) store(entry, sum);
        } else {
            store_product(entry, i, j, [&](int a, int b) { return map.over_all(a, b); });
        }
    }
    if (first_block) store_variable_sums<free_gram>(layout, warp_sums, store);
}

} // namespace cudaopt
