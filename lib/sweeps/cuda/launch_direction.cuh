// These functions launch the kernels of sweep 2.
#pragma once

#include "sweeps/cuda/kernels.cuh"
#include "sweeps/cuda/launch_place.cuh"

namespace cudaopt {

// Launches sweep 2, which stores one record of sums per block. Returns the number of records.
template <class Real, class History>
int launch_direction(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
                     const CoefficientsAnywhere &q, const TrialArrays<Real, History> &to, DirectionRecord *records,
                     const LaunchPlace &at) {
    const bool by_value = std::is_same_v<Real, History> && at.aligned && !q.in_memory;
    const bool zeros = by_value && v.zero_tiles.are_kept();
    const int variables = at.aligned ? direction_variables<Real, History> : 1;
    const int64_t groups = (v.n + variables - 1) / variables;
    const bool cut = at.pieces.by_segments();
    const Family family = by_value && !cut ? Family::direction : Family::direction_of_pieces;
    const int blocks = cut ? at.pieces.count() : blocks_for(groups, direction_resident);
    for_each_variant<Real, History>([&](auto index) {
        constexpr Variant variant = variants<Real, History>.list[index];
        if constexpr (variant.family == Family::direction || variant.family == Family::direction_of_pieces) {
            if (variant.family != family || variant.size != variables || variant.zeros != zeros ||
                variant.by_value != by_value)
                return;
            const auto launch_it = [&](const auto &...arguments) {
                check(launch(kernel_of<Real, History, index>(), blocks, block_threads, 0, at.stream, arguments...,
                             records),
                      "the launch of sweep 2");
            };
            using Rule = typename RuleOf<Real, History, index>::Type;
            if constexpr (variant.family == Family::direction) launch_it(groups, Rule{v, request, q.by_value, to});
            else if constexpr (variant.by_value) launch_it(at.pieces, v.n, Rule{v, request, q.by_value, to});
            else launch_it(at.pieces, v.n, Rule{v, request, q, to});
        }
    });
    return blocks;
}

// Launches sweep 2 with loads through shared memory. Each block stores one record of sums. Returns the number of
// records.
template <class Real, class History>
int launch_staged_direction(const DeviceVectors<Real, History> &v, DirectionRequest request,
                            const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    // The bounds are copied to the stages only if free_gram is true. Sweep 2 needs them, even if the inner products
    // needed none.
    request.panel.free_gram = true;
    const StageLayout<Real, History> place(v, request.panel);
    const auto stages_of = [&](int resident) {
        return stages_within(std::min(at.block_shared, at.processor_shared / resident), place.bytes(),
                             stages_of_direction);
    };
    // A multiprocessor runs three blocks instead of two if the shared memory then still has room for the same number of
    // stages per warp. There must also be at least two stages, so that a warp can work on one while it waits for
    // another.
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

// Returns whether the kernel for many pairs (direction_many_pairs.cuh) serves the request. Its buffers must fit in the
// shared memory of the device.
template <class Real, class History> bool has_many_pairs_kernel(int pairs, const LaunchPlace &at) {
    const int resident_bytes = at.processor_shared / direction_resident;
    return pairs <= ManyCoefficients::most_pairs &&
           products_warps * PairGroups<Real, History>::bytes <= std::min(at.block_shared, resident_bytes);
}

// Launches sweep 2 for many pairs with fewer bits than x. Each block stores one record of sums. Returns the number of
// records.
template <class Real, class History>
int launch_many_pairs_direction(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
                                const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    const int blocks = variable_blocks(at.pieces, v.n, multiprocessors * direction_resident);
    ManyCoefficients q{};
    std::copy(request.coefficients, request.coefficients + panel::columns(request.panel.pairs), q.q);
    check(launch(direction_many_pairs_kernel<Real, History>, blocks, products_threads,
                 products_warps * PairGroups<Real, History>::bytes, at.stream, v, request, q, to, at.pieces, at.aligned,
                 records),
          "the launch of sweep 2");
    return blocks;
}

} // namespace cudaopt
