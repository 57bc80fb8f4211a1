// The launches of sweep 2.
#pragma once

#include "sweeps/cuda/kernels.cuh"
#include "sweeps/cuda/launch_place.cuh"

namespace cudaopt {

// Returns how many records of sums there are.
template <class Rule>
int launch_direction(const Rule &rule, int64_t n, DirectionRecord *records, const LaunchPlace &at) {
    const int64_t groups = (n + Rule::variables - 1) / Rule::variables;
    const bool cut = at.pieces.by_segments();
    check(cut ? map_pieces_cuda<DirectionRecord, direction_resident, Rule::variables>(at.pieces, n, rule, records,
                                                                                      at.stream)
              : map_blocks_cuda<DirectionRecord, direction_resident>(groups, rule, records, at.stream),
          "the launch of sweep 2");
    return cut ? at.pieces.count() : blocks_for(groups, direction_resident);
}

// Returns how many records of sums there are.
template <class Real, class History>
int launch_staged_direction(const DeviceVectors<Real, History> &v, DirectionRequest request,
                            const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    request.panel.free_gram = true; // bounds are wanted, whether or not the inner products needed any
    const StageLayout<Real, History> place(v, request.panel);
    const auto stages_of = [&](int resident) {
        return stages_within(std::min(at.block_shared, at.processor_shared / resident), place.bytes(),
                             stages_of_direction);
    };
    // More warps where that takes no stage from them, and each has one to wait for while it works on another.
    const int stages = stages_of(direction_resident);
    const bool more = stages > 1 && stages_of(most_direction_resident) == stages;
    const int resident = more ? most_direction_resident : direction_resident,
              blocks = variable_blocks(at.pieces, v.n, multiprocessors * resident);
    CoefficientsByValue q{};
    std::copy(request.coefficients, request.coefficients + panel::columns(request.panel.pairs), q.q);
    const StagedSources<Real, History> sources(v, request.panel, place);
    for_each_variant<Real, History>([&](auto index) {
        constexpr Variant variant = variants<Real, History>.list[index];
        if constexpr (variant.family == Family::staged_direction)
            if (variant.size == resident && variant.zeros == v.zero_tiles.are_kept())
                check(launch(kernel_of<Real, History, index>(), blocks, products_threads,
                             products_warps * stages * place.bytes(), at.stream, v, sources, request, q, to, at.pieces,
                             stages, at.aligned, records),
                      "the launch of sweep 2");
    });
    return blocks;
}

} // namespace cudaopt
