// These functions perform the operations of sweep 1 on the variables of a lane and on the sums of a block.
#pragma once

#include "sweeps/cuda/support/crossed.cuh"
#include "sweeps/cuda/support/pieces.hpp"
#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

// Returns the index of the part of a segment that this block processes. If the variables are not divided into segments,
// it returns blockIdx.x. Sweep 1 traverses the variables from the last to the first, so block 0 processes the last
// part.
__device__ inline int block_of_pieces(const Pieces &pieces) {
    return static_cast<int>(pieces.by_segments() ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

// Loads the lane's variables of a tile, except the diagonal h. If y of the newest pair has not been stored yet (fresh),
// the function also computes y_new = g - g_base, where g_base is the gradient before the step. It rounds y_new to the
// history precision and writes it to the stage. If g_base has its own vector, y_new is also stored in global memory, so
// that sweep 2 reads y_new instead of g_base. The function store_kept() keeps part of it in the L2 cache. If several
// blocks process the same variables, stores_y is true for one of them only.
template <bool bounds, class Real, class History, int variables>
__device__ void load_own_variables(const StageLayout<Real, History> &place, unsigned char *stage,
                                   const PanelRequest &request, int tile, [[maybe_unused]] const History *newest_y,
                                   VariablesAhead<Real, variables> &at, [[maybe_unused]] bool stores_y = true) {
    const int own = threadIdx.x % 32 * variables;
    const auto mine = [&](int vector) { return place.vector(stage, vector) + own; };
    load_variables(mine(place.x), at.x);
    load_variables(mine(place.g), at.g);
    if (bounds) {
        load_variables(mine(place.l), at.l);
        load_variables(mine(place.u), at.u);
    }
    if (!request.fresh) return;
    History *const y_new = place.column(stage, 0) + own;
    alignas(variables * sizeof(Real)) Real g_base[variables];
    if constexpr (DeviceVectors<Real, History>::apart) load_variables(mine(place.g_base), g_base);
    else load_variables(y_new, g_base);
    Elements<History, variables> y;
#pragma unroll
    for (int k = 0; k < variables; k++) y.v[k] = gradient_change<History>(at.g[k], g_base[k]);
    y.store(y_new);
    if constexpr (DeviceVectors<Real, History>::apart) {
        constexpr int tile_variables = variables_of_warp<Real, History>;
        History *const y_to = const_cast<History *>(newest_y) + int64_t{tile} * tile_variables + own;
        if (!stores_y) {
        } else if (tile < kept_variables<History> / tile_variables) y.store_kept(y_to);
        else y.store(y_to);
    }
}

// Sends the lane's variables with breakpoints t <= ahead.below to the host. The argument `first` is the index of the
// tile's first variable. The function factor(variable, column) returns the factor by which the variable's element of a
// panel column is scaled (y, s, g or z, lbfgsb/panel.hpp). It is 1 without a diagonal. All lanes of a warp must call
// send_own_variables().
template <class Real, class History, int variables, class Factor>
__device__ void send_own_variables(const StageLayout<Real, History> &place, unsigned char *stage, int64_t first,
                                   const VariablesAhead<Real, variables> &at, const double (&t)[variables], int columns,
                                   const SendAhead &ahead, const Factor &factor) {
    const auto entry = [&](int64_t variable, int j) {
        const int in_tile = static_cast<int>(variable - first);
        return factor(in_tile, j) * static_cast<double>(place.column(stage, place.stored(j))[in_tile]);
    };
#pragma unroll
    for (int k = 0; k < variables; k++) {
        const int own = threadIdx.x % 32 * variables + k;
        const double x = at.x[k], bound = bound_ahead(at.g[k], at.l[k], at.u[k]);
        send_variables(
            t[k] <= ahead.below,
            {t[k], first + own, factor(own, panel::gradient) * at.g[k], factor(own, panel::displacement) * (bound - x)},
            columns, entry, ahead.to);
    }
}

// If the diagonal initial Hessian is new, the products of the older s columns over all variables are needed again. If
// there are bounds, a launch of its own forms them: it has a negative threshold, so that all variables are free.
inline CUDA_OPT_HD bool forms_older_steps_alone(const PanelRequest &request) {
    return request.older_steps && request.threshold < 0;
}
// Calls store(entry, sum) for the product of panel columns i <= j over the free variables.
template <class Store>
__device__ void store_over_free(const PanelRequest &request, const ProductsLayout &layout, int i, int j, double sum,
                                const Store &store) {
    if (request.older_steps && i >= panel::leading && panel::inverse(i) && panel::inverse(j))
        store(layout.older_steps + panel::older_index(panel::age(i), panel::age(j), request.pairs), sum);
    if (!forms_older_steps_alone(request)) store(layout.free_gram + panel::gram_index(i, j, layout.columns), sum);
}

// Joins the warps' sums over single variables (VariableSum), in the order of the warps, and calls store(entry, value)
// for each. It also stores zeros for the products over the free variables if these are not requested.
template <bool free_gram, int warps, class Store>
__device__ void store_variable_sums(const ProductsLayout &layout, const double (&of_warps)[warps][WarpSums::size],
                                    const Store &store) {
    if (threadIdx.x < WarpSums::size)
        store(threadIdx.x < variable_sum_count ? threadIdx.x : layout.maximum + threadIdx.x - variable_sum_count,
              WarpSums::join(of_warps, threadIdx.x));
    if (!free_gram)
        for (int e = layout.free_gram + threadIdx.x; e < layout.leading_products; e += products_threads) store(e, 0);
}

} // namespace cudaopt
