// This header implements sweep 2 on the GPU for columns that are stored with fewer bits than x, while zero tiles are
// tracked (zero_tiles.cuh). The variables of a tile are copied through shared memory, as in sweep 1 (ring.cuh). If all
// columns of a tile are known to be 0, except possibly y of the newest pair, only that y is copied and added.
#pragma once

#include "sweeps/cuda/direction/take_and_store.cuh"
#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

// The number of pairs is limited by the size of the kernel parameters.
constexpr int most_zero_tile_pairs = 28;

template <class Real, class History>
using ZeroTileSources = Sources<Real, History, 2 * most_zero_tile_pairs, most_beside(InnerProducts::metric, false)>;

// The member request.panel.free_gram must be true, so that the bounds are copied to the stages, and y of the newest
// pair must be stored. All vectors must be aligned to 16 bytes.
template <class Real, class History>
__global__ void __launch_bounds__(products_threads, direction_resident)
    direction_zero_tiles_kernel(DeviceVectors<Real, History> v,
                                const __grid_constant__ ZeroTileSources<Real, History> sources,
                                DirectionRequest request, const __grid_constant__ Coefficients q,
                                TrialArrays<Real, History> to, Pieces pieces, int stages, DirectionRecord *records) {
    constexpr int variables = Stage<Real, History>::variables, lane_variables = variables_of_lane<Real, History>,
                  column_stride = Stage<Real, History>::stride;
    using OwnRing =
        Ring<Real, History, 2 * most_zero_tile_pairs, most_beside(InnerProducts::metric, false), LeaveOut::zero_tiles>;
    using Stored = Elements<History, lane_variables>;
    using Loaded = Elements<Real, lane_variables>;
    extern __shared__ __align__(16) unsigned char shared[];
    // The kernels of the caller's evaluation may now be scheduled early.
    trigger_programmatic_launch();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const PanelRequest &panel = request.panel;
    const StageLayout<Real, History> place(v, panel);
    // This sweep processes the tiles from the first to the last. The next sweep 1 begins with the last tile, which is
    // then still in the cache.
    const BlockShare share = pieces.share(v.n, variables, blockIdx.x, gridDim.x, products_warps);
    const int end = static_cast<int>(share.end), step = static_cast<int>(share.step);
    const int first_tile = static_cast<int>(share.begin + share.offset + warp);
    OwnRing ring(sources, place, v, panel, static_cast<int>(v.n / variables), shared + warp * stages * place.bytes(),
                 stages);
    const auto inside = [&](int tile) { return tile < end ? tile : -1; };
    const auto start_copy = [&](int tile) { ring.start_copy(inside(tile), inside(tile + step)); };
    ring.look_ahead(inside(first_tile));
    DirectionRecord all, run;
    int until_joined = run_variables;
    for (int s = 0; s < stages - 1; s++) start_copy(first_tile + s * step);
    for (int tile = first_tile; tile < end; tile += step) {
        start_copy(tile + (stages - 1) * step);
        unsigned char *const stage = ring.await();
        const auto mine = [&](int vector) { return Loaded::load(place.vector(stage, vector) + lane * lane_variables); };
        const Loaded x = mine(place.x), g = mine(place.g), l = mine(place.l), u = mine(place.u);
        Loaded h{};
        if (panel.weighted) h = mine(place.h);
        const History *const entries = place.column(stage, 0) + lane * lane_variables;
        const auto y_of = [&](int age) { return Stored::load(entries + 2 * age * column_stride); };
        const auto s_of = [&](int age) { return Stored::load(entries + (2 * age + 1) * column_stride); };
        const bool zero_y = panel.pairs > 0 && !__any_sync(~0u, y_of(0).any_not_zero());
        const ZeroColumns before = v.zero_tiles.columns(tile);
        double from_y[lane_variables] = {}, from_s[lane_variables] = {};
        const auto add_pair = [&](int age, const Stored &y, const Stored &s) {
            const double q_y = q[panel::y_column(age)], q_s = q[panel::s_column(age)];
#pragma unroll
            for (int k = 0; k < lane_variables; k++) from_y[k] += q_y * y[k], from_s[k] += q_s * s[k];
        };
        // The bits were written before y of the newest pair was stored. If all other columns are 0, the stage contains
        // only this y.
        const bool only_y = panel.pairs > 0 && v.zero_tiles.all_known(before, panel, true);
        if (only_y) add_pair(0, y_of(0), {});
        const int pairs = only_y ? 0 : panel.pairs;
        int age = 0;
        // Each iteration loads two pairs before it uses the first of them.
        for (; age + 1 < pairs; age += 2) {
            const Stored y = y_of(age), s = s_of(age), older_y = y_of(age + 1), older_s = s_of(age + 1);
            add_pair(age, y, s), add_pair(age + 1, older_y, older_s);
        }
        if (age < pairs) add_pair(age, y_of(age), s_of(age));
        const int64_t i = int64_t{tile} * variables + lane * lane_variables;
        const Stored d = take_and_store<lane_variables>(v, request, to, true, i, {x, g, l, u, h}, from_y, from_s, run);
        if ((int64_t{tile} + 1) * variables <= v.n) {
            const bool zero_d = !__any_sync(~0u, d.any_not_zero());
            const ZeroColumns now = v.zero_tiles.with_y(before, panel.newest_slot, zero_y);
            if (lane == 0)
                v.zero_tiles.note(tile, before, v.zero_tiles.with_direction(now, request.spare_slot, zero_d));
        }
        if (--until_joined == 0) {
            all.join(run);
            run = {};
            until_joined = run_variables;
        }
        // When all lanes have read the stage, the next copy may overwrite it.
        __syncwarp();
    }
    all.join(run);
    __pipeline_wait_prior(0);
    join_block(all);
    if (threadIdx.x == 0) records[pieces.place(blockIdx.x)] = all;
}

} // namespace cudaopt
