// This header implements sweep 1 on the GPU, which computes inner products of the columns of the panel. The panel
// consists of the stored vectors y and s, the gradient g and the displacement z. One traversal computes sums over
// single variables and the Gram matrix of the panel over the free variables. It also computes the products of the
// leading columns (y and s of the newest pair, g and z) with all columns over all variables.
//
// Each warp processes tiles of 32 or 64 variables, which a pipeline copies to shared memory (ring.cuh). Each lane
// classifies one or two variables of a tile as free or active (variables_of_lane). The kernel below loads the tiles and
// classifies the variables. Its template argument, the agent, multiplies the columns and stores the sums. LaneAgent
// works in double precision (lane_agent.cuh), and Bfloat16Agent works in single precision (bfloat16_agent.cuh).
//
// The assignment of tiles to warps depends only on n and on the number of columns, so that the sums are bitwise equal
// in each run. If the variables of a rank are divided into segments, it depends on the number of variables of all ranks
// instead. Partial sums are stored as [entry][block], so that the reduction reads consecutive elements.
#pragma once

#include "sweeps/cuda/inner_products/own_variables.cuh"

namespace cudaopt {

template <class Agent>
using SourcesOf =
    Sources<typename Agent::Real, typename Agent::History, Agent::most_columns, most_beside(Agent::kind, Agent::apart)>;

template <class Agent>
__global__ void __launch_bounds__(products_threads, Agent::resident)
    inner_products_kernel(DeviceVectors<typename Agent::Real, typename Agent::History> v,
                          const __grid_constant__ SourcesOf<Agent> sources, ProductsRequest request,
                          ProductsLayout layout, SendAhead ahead, Pieces pieces, int stages, bool aligned,
                          double *partials) {
    using Real = typename Agent::Real;
    using History = typename Agent::History;
    constexpr InnerProducts kind = Agent::kind;
    constexpr int variables = Stage<Real, History>::variables, lane_variables = variables_of_lane<Real, History>;
    extern __shared__ __align__(16) unsigned char shared[];
    // The blocks of the reduction may now be scheduled early.
    trigger_programmatic_launch();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const StageLayout<Real, History> place(v, request);
    Agent agent(place, request, layout.columns,
                shared + products_warps * stages * place.bytes() + warp * Agent::beside_bytes);
    LaneSums<Real> own_sums;

    // A warp processes the tiles first, first - step, ..., but none below `begin`. Sweep 1 traverses the variables from
    // the last to the first, whereas evaluations and sweep 2 begin with the first. Each kernel thus starts with the
    // variables that the previous kernel has left in the L2 cache.
    const BlockShare share = pieces.share(v.n, variables, block_of_pieces(pieces), gridDim.x, products_warps);
    const int begin = static_cast<int>(share.begin), step = static_cast<int>(share.step),
              first = static_cast<int>(share.end - 1 - (share.offset + warp));
    using OwnRing = Ring<Real, History, Agent::most_columns, most_beside(kind, Agent::apart),
                         over_free_variables(kind) ? LeaveOut::zero_columns : LeaveOut::nothing>;
    OwnRing ring(sources, place, v, request, OwnRing::whole_tiles(place, v.n, aligned, first, stages * step),
                 shared + warp * stages * place.bytes(), stages);
    take_off_variables_past_the_end<kind, lane_variables>(own_sums, v.n, first, lane, request);
    const auto inside = [&](int tile) { return tile >= begin ? tile : -1; };
    const auto start_copy = [&](int tile) { ring.start_copy(inside(tile), inside(tile - step)); };
    // Waits until the kernels of the caller's evaluation of f and g are complete.
    grid_dependency_sync();
    ring.look_ahead(inside(first));
    for (int s = 0; s < stages - 1; s++) start_copy(first - s * step);
    for (int tile = first; tile >= begin; tile -= step) {
        start_copy(tile - (stages - 1) * step);
        unsigned char *const stage = ring.await();

        VariablesAhead<Real, lane_variables> at;
        load_own_variables<over_free_variables(kind)>(place, stage, request, tile, sources.list[0], at);
        if constexpr (in_metric(kind)) agent.weigh(v, request, place, stage, tile, at, own_sums);
        const double threshold = Agent::crosses_breakpoints ? request.threshold : 0;
        bool is_free[lane_variables], candidate[lane_variables];
        alignas(lane_variables * sizeof(Real)) Real z[lane_variables];
        const bool any_candidate = classify_variables<kind>(at, threshold, own_sums, is_free, z, candidate);
        if (threshold != 0) store_variables(z, place.vector(stage, place.x) + lane * lane_variables);
        agent.prepare(v, request, tile, place, stage, at, is_free);
        __syncwarp();
        if (any_candidate) {
            double t[lane_variables];
            compute_breakpoints<kind>(at, candidate, ahead.reach, own_sums, t);
            if (ahead.below > 0)
                send_own_variables(place, stage, int64_t{tile} * variables, at, t, layout.columns, ahead,
                                   [&](int variable, int j) { return agent.factor(variable, j); });
        }
        agent.multiply(stage, is_free);
        // When all lanes have read the stage, the next copy may overwrite it.
        __syncwarp();
    }
    __pipeline_wait_prior(0);
    // The shared memory of the ring of stages is reused for the products of the warps.
    __syncthreads();
    double *const warp_products = reinterpret_cast<double *>(shared);
    __shared__ double warp_sums[products_warps][WarpSums::size];
    agent.store_products(warp_products);
    const WarpSums sums(own_sums);
    if (lane == 0)
        for (int k = 0; k < WarpSums::size; k++) warp_sums[warp][k] = sums.v[k];
    __syncthreads();
    // Stores this block's partial sum of one entry of ProductsLayout.
    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.x + pieces.place(block_of_pieces(pieces))] = value;
    };
    agent.store_sums(warp_products, request, layout, store);
    if (!forms_older_steps_alone(request)) store_variable_sums<over_free_variables(kind)>(layout, warp_sums, store);
}

} // namespace cudaopt
