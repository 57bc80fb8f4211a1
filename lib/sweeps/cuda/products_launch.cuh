// The launches of sweep 1 in double precision: which kernel a panel takes, with how many blocks, and how much shared
// memory.
#pragma once

#include <algorithm>

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/inner_products.cuh"
#include "sweeps/cuda/inner_products_wide.cuh"
#include "sweeps/cuda/narrow_columns.cuh"

namespace cudaopt {

// Blocks of partial sums of a panel that is too wide for a warp's registers.
inline int tile_kernel_rows(int columns) {
    const int blocks = column_blocks(columns), tiles = blocks * (blocks + 1) / 2;
    return std::max(1, 4 * most_products_blocks / tiles);
}

// The update of the diagonal, where sweep 1 does not make it on its way.
template <class Real, class History>
void learn_apart(const DeviceVectors<Real, History> &v, const MetricUpdate &update, cudaStream_t stream) {
    if (!update.wanted) return;
    const LearnDiagonal<Real, History> rule{v.own_diagonal, v.s(update.slot), v.y(update.slot), update};
    check(map_cuda(v.n, rule, stream), "the launch of an update of the diagonal");
}

// Each of these returns how many blocks of partial sums there are.
template <InnerProducts kind, class Real, class History>
int launch_wide_products(const DeviceVectors<Real, History> &v, const PanelRequest &request,
                         const ProductsLayout &layout, double *partials, const LaunchPlace &at) {
    learn_apart(v, request.update, at.stream);
    const int blocks = column_blocks(layout.columns), tiles = blocks * (blocks + 1) / 2;
    const int rows = std::min(tile_kernel_rows(layout.columns), tile_blocks(v.n, most_products_blocks));
    check(launch(inner_products_tile_kernel<Real, History, kind>, dim3(tiles, rows), products_threads, 0, at.stream, v,
                 request, layout, partials),
          "the launch of sweep 1");
    return rows;
}

template <int blocks, InnerProducts kind, class Real, class History>
int launch_resident_products(const DeviceVectors<Real, History> &v, PanelRequest request, const ProductsLayout &layout,
                             const SendAhead &ahead, double *partials, const LaunchPlace &at) {
    const int grid = tile_blocks(v.n, resident_blocks(blocks));
    const StageLayout<Real, History> place(v, request);
    const int factors = kind == InnerProducts::metric
                            ? products_warps * Stage<Real, History>::rows * static_cast<int>(sizeof(double2))
                            : 0;
    const int stages = stages_within(std::min(at.block_shared, at.processor_shared / resident_blocks(blocks)) - factors,
                                     place.bytes(), stages_of_products);
    const int ring = products_warps * stages * place.bytes() + factors;
    const int meeting = products_warps * LaneProducts<blocks, kind>::elements * static_cast<int>(sizeof(double));
    const int shared = std::max(ring, meeting);
    if (shared > at.block_shared) return launch_wide_products<kind>(v, request, layout, partials, at); // a small device
    if (request.update.wanted && v.age_of(request, request.update.slot) >= request.pairs) {            // m = 1
        learn_apart(v, request.update, at.stream);
        request.update.wanted = false;
    }
    const SourcesOf<Real, History, blocks, kind> sources(v, request, place);
    check(launch(inner_products_kernel<Real, History, blocks, kind>, grid, products_threads, shared, at.stream, v,
                 sources, request, layout, ahead, stages, at.aligned, partials),
          "the launch of sweep 1");
    return grid;
}

template <int blocks, InnerProducts kind, class Real, class History>
int launch_products(const DeviceVectors<Real, History> &v, const PanelRequest &request, const ProductsLayout &layout,
                    const SendAhead &ahead, double *partials, const LaunchPlace &at) {
    if constexpr (blocks <= widest_resident(kind) && PanelsOfBlocks(blocks, kind).most_pairs > 0)
        return launch_resident_products<blocks, kind>(v, request, layout, ahead, partials, at);
    else return launch_wide_products<kind>(v, request, layout, partials, at);
}

template <InnerProducts kind, class Real, class History>
int launch_products(const DeviceVectors<Real, History> &v, const PanelRequest &request, const ProductsLayout &layout,
                    const SendAhead &ahead, double *partials, const LaunchPlace &at) {
    switch (column_blocks(multiplied_columns(layout.columns, kind))) {
    case 1: return launch_products<1, kind>(v, request, layout, ahead, partials, at);
    case 2: return launch_products<2, kind>(v, request, layout, ahead, partials, at);
    case 3: return launch_products<3, kind>(v, request, layout, ahead, partials, at);
    case 4: return launch_products<4, kind>(v, request, layout, ahead, partials, at);
    case 5: return launch_products<5, kind>(v, request, layout, ahead, partials, at);
    case 6: return launch_products<6, kind>(v, request, layout, ahead, partials, at);
    case 7: return launch_products<7, kind>(v, request, layout, ahead, partials, at);
    case 8: return launch_products<8, kind>(v, request, layout, ahead, partials, at);
    default: return launch_wide_products<kind>(v, request, layout, partials, at);
    }
}

template <class Real, class History>
int launch_double_products(const DeviceVectors<Real, History> &v, const PanelRequest &request,
                           const ProductsLayout &layout, const SendAhead &ahead, double *partials,
                           const LaunchPlace &at) {
    switch (kind_of(request)) {
    case InnerProducts::unbounded:
        return launch_products<InnerProducts::unbounded>(v, request, layout, ahead, partials, at);
    case InnerProducts::bounded:
        return launch_products<InnerProducts::bounded>(v, request, layout, ahead, partials, at);
    case InnerProducts::crossing:
        return launch_products<InnerProducts::crossing>(v, request, layout, ahead, partials, at);
    case InnerProducts::metric: break;
    }
    return launch_products<InnerProducts::metric>(v, request, layout, ahead, partials, at);
}

} // namespace cudaopt
