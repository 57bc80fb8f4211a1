// This header implements sweep 2 on the GPU for columns that are stored with fewer bits than x. Such columns have few
// bytes per variable. The registers of a thread do not hold enough variables for the loads in flight to saturate the
// memory bandwidth. The variables are therefore copied through shared memory, as in sweep 1 (ring.cuh).
#pragma once

#include "sweeps/cuda/direction.cuh"
#include "sweeps/cuda/ring.cuh"

namespace cudaopt {

// The number of pairs is limited by the size of the kernel parameters.
constexpr int most_staged_pairs = 28;

template <class Real, class History>
using StagedSources = Sources<Real, History, 2 * most_staged_pairs, most_beside(InnerProducts::metric, false)>;

// LoadedVariables contains neighbouring variables of one lane.
template <class Real, int variables> struct LoadedVariables { Elements<Real, variables> x, g, l, u, h; };

// Computes the direction and the first trial point of the variables from i on, and stores them. The arguments from_y
// and from_s are the parts of w'q from Y and from S (subspace_move()). Returns the direction.
template <int variables, class Real, class History>
__device__ Elements<History, variables>
take_and_store(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
               const TrialArrays<Real, History> &to, bool aligned, int64_t i,
               const LoadedVariables<Real, variables> &at, const double (&from_y)[variables],
               const double (&from_s)[variables], DirectionRecord &record) {
    Elements<History, variables> d{};
    Elements<Real, variables> stepped{};
    const auto take = [&](int k, const DirectionRequest &requested) {
        const double weight = requested.panel.weighted ? at.h[k] : 1.0;
        const double move = subspace_move(requested, weight, at.g[k], from_y[k], from_s[k]);
        const auto trial =
            take_trial<Real, History>({at.x[k], at.g[k], at.l[k], at.u[k]}, requested, weight, move, record);
        d.v[k] = trial.d;
        stepped.v[k] = trial.x;
    };
    as_requested(request, [&](const DirectionRequest &requested) {
        if (i + variables <= v.n) {
#pragma unroll
            for (int k = 0; k < variables; k++) take(k, requested);
        } else {
            for (int k = 0; k < variables && i + k < v.n; k++) take(k, requested);
        }
    });
    if (aligned && i + variables <= v.n) {
        d.store(to.d + i);
        at.g.store(to.g_base + i);
        at.x.store(to.x_base + i);
        stepped.store(to.x + i);
    } else {
        for (int k = 0; k < variables && i + k < v.n; k++) {
            to.d[i + k] = d.v[k];
            to.g_base[i + k] = at.g.v[k];
            to.x_base[i + k] = at.x.v[k];
            to.x[i + k] = stepped.v[k];
        }
    }
    return d;
}

// Executes sweep 2, which computes the direction and the first trial point. The member request.panel.free_gram must be
// true, so that the bounds are copied to the stages, and y of the newest pair must be stored. The template argument
// `resident` is the number of blocks per multiprocessor.
template <class Real, class History, int resident, bool looks_for_zeros>
__global__ void __launch_bounds__(products_threads, resident)
    direction_staged_kernel(DeviceVectors<Real, History> v,
                            const __grid_constant__ StagedSources<Real, History> sources, DirectionRequest request,
                            const __grid_constant__ CoefficientsByValue q, TrialArrays<Real, History> to, Pieces pieces,
                            int stages, bool aligned, DirectionRecord *records) {
    constexpr int variables = Stage<Real, History>::variables, lane_variables = variables_of_lane<Real, History>;
    using OwnRing = Ring<Real, History, 2 * most_staged_pairs, most_beside(InnerProducts::metric, false),
                         looks_for_zeros ? LeaveOutZeros::always : LeaveOutZeros::never, 0, stages_of_direction>;
    using Stored = Elements<History, lane_variables>;
    using Loaded = Elements<Real, lane_variables>;
    extern __shared__ __align__(16) unsigned char shared[];
    // The kernels of the caller's evaluation may now be scheduled early.
    trigger_programmatic_launch();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const PanelRequest &panel = request.panel;
    const StageLayout<Real, History> place(v, panel);
    constexpr int column_stride = Stage<Real, History>::stride;

    // This sweep processes the tiles from the first to the last. The next sweep 1 begins with the last tile, which is
    // then still in the cache.
    const BlockShare share = pieces.share(v.n, variables, blockIdx.x, gridDim.x, products_warps);
    const int end = static_cast<int>(share.end), step = static_cast<int>(share.step);
    const int first_tile = static_cast<int>(share.begin + share.offset + warp);
    OwnRing ring(sources, place, v, panel, aligned ? static_cast<int>(v.n / variables) : 0,
                 shared + warp * stages * place.bytes(), stages);
    const auto inside = [&](int tile) { return tile < end ? tile : -1; };
    const auto ask = [&](int tile) { ring.ask(inside(tile), inside(tile + step)); };
    ring.look_ahead(inside(first_tile));
    DirectionRecord all, run;
    int until_joined = run_variables;
    for (int s = 0; s < stages - 1; s++) ask(first_tile + s * step);
    for (int tile = first_tile; tile - warp < end; tile += step) {
        // The warps process adjacent tiles. The barrier keeps them in step, so that their small stores to adjacent
        // memory are issued at about the same time. It is omitted if tiles are skipped in which all columns are 0,
        // because a warp that skips a tile would then have to wait for the others.
        if constexpr (!looks_for_zeros) __syncthreads();
        if (tile >= end) continue;
        ask(tile + (stages - 1) * step);
        unsigned char *const stage = ring.await();
        const auto mine = [&](int vector) { return Loaded::load(place.vector(stage, vector) + lane * lane_variables); };
        const Loaded x = mine(place.x), g = mine(place.g), l = mine(place.l), u = mine(place.u);
        Loaded h{};
        if (panel.weighted) h = mine(place.h);
        double from_y[lane_variables] = {}, from_s[lane_variables] = {};
        const History *const entries = place.column(stage, 0) + lane * lane_variables;
        const auto add_pair = [&](int age, const Stored &y, const Stored &s) {
            const double q_y = q[panel::y_column(age)], q_s = q[panel::s_column(age)];
#pragma unroll
            for (int k = 0; k < lane_variables; k++) from_y[k] += q_y * y[k], from_s[k] += q_s * s[k];
        };
        const auto y_of = [&](int age) { return Stored::load(entries + 2 * age * column_stride); };
        const auto s_of = [&](int age) { return Stored::load(entries + (2 * age + 1) * column_stride); };
        const int pairs = ring.others_are_zero() ? 0 : panel.pairs;
        int age = 0;
        // Each iteration loads two pairs before it uses the first of them.
        for (; age + 1 < pairs; age += 2) {
            const Stored y = y_of(age), s = s_of(age), older_y = y_of(age + 1), older_s = s_of(age + 1);
            add_pair(age, y, s), add_pair(age + 1, older_y, older_s);
        }
        if (age < pairs) add_pair(age, y_of(age), s_of(age));
        const int64_t i = int64_t{tile} * variables + lane * lane_variables;
        const Stored d =
            take_and_store<lane_variables>(v, request, to, aligned, i, {x, g, l, u, h}, from_y, from_s, run);
        if constexpr (looks_for_zeros) {
            bool moves = false;
#pragma unroll
            for (int k = 0; k < lane_variables; k++) moves |= d[k] != 0;
            ring.note_zeros(tile, zeros_of_s, request.spare_slot, moves);
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
