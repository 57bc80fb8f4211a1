// The kernels of a CUDA backend, loaded with the first call of a handle.
#pragma once

#include <utility>

#include "sweeps/cuda/direction_staged.cuh"
#include "sweeps/cuda/inner_products.cuh"
#include "sweeps/cuda/inner_products_bfloat16.cuh"
#include "sweeps/cuda/inner_products_wide.cuh"
#include "sweeps/cuda/map_pieces.cuh"
#include "sweeps/cuda/reduce_pieces.cuh"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

// Neighbouring variables that a thread of sweep 2 takes where all vectors are aligned: 16 bytes of x.
template <class Real, class History> constexpr int direction_variables = 16 / sizeof(Real);

// Each kernel that a panel of up to so many columns may need. All of them beforehand: what is loaded later might have
// to wait for the caller's kernels, and a stop request does not end that wait.
template <class Real, class History> class KernelLoader {
  public:
    // block_shared: bytes of shared memory that a block of sweep 1 may have
    KernelLoader(int columns, int block_shared) : columns_(columns), block_shared_(block_shared) {
        sweeps_1<InnerProducts::unbounded>();
        sweeps_1<InnerProducts::bounded>();
        sweeps_1<InnerProducts::many_active>();
        sweeps_1<InnerProducts::crossing>();
        sweeps_1<InnerProducts::metric>();
        if constexpr (has_kernels<Real, History>(InnerProducts::diagonal_held))
            sweeps_1<InnerProducts::diagonal_held>();
        sweeps_1<InnerProducts::new_diagonal>();
        if constexpr (std::is_same_v<History, bfloat16>) {
            using Octets = std::make_integer_sequence<int, most_octets - least_octets + 1>;
            bfloat16_sweeps_1<InnerProducts::unbounded>(Octets());
            bfloat16_sweeps_1<InnerProducts::bounded>(Octets());
            bfloat16_sweeps_1<InnerProducts::many_active>(Octets());
        }
        now(reduce_partials);
        now(reduce_pieces);
        now(find_crossed<Real, History, false>);
        now(find_crossed<Real, History, true>);
        sweeps_2<CoefficientsByValue>();
        if constexpr (std::is_same_v<Real, History>)
            direction<CoefficientsByValue, direction_variables<Real, History>, true>();
        if constexpr (!std::is_same_v<Real, History>) {
            with_shared_memory(direction_staged_kernel<Real, History, direction_resident, false>);
            with_shared_memory(direction_staged_kernel<Real, History, most_direction_resident, false>);
            with_shared_memory(direction_staged_kernel<Real, History, direction_resident, true>);
            with_shared_memory(direction_staged_kernel<Real, History, most_direction_resident, true>);
        }
        if (columns > CoefficientsByValue::capacity) sweeps_2<CoefficientsInMemory>();
        reduction<StartRecord, CheckStart<Real>>();
        reduction<Min, FindLargestStep<Real, History>>();
        reduction<FirstIndex, FindBadDiagonal<Real>>();
        reduction<ScaledSquares, MeasureX<Real>>();
        reduction<ScaledSquares, MeasureProjectedGradient<Real>>();
        now(map_pieces_kernel<ScaledSquares, most_resident, 1, MeasureX<Real>>);
        now(map_pieces_kernel<ScaledSquares, most_resident, 1, MeasureProjectedGradient<Real>>);
        now(map_kernel<CopyIterate<Real>>);
        now(map_kernel<LearnDiagonal<Real, History>>);
        now(map_kernel<FinishPair<Real, History>>);
        now(map_kernel<MoveIntoBox<Real>>);
        now(map_kernel<TakeStep<Real, History>>);
        now(map_kernel<Restore<Real>>);
    }

  private:
    template <class... Parameters> static void now(void (*kernel)(Parameters...)) {
        check(load(kernel), "the loading of a kernel");
    }
    template <class Record, class Rule> static void reduction() {
        now(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>);
    }
    template <class Coefficients> static void sweeps_2() {
        direction<Coefficients, direction_variables<Real, History>>();
        direction<Coefficients, 1>();
        reduction<Min, FindTruncation<Real, History, Coefficients>>();
    }
    template <class Coefficients, int variables, bool looks_for_zeros = false> static void direction() {
        using Rule = TakeDirection<Real, History, Coefficients, variables, looks_for_zeros>;
        now(map_blocks_kernel<DirectionRecord, direction_resident, Rule>);
        now(map_pieces_kernel<DirectionRecord, direction_resident, variables, Rule>);
    }
    template <InnerProducts kind> void sweeps_1() const {
        sweeps_1<kind>(std::make_integer_sequence<int, widest_resident(kind)>());
    }
    template <InnerProducts kind, int... before> void sweeps_1(std::integer_sequence<int, before...>) const {
        (sweep_1<before + 1, kind>(), ...);
        if constexpr (!looks_for_zeros(kind)) now(inner_products_tile_kernel<Real, History, kind>);
    }
    template <int blocks, InnerProducts kind> void sweep_1() const {
        if constexpr (PanelsOfBlocks(blocks, kind).most_pairs > 0) {
            if (blocks > column_blocks(multiplied_columns(columns_, kind))) return;
            with_shared_memory(inner_products_kernel<Real, History, blocks, kind>);
        }
    }
    template <InnerProducts kind, int... before> void bfloat16_sweeps_1(std::integer_sequence<int, before...>) const {
        (with_shared_memory(inner_products_bfloat16_kernel<Real, before + least_octets, kind>), ...);
    }
    template <class... Parameters> void with_shared_memory(void (*kernel)(Parameters...)) const {
        // The same for all handles that share the kernel.
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, block_shared_),
              "a sweep's attributes");
        now(kernel);
    }
    const int columns_, block_shared_;
};

} // namespace cudaopt
