// This header contains the table of the kernels of sweeps 1 and 2. The first call of a handle loads the kernels of the
// table, and later calls choose from it.
#pragma once

#include <algorithm>
#include <utility>

#include "sweeps/cuda/inner_products/bfloat16_agent.cuh"
#include "sweeps/cuda/direction/pair_groups.cuh"
#include "sweeps/cuda/direction/zero_tile_direction.cuh"
#include "sweeps/cuda/inner_products/inner_products.cuh"
#include "sweeps/cuda/inner_products/rectangles.cuh"
#include "sweeps/cuda/inner_products/wide.cuh"
#include "sweeps/cuda/inner_products/lane_agent.cuh"
#include "sweeps/cuda/support/pair_rule.cuh"
#include "sweeps/cuda/support/posted_numbers.hpp"
#include "sweeps/cuda/support/support.cuh"
#include "sweeps/cuda/support/vector_kernels.hpp"

namespace cudaopt {

// A thread of sweep 2 processes direction_variables neighbouring variables, which are 16 bytes of x, if all vectors are
// aligned and the history is stored in the precision of x. Otherwise it processes one.
template <class Real, class History>
constexpr int direction_variables = std::is_same_v<Real, History> ? 16 / sizeof(Real) : 1;

// Family identifies a kernel template. Those of sweep 1, which computes inner products, come first, in the order in
// which they are tried. Those of sweep 2, which computes the direction, follow.
enum class Family {
    bfloat16,    // columns in bfloat16, with products in single precision (bfloat16_agent.cuh)
    lanes,       // products in double precision in the registers of one warp (lane_agent.cuh)
    rectangles,  // many columns in bfloat16, with products in single precision (rectangles.cuh)
    wide,        // any number of columns (wide.cuh)
    direction,   // loads to registers (direction.cuh)
    pair_groups, // columns with fewer bits than x, through shared memory (pair_groups.cuh)
    zero_tiles   // such columns while zero tiles are tracked (zero_tile_direction.cuh)
};
// Kernel is an entry of the table of kernels: a family and the arguments of its template. Members that the family does
// not have are 0.
struct Kernel {
    Family family;
    InnerProducts kind; // of the requests that sweep 1 serves
    int octets;         // lanes and bfloat16: number of groups of 8 multiplied columns
    int preparing;      // rectangles: number of warps that prepare tiles
    int variables;      // direction: number of neighbouring variables per thread
    bool zeros;         // direction: whether zero tiles are skipped (zero_tiles.cuh)
};

// Returns whether a kernel of sweep 1 serves a request, if its shared memory fits on the device.
inline bool serves(const Kernel &kernel, const PanelRequest &request) {
    const InnerProducts kind = kind_of(request);
    const int octets = bfloat16_octets(request.pairs);
    switch (kernel.family) {
    case Family::bfloat16:
        return kernel.kind == kind && may_multiply_bfloat16(request) && kernel.octets == std::max(octets, least_octets);
    case Family::lanes: return kernel.kind == kind && kernel.octets == lane_octets(kind, request.pairs);
    case Family::rectangles: return kernel.kind == kind && may_multiply_bfloat16(request) && octets > most_octets;
    case Family::wide: return in_metric(kernel.kind) == in_metric(kind);
    default: return false;
    }
}

template <class Real, class History> struct Kernels {
    int count = 0;
    Kernel list[40] = {};

    constexpr Kernels() {
        constexpr bool in_bfloat16 = std::is_same_v<History, bfloat16>;
        for (const InnerProducts kind : {InnerProducts::unbounded, InnerProducts::bounded, InnerProducts::metric}) {
            const bool single = in_bfloat16 && !in_metric(kind);
            for (int octets = least_octets; single && octets <= most_octets; octets++)
                add(Family::bfloat16, kind).octets = octets;
            for (int octets = 1; octets <= most_lane_octets; octets++)
                if (lane_size(kind, octets) == octets) add(Family::lanes, kind).octets = octets;
            for (int preparing = 1; single && preparing <= most_preparing; preparing++)
                add(Family::rectangles, kind).preparing = preparing;
            if (kind != InnerProducts::unbounded) add(Family::wide, kind);
        }
        add(Family::direction).variables = 1;
        if (!std::is_same_v<Real, History>) add(Family::pair_groups), add(Family::zero_tiles);
        for (const bool zeros : {false, true}) {
            if (!std::is_same_v<Real, History>) continue;
            Kernel &kernel = add(Family::direction);
            kernel.variables = direction_variables<Real, History>, kernel.zeros = zeros;
        }
    }

  private:
    constexpr Kernel &add(Family family, InnerProducts kind = InnerProducts::unbounded) {
        list[count].family = family, list[count].kind = kind;
        return list[count++];
    }
};
template <class Real, class History> inline constexpr Kernels<Real, History> kernels{};

// Calls action(index) for each kernel of the table, where index is a std::integral_constant.
template <class Action, int... index> void for_each_kernel(const Action &action, std::integer_sequence<int, index...>) {
    (action(std::integral_constant<int, index>()), ...);
}
template <class Real, class History, class Action> void for_each_kernel(const Action &action) {
    for_each_kernel(action, std::make_integer_sequence<int, kernels<Real, History>.count>());
}

// AgentOf is the agent of a kernel of the families lanes and bfloat16. An agent computes the inner products of a tile
// (inner_products.cuh).
template <class Real, class History, int index> struct AgentOf {
    static constexpr Kernel kernel = kernels<Real, History>.list[index];
    using Type = std::conditional_t<
        kernel.family == Family::bfloat16,
        Bfloat16Agent<Real, kernel.family == Family::bfloat16 ? kernel.octets : least_octets, kernel.kind>,
        LaneAgent<Real, History, kernel.family == Family::lanes ? kernel.octets : 1, kernel.kind>>;
};

// DirectionRule is the rule of a kernel of the family direction.
template <class Real, class History, int index>
using DirectionRule = TakeDirection<Real, History, kernels<Real, History>.list[index].variables,
                                    kernels<Real, History>.list[index].zeros>;

template <class Real, class History, int index> constexpr auto kernel_of() {
    constexpr Kernel kernel = kernels<Real, History>.list[index];
    if constexpr (kernel.family == Family::wide) return inner_products_tile_kernel<Real, History, kernel.kind>;
    else if constexpr (kernel.family == Family::rectangles)
        return inner_products_rectangle_kernel<Real, kernel.kind, kernel.preparing>;
    else if constexpr (kernel.family == Family::pair_groups) return direction_pair_groups_kernel<Real, History>;
    else if constexpr (kernel.family == Family::zero_tiles) return direction_zero_tiles_kernel<Real, History>;
    else if constexpr (kernel.family == Family::direction)
        return map_pieces_kernel<DirectionRecord, direction_resident, kernel.variables,
                                 DirectionRule<Real, History, index>>;
    else return inner_products_kernel<typename AgentOf<Real, History, index>::Type>;
}

// Loads each kernel that inner products of up to `columns` columns may need. Otherwise the first launch of a kernel
// might wait for the caller's kernels, and a stop request cannot interrupt that wait. The argument block_shared is the
// number of bytes of shared memory that a block of a sweep may use.
template <class Real, class History> void load_kernels(int columns, int block_shared) {
    const auto now = [](auto *kernel) { check(load(kernel), "the loading of a kernel"); };
    for_each_kernel<Real, History>([&](auto index) {
        constexpr Kernel kernel = kernels<Real, History>.list[index];
        if (kernel.octets > lane_octets(kernel.kind, panel::pairs(columns)) && kernel.family == Family::lanes) return;
        const auto function = kernel_of<Real, History, index>();
        // The attribute has the same value for all handles that share the kernel.
        if (kernel.family != Family::wide && kernel.family != Family::direction)
            check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, block_shared),
                  "a sweep's attributes");
        now(function);
    });
    load_numbers_kernels();
    VectorKernels<Real>::load();
    now(find_crossed<Real, History>);
    now(map_reduce_kernel<Min, most_resident, FindTruncation<Real, History>, StoreRecord<Min>>);
    now(map_reduce_kernel<Min, most_resident, FindLargestStep<Real, History>, StoreRecord<Min>>);
    using Measure = MeasureNorm<Real, const History *>;
    now(map_reduce_kernel<ScaledSquares, most_resident, Measure, StoreRecord<ScaledSquares>>);
    now(map_pieces_kernel<ScaledSquares, most_resident, 1, Measure>);
    now(map_kernel<PairRule<Real, History>>);
}

} // namespace cudaopt
