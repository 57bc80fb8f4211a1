// These functions launch the kernels of sweep 2.
#pragma once

#include "sweeps/cuda/kernels.cuh"
#include "sweeps/cuda/support/launch_place.cuh"

namespace cudaopt {

// Returns whether the kernel that copies groups of pairs (pair_groups.cuh) serves requests with this number of pairs.
// Its buffers must fit in the shared memory of the device.
template <class Real, class History> bool serves_by_pair_groups(int pairs, const LaunchPlace &at) {
    return !std::is_same_v<Real, History> && pairs <= CoefficientsOfGroups::most_pairs &&
           products_warps * PairGroups<Real, History>::bytes <= std::min(at.block_shared, at.processor_shared);
}

// Returns whether the kernel for zero tiles (zero_tile_direction.cuh) serves requests with v.m pairs. At least one
// stage per warp must fit in the shared memory of the device.
template <class Real, class History>
bool serves_zero_tiles(const DeviceVectors<Real, History> &v, PanelRequest panel, const LaunchPlace &at) {
    panel.pairs = v.m, panel.free_gram = panel.weighted = true;
    return at.aligned && v.m <= most_zero_tile_pairs &&
           products_warps * StageLayout<Real, History>(v, panel).bytes() <=
               std::min(at.block_shared, at.processor_shared);
}

// Each of the following functions launches a kernel of sweep 2, which stores one record of sums per block. They return
// the number of records.
template <class Real, class History>
int launch_pair_groups(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
                       const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    const int blocks = variable_blocks(at.pieces, v.n, multiprocessors * direction_resident);
    CoefficientsOfGroups q{};
    std::copy(request.coefficients, request.coefficients + panel::columns(request.panel.pairs), q.q);
    check(launch(direction_pair_groups_kernel<Real, History>, blocks, products_threads,
                 products_warps * PairGroups<Real, History>::bytes, at.stream, v, request, q, to, at.pieces, at.aligned,
                 records),
          "the launch of sweep 2");
    return blocks;
}

template <class Real, class History>
int launch_zero_tiles(const DeviceVectors<Real, History> &v, DirectionRequest request, const Coefficients &q,
                      const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    // The bounds are copied to the stages only if free_gram is true.
    request.panel.free_gram = true;
    const StageLayout<Real, History> place(v, request.panel);
    const int stages =
        stages_within(std::min(at.block_shared, at.processor_shared / direction_resident), place.bytes());
    const int blocks = variable_blocks(at.pieces, v.n, multiprocessors * direction_resident);
    const ZeroTileSources<Real, History> sources(v, request.panel, place);
    check(launch(direction_zero_tiles_kernel<Real, History>, blocks, products_threads,
                 products_warps * stages * place.bytes(), at.stream, v, sources, request, q, to, at.pieces, stages,
                 records),
          "the launch of sweep 2");
    return blocks;
}

template <class Real, class History>
int launch_direction(const DeviceVectors<Real, History> &v, const DirectionRequest &request, const Coefficients &q,
                     const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    const bool zeros = at.aligned && v.zero_tiles.tracked();
    const int variables = at.aligned ? direction_variables<Real, History> : 1;
    const int blocks =
        at.pieces.by_segments() ? at.pieces.count() : blocks_for((v.n + variables - 1) / variables, direction_resident);
    for_each_kernel<Real, History>([&](auto index) {
        constexpr Kernel kernel = kernels<Real, History>.list[index];
        if constexpr (kernel.family == Family::direction)
            if (kernel.variables == variables && kernel.zeros == zeros)
                check(launch(kernel_of<Real, History, index>(), blocks, block_threads, 0, at.stream, at.pieces, v.n,
                             DirectionRule<Real, History, index>{v, request, q, to}, records),
                      "the launch of sweep 2");
    });
    return blocks;
}

} // namespace cudaopt
