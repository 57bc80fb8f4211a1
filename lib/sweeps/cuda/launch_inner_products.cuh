// Which kernel sweep 1 is, and its launch.
#pragma once

#include "sweeps/cuda/inner_products.cuh"
#include "sweeps/cuda/inner_products_bfloat16.cuh"
#include "sweeps/cuda/inner_products_wide.cuh"
#include "sweeps/cuda/launch_place.cuh"

namespace cudaopt {

inline int tile_kernel_variables(int columns) { return std::max(1, most_products_blocks / panel_tiles(columns)); }

// ahead(): what is sent ahead of being asked for, called if it is.
template <class Real, class History, class Ahead> class ProductsLaunch {
  public:
    ProductsLaunch(const DeviceVectors<Real, History> &v, const ProductsRequest &request, const ProductsLayout &layout,
                   double *partials, const LaunchPlace &place, const Ahead &ahead)
        : v_(v), request_(request), layout_(layout), partials_(partials), place_(place), ahead_(ahead) {
        request_.fresh = request.fresh && request.pairs > 0;
    }

    // Returns how many blocks of partial sums there are.
    int operator()() {
        if constexpr (std::is_same_v<History, bfloat16>)
            if (has_bfloat16_kernel(request_)) switch (kind()) {
                case InnerProducts::unbounded: return in_single<InnerProducts::unbounded>();
                case InnerProducts::many_active: return in_single<InnerProducts::many_active>();
                default: return in_single<InnerProducts::bounded>();
                }
        switch (kind()) {
        case InnerProducts::unbounded: return in_double<InnerProducts::unbounded>();
        case InnerProducts::bounded: return in_double<InnerProducts::bounded>();
        case InnerProducts::many_active: return in_double<InnerProducts::many_active>();
        case InnerProducts::crossing: return in_double<InnerProducts::crossing>();
        case InnerProducts::metric: return in_double<InnerProducts::metric>();
        case InnerProducts::diagonal_held: return in_double<InnerProducts::diagonal_held>();
        default: return in_double<InnerProducts::new_diagonal>();
        }
    }

  private:
    InnerProducts kind() const {
        const InnerProducts kind = kind_of(request_);
        if (!v_.zero_tiles.are_kept()) return kind;
        return kind == InnerProducts::bounded               ? InnerProducts::many_active
               : kind == InnerProducts::metric && !v_.apart ? InnerProducts::diagonal_held
                                                            : kind;
    }
    // By a kernel that tells nothing of its zeros.
    void invalidate_zero_tiles() const {
        if (v_.apart && request_.fresh) v_.zero_tiles.forget(place_.stream);
    }

    template <InnerProducts kind> int in_double() {
        switch (column_blocks(multiplied_columns(layout_.columns, kind))) {
        case 1: return in_double<1, kind>();
        case 2: return in_double<2, kind>();
        case 3: return in_double<3, kind>();
        case 4: return in_double<4, kind>();
        case 5: return in_double<5, kind>();
        case 6: return in_double<6, kind>();
        case 7: return in_double<7, kind>();
        case 8: return in_double<8, kind>();
        default: return wide<kind>();
        }
    }
    template <int blocks, InnerProducts kind> int in_double() {
        constexpr bool there = blocks <= widest_resident(kind) && PanelsOfBlocks(blocks, kind).most_pairs > 0 &&
                               has_kernels<Real, History>(kind);
        if constexpr (there) return resident<blocks, kind>();
        else return wide<kind>();
    }

    template <int blocks, InnerProducts kind> int resident() {
        constexpr int a_processor = resident_blocks(blocks);
        const StageLayout<Real, History> stage(v_, request_);
        const int factors =
            in_metric(kind) ? products_warps * Stage<Real, History>::variables * static_cast<int>(sizeof(double2)) : 0;
        const int stages = stages_within(std::min(place_.block_shared, place_.processor_shared / a_processor) - factors,
                                         stage.bytes(), stages_of_products);
        const int ring = products_warps * stages * stage.bytes() + factors;
        const int meeting = products_warps * LaneProducts<blocks, kind>::elements * static_cast<int>(sizeof(double));
        const int shared = std::max(ring, meeting);
        if (shared > place_.block_shared) return wide<kind>(); // a small device
        for (int k = 0; k < request_.update.count; k++)        // m = 1
            if (v_.age_of(request_, request_.update.pairs[k].slot) >= request_.pairs) learn_apart();
        if constexpr (!looks_for_zeros(kind)) invalidate_zero_tiles();
        const SourcesOf<Real, History, blocks, kind> sources(v_, request_, stage);
        const int grid = variable_blocks(place_.pieces, v_.n, multiprocessors * a_processor);
        launch_behind(place_.early, "the launch of sweep 1", inner_products_kernel<Real, History, blocks, kind>, grid,
                      shared, place_.stream, v_, sources, request_, layout_, ahead_(), place_.pieces, stages,
                      place_.aligned, partials_);
        return grid;
    }

    template <InnerProducts kind> int wide() {
        constexpr InnerProducts plain = without_zeros(kind);
        learn_apart();
        invalidate_zero_tiles();
        const int tiles = panel_tiles(layout_.columns);
        const Pieces pieces = place_.pieces.undivided(); // there are tiles for many multiprocessors
        const int variables = variable_blocks(pieces, v_.n, tile_kernel_variables(layout_.columns));
        check(launch(inner_products_tile_kernel<Real, History, plain>, dim3(tiles, variables), products_threads, 0,
                     place_.stream, v_, request_, layout_, pieces, partials_),
              "the launch of sweep 1");
        return variables;
    }

    // The update of the diagonal, where sweep 1 does not make it on its way.
    void learn_apart() {
        if (request_.update.count == 0) return;
        const LearnDiagonal<Real, History> rule(v_.own_diagonal, request_.update, v_);
        check(map_cuda(v_.n, rule, place_.stream), "the launch of an update of the diagonal");
        request_.update.count = 0;
    }

    template <InnerProducts kind> int in_single() {
        switch (bfloat16_octets(request_.pairs)) {
        case 3: return in_single<3, kind>();
        case 4: return in_single<4, kind>();
        case 5: return in_single<5, kind>();
        case 6: return in_single<6, kind>();
        default: return in_single<least_octets, kind>();
        }
    }
    template <int octets, InnerProducts kind> int in_single() {
        constexpr int a_processor = bfloat16_resident(octets), beside = products_warps * Bfloat16Beside<Real>::bytes;
        const StageLayout<Real, bfloat16> stage(v_, request_);
        const int stages = stages_within(std::min(place_.block_shared, place_.processor_shared / a_processor) - beside,
                                         stage.bytes(), stages_of_products);
        const int ring = products_warps * stages * stage.bytes() + beside;
        const int meeting = products_warps * Bfloat16Products<octets, over_free_variables(kind)>::elements *
                            static_cast<int>(sizeof(double));
        if constexpr (!looks_for_zeros(kind)) invalidate_zero_tiles();
        const Bfloat16Sources<Real, octets, kind> sources(v_, request_, stage);
        const int grid = variable_blocks(place_.pieces, v_.n, multiprocessors * a_processor);
        launch_behind(place_.early, "the launch of sweep 1", inner_products_bfloat16_kernel<Real, octets, kind>, grid,
                      std::max(ring, meeting), place_.stream, v_, sources, request_, layout_, ahead_(), place_.pieces,
                      stages, place_.aligned, partials_);
        return grid;
    }

    const DeviceVectors<Real, History> &v_;
    ProductsRequest request_;
    const ProductsLayout layout_;
    double *const partials_;
    const LaunchPlace place_;
    const Ahead &ahead_;
};

} // namespace cudaopt
