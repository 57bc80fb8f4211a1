// This header contains the list of all kernels of a CUDA backend. The first call of a handle loads the kernels of this
// list. Later calls launch them from the same list.
#pragma once

#include <utility>

#include "sweeps/cuda/bfloat16_agent.cuh"
#include "sweeps/cuda/direction_many_pairs.cuh"
#include "sweeps/cuda/inner_products.cuh"
#include "sweeps/cuda/inner_products_rectangles.cuh"
#include "sweeps/cuda/inner_products_wide.cuh"
#include "sweeps/cuda/lane_agent.cuh"
#include "sweeps/cuda/map_pieces.cuh"
#include "sweeps/cuda/pair_rule.cuh"
#include "sweeps/cuda/posted_numbers.hpp"
#include "sweeps/cuda/support.cuh"
#include "sweeps/cuda/vector_kernels.hpp"

namespace cudaopt {

// A thread of sweep 2 processes direction_variables neighbouring variables, which are 16 bytes of x, if all vectors are
// aligned. Otherwise it processes one.
template <class Real, class History> constexpr int direction_variables = 16 / sizeof(Real);

// Family identifies a kernel template, and the other members of Variant are its arguments. Sweep 1, which computes
// inner products, uses LaneAgent (lanes), Bfloat16Agent (bfloat16), or the kernels for wide panels (rectangles for
// columns in bfloat16 with products in single precision, otherwise wide). Sweep 2, which computes the direction, uses
// the rule TakeDirection. The family `direction` serves the usual requests if the variables are not divided into
// segments, and `direction_of_pieces` serves the others. If the columns have fewer bits than x, sweep 2 loads them
// through shared memory (staged_direction, and many_pairs if there are more than most_staged_pairs).
enum class Family { lanes, bfloat16, rectangles, wide, direction, direction_of_pieces, staged_direction, many_pairs };
struct Variant {
    Family family;
    InnerProducts kind; // of sweep 1
    // For sweep 1, the size is the number of groups of 8 columns, called blocks in LaneAgent and octets in
    // Bfloat16Agent. In the family rectangles, it is the number of warps that prepare tiles. For sweep 2, it is the
    // number of neighbouring variables per thread. In the family staged_direction, it is the number of CUDA blocks per
    // multiprocessor.
    int size;
    // For sweep 2, which computes the direction, `zeros` states that tiles which contain only zeros are skipped
    // (zero_tiles.cuh), and `by_value` that the coefficients of the direction are kernel parameters.
    bool zeros, by_value;
};

template <class Real, class History> struct Variants {
    int count = 0;
    Variant list[80] = {};

    constexpr Variants() {
        constexpr bool fewer_bits = !std::is_same_v<Real, History>;
        for (int k = 0; k <= static_cast<int>(InnerProducts::new_diagonal); k++) {
            const auto kind = static_cast<InnerProducts>(k);
            for (int blocks = 1; blocks <= widest_resident(kind); blocks++)
                if (lane_kind<Real>(kind, blocks) == kind && lane_size(kind, blocks) == blocks &&
                    PanelsOfBlocks(blocks, kind).most_pairs > 0)
                    add({Family::lanes, kind, blocks, false, false});
            if (wide_kind(kind) == kind) add({Family::wide, kind, 0, false, false});
            if (std::is_same_v<History, bfloat16> && has_bfloat16_kernel(kind))
                for (int octets = least_octets; octets <= most_octets; octets++)
                    add({Family::bfloat16, kind, octets, false, false});
            if (std::is_same_v<History, bfloat16> && has_rectangle_kernel(kind))
                for (int preparing = 1; preparing <= most_preparing; preparing++)
                    add({Family::rectangles, kind, preparing, false, false});
        }
        for (int resident = direction_resident; fewer_bits && resident <= most_direction_resident; resident++)
            for (const bool zeros : {false, true})
                add({Family::staged_direction, InnerProducts::bounded, resident, zeros, true});
        if (fewer_bits) add({Family::many_pairs, InnerProducts::bounded, direction_resident, false, true});
        for (const Family family : {Family::direction, Family::direction_of_pieces})
            for (const bool zeros : {false, true})
                if (!fewer_bits) add({family, InnerProducts::bounded, direction_variables<Real, History>, zeros, true});
        for (const int variables : {1, direction_variables<Real, History>})
            add({Family::direction_of_pieces, InnerProducts::bounded, variables, false, false});
    }

  private:
    constexpr void add(const Variant &variant) { list[count++] = variant; }
};
template <class Real, class History> inline constexpr Variants<Real, History> variants{};

// Calls action(index) for each of the variants, where index is a std::integral_constant.
template <class Action, int... index>
void for_each_variant(const Action &action, std::integer_sequence<int, index...>) {
    (action(std::integral_constant<int, index>()), ...);
}
template <class Real, class History, class Action> void for_each_variant(const Action &action) {
    for_each_variant(action, std::make_integer_sequence<int, variants<Real, History>.count>());
}

// AgentOf is the agent of a variant of sweep 1. An agent computes the inner products of a tile (inner_products.cuh).
template <class Real, class History, int index> struct AgentOf {
    static constexpr Variant variant = variants<Real, History>.list[index];
    using Type = std::conditional_t<
        variant.family == Family::bfloat16,
        Bfloat16Agent<Real, variant.family == Family::bfloat16 ? variant.size : least_octets, variant.kind>,
        LaneAgent<Real, History, variant.family == Family::lanes ? variant.size : 1, variant.kind>>;
};

// RuleOf is the rule of a variant of sweep 2.
template <class Real, class History, int index> struct RuleOf {
    static constexpr Variant variant = variants<Real, History>.list[index];
    using Coefficients = std::conditional_t<variant.by_value, CoefficientsByValue, CoefficientsAnywhere>;
    using Type = TakeDirection<Real, History, Coefficients, variant.size, variant.zeros>;
};

template <class Real, class History, int index> constexpr auto kernel_of() {
    constexpr Variant variant = variants<Real, History>.list[index];
    if constexpr (variant.family == Family::wide) return inner_products_tile_kernel<Real, History, variant.kind>;
    else if constexpr (variant.family == Family::rectangles)
        return inner_products_rectangle_kernel<Real, variant.kind, variant.size>;
    else if constexpr (variant.family == Family::staged_direction)
        return direction_staged_kernel<Real, History, variant.size, variant.zeros>;
    else if constexpr (variant.family == Family::many_pairs) return direction_many_pairs_kernel<Real, History>;
    else if constexpr (variant.family == Family::direction)
        return map_blocks_kernel<DirectionRecord, direction_resident, typename RuleOf<Real, History, index>::Type>;
    else if constexpr (variant.family == Family::direction_of_pieces)
        return map_pieces_kernel<DirectionRecord, direction_resident, variant.size,
                                 typename RuleOf<Real, History, index>::Type>;
    else return inner_products_kernel<typename AgentOf<Real, History, index>::Type>;
}

// KernelLoader loads each kernel that inner products of up to `columns` columns may need. Otherwise the first launch of
// a kernel might wait for the caller's kernels, and a stop request cannot interrupt that wait.
template <class Real, class History> class KernelLoader {
  public:
    // The argument block_shared is the number of bytes of shared memory that a block of a sweep may use.
    KernelLoader(int columns, int block_shared) {
        for_each_variant<Real, History>([&](auto index) {
            constexpr Variant variant = variants<Real, History>.list[index];
            const auto kernel = kernel_of<Real, History, index>();
            const int most_blocks = column_blocks(multiplied_columns(columns, variant.kind));
            if (variant.family == Family::lanes && variant.size > lane_size(variant.kind, most_blocks)) return;
            constexpr bool dynamic_shared = variant.family == Family::lanes || variant.family == Family::bfloat16 ||
                                            variant.family == Family::rectangles ||
                                            variant.family == Family::staged_direction ||
                                            variant.family == Family::many_pairs;
            // The attribute has the same value for all handles that share the kernel.
            if (dynamic_shared)
                check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, block_shared),
                      "a sweep's attributes");
            now(kernel);
        });
        load_numbers_kernels();
        VectorKernels<Real>::load();
        now(find_crossed<Real, History>);
        reduction<Min, FindTruncation<Real, History>>();
        reduction<Min, FindLargestStep<Real, History>>();
        using Measure = MeasureNorm<Real, const History *>;
        reduction<ScaledSquares, Measure>();
        now(map_pieces_kernel<ScaledSquares, most_resident, 1, Measure>);
        now(map_kernel<PairRule<Real, History>>);
    }

  private:
    template <class... Parameters> static void now(void (*kernel)(Parameters...)) {
        check(load(kernel), "the loading of a kernel");
    }
    template <class Record, class Rule> static void reduction() {
        now(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>);
    }
};

} // namespace cudaopt
