// The launches of the kernels for columns that are stored with fewer bits than x has.
#pragma once

#include <algorithm>

#include "sweeps/cuda/direction_staged.cuh"
#include "sweeps/cuda/inner_products_bfloat16.cuh"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

// What a launch has to know of its place.
struct LaunchPlace {
    int block_shared, processor_shared; // bytes that a block can have, and all of a multiprocessor's together
    bool aligned;                       // all of the caller's vectors to 16 bytes
    cudaStream_t stream;
};

// Blocks for a warp's tiles of rows, `resident` a multiprocessor at most.
inline int tile_blocks(int64_t n, int resident) {
    return static_cast<int>(
        std::min<int64_t>(multiprocessors * resident, (n + products_threads - 1) / products_threads));
}

// Returns how many blocks of partial sums there are.
template <int octets, InnerProducts kind, class Real>
int launch_bfloat16_products(const DeviceVectors<Real, bfloat16> &v, const PanelRequest &request,
                             const ProductsLayout &layout, const SendAhead &ahead, double *partials,
                             const LaunchPlace &at) {
    constexpr int resident = bfloat16_resident(octets), beside = products_warps * Bfloat16Beside<Real>::bytes;
    const int grid = tile_blocks(v.n, resident);
    const StageLayout<Real, bfloat16> place(v, request);
    const int stages = stages_within(std::min(at.block_shared, at.processor_shared / resident) - beside, place.bytes(),
                                     stages_of_products);
    const int ring = products_warps * stages * place.bytes() + beside;
    const int meeting =
        products_warps * Bfloat16Products<octets, over_free_rows(kind)>::elements * static_cast<int>(sizeof(double));
    const Bfloat16Sources<Real, octets, kind> sources(v, request, place);
    check(launch(inner_products_bfloat16_kernel<Real, octets, kind>, grid, products_threads, std::max(ring, meeting),
                 at.stream, v, sources, request, layout, ahead, stages, at.aligned, partials),
          "the launch of sweep 1");
    return grid;
}
template <InnerProducts kind, class Real, class... Arguments>
int launch_bfloat16_products(const DeviceVectors<Real, bfloat16> &v, const PanelRequest &request,
                             const Arguments &...arguments) {
    switch (bfloat16_octets(request.pairs)) {
    case 3: return launch_bfloat16_products<3, kind>(v, request, arguments...);
    case 4: return launch_bfloat16_products<4, kind>(v, request, arguments...);
    case 5: return launch_bfloat16_products<5, kind>(v, request, arguments...);
    case 6: return launch_bfloat16_products<6, kind>(v, request, arguments...);
    default: return launch_bfloat16_products<least_octets, kind>(v, request, arguments...);
    }
}
template <class Real, class... Arguments>
int launch_bfloat16_products(const DeviceVectors<Real, bfloat16> &v, const PanelRequest &request,
                             const Arguments &...arguments) {
    return request.free_gram ? launch_bfloat16_products<InnerProducts::bounded>(v, request, arguments...)
                             : launch_bfloat16_products<InnerProducts::unbounded>(v, request, arguments...);
}

// Returns how many records of sums there are.
template <class Real, class History>
int launch_staged_direction(const DeviceVectors<Real, History> &v, DirectionRequest request,
                            const TrialArrays<Real, History> &to, DirectionRecord *records, const LaunchPlace &at) {
    request.panel.free_gram = true; // bounds are wanted, whether or not the inner products needed any
    request.panel.watches = false;  // and h, where it weighs
    const int blocks = tile_blocks(v.n, direction_resident);
    const StageLayout<Real, History> place(v, request.panel);
    const int stages = stages_within(std::min(at.block_shared, at.processor_shared / direction_resident), place.bytes(),
                                     stages_of_direction);
    CoefficientsByValue q{};
    std::copy(request.coefficients, request.coefficients + panel::columns(request.panel.pairs), q.q);
    const StagedSources<Real, History> sources(v, request.panel, place);
    check(launch(direction_staged_kernel<Real, History>, blocks, products_threads,
                 products_warps * stages * place.bytes(), at.stream, v, sources, request, q, to, stages, at.aligned,
                 records),
          "the launch of sweep 2");
    return blocks;
}

} // namespace cudaopt
