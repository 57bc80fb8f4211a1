// ProductsLaunch chooses the kernel of sweep 1 and launches it.
#pragma once

#include "sweeps/cuda/kernels.cuh"
#include "sweeps/cuda/support/launch_place.cuh"

namespace cudaopt {

// These functions return the number of groups of blocks that process different variables, in the kernels for wide
// panels. The blocks of a group process the same variables.
inline int tile_kernel_variables(int columns) { return std::max(1, most_products_blocks / panel_tiles(columns)); }
inline int rectangle_kernel_variables(const RectangleShare &share) {
    return std::max(1, multiprocessors / share.blocks);
}
inline int rectangle_kernel_variables(int columns) {
    const int pairs = panel::pairs(columns);
    return std::max(rectangle_kernel_variables(RectangleShare(true, pairs)),
                    rectangle_kernel_variables(RectangleShare(false, pairs)));
}

// The function ahead() returns the description of the variables that sweep 1 sends to the host in advance. It is called
// only for kernels that can send variables.
template <class Real, class History, class Ahead> class ProductsLaunch {
  public:
    ProductsLaunch(const DeviceVectors<Real, History> &v, const ProductsRequest &request, const ProductsLayout &layout,
                   double *partials, const LaunchPlace &place, const Ahead &ahead)
        : v_(v), request_(request), layout_(layout), partials_(partials), place_(place), ahead_(ahead) {
        request_.fresh = request.fresh && request.pairs > 0;
    }

    // Launches sweep 1 and returns the number of blocks, which is the number of partial sums per entry. If the products
    // of the older s columns over all variables are requested and there are bounds, a second launch forms them.
    int operator()() {
        const bool alone = request_.older_steps && v_.box.exists();
        request_.older_steps = request_.older_steps && !alone;
        const int blocks = launch_first_fitting();
        if (alone) {
            request_.older_steps = true;
            request_.threshold = -1;
            request_.update = {};
            launch_first_fitting();
        }
        return blocks;
    }

  private:
    // Launches the first kernel of the table that serves the request and fits in the shared memory of the device.
    int launch_first_fitting() {
        int blocks = 0;
        for_each_kernel<Real, History>([&](auto index) {
            constexpr Kernel kernel = kernels<Real, History>.list[index];
            if constexpr (kernel.family <= Family::wide)
                if (blocks == 0 && serves(kernel, request_)) blocks = launch_kernel<index>();
        });
        return blocks;
    }
    // Launches a kernel. Returns the number of blocks, or 0 if the kernel does not fit in the shared memory.
    template <int index> int launch_kernel() {
        constexpr Family family = kernels<Real, History>.list[index].family;
        if constexpr (family == Family::rectangles) return rectangles<index>();
        else if constexpr (family == Family::wide) return wide<index>();
        else return by_agent<index>();
    }
    SendAhead sent_ahead() const { return forms_older_steps_alone(request_) ? SendAhead{} : ahead_(); }
    // Launches a kernel that uses an agent (inner_products.cuh).
    template <int index> int by_agent() {
        using Agent = typename AgentOf<Real, History, index>::Type;
        const StageLayout<Real, History> stage(v_, request_);
        const int beside = products_warps * Agent::beside_bytes;
        const int stages = stages_within(
            std::min(place_.block_shared, place_.processor_shared / Agent::resident) - beside, stage.bytes());
        const int ring = products_warps * stages * stage.bytes() + beside;
        const int meeting = products_warps * Agent::Products::elements * static_cast<int>(sizeof(double));
        const int shared = std::max(ring, meeting);
        if (shared > place_.block_shared) return 0;
        // The update of the learned diagonal uses pairs older than the newest. Only if m = 1 can such a pair be missing
        // from the panel. A separate kernel then updates the diagonal. It also forms the diagonal from the sizes
        // of the variables.
        if (request_.update.anew == DiagonalUpdate::from_sizes) learn_apart();
        for (int k = 0; k < request_.update.count; k++)
            if (v_.age_of(request_, request_.update.pairs[k].slot) >= request_.pairs) learn_apart();
        const SourcesOf<Agent> sources(v_, request_, stage);
        const int grid = variable_blocks(place_.pieces, v_.n, multiprocessors * Agent::resident);
        launch_behind(place_.early, "the launch of sweep 1", kernel_of<Real, History, index>(), grid, 1, shared,
                      place_.stream, v_, sources, request_, layout_, sent_ahead(), place_.pieces, stages,
                      place_.aligned, partials_);
        return grid;
    }

    // Launches a kernel for wide panels in bfloat16 with products in single precision.
    template <int index> int rectangles() {
        constexpr Kernel kernel = kernels<Real, History>.list[index];
        constexpr bool free_gram = over_free_variables(kernel.kind);
        const RectangleShare share(free_gram, request_.pairs);
        const RectangleSpace<Real> space(StageLayout<Real, bfloat16>(v_, request_), free_gram, place_.block_shared);
        if (!space.fits || share.preparing() != kernel.preparing) return 0;
        learn_apart();
        // Segments are not divided into parts, as in wide() below.
        const Pieces pieces = place_.pieces.undivided();
        const int blocks = variable_blocks(pieces, v_.n, rectangle_kernel_variables(share));
        // Two blocks that process the same variables form a cluster, if the device has clusters. Not every group of
        // multiprocessors has room for clusters of three or four.
        const bool clustered = place_.early && share.blocks == 2;
        launch_behind(place_.early, "the launch of sweep 1", kernel_of<Real, History, index>(),
                      dim3(share.blocks, blocks), clustered ? 2 : 1, space.bytes, place_.stream, v_, request_, layout_,
                      ahead_(), pieces, share.of_block, clustered, space.stages, place_.aligned, partials_);
        return blocks;
    }

    template <int index> int wide() {
        learn_apart();
        const int tiles = panel_tiles(layout_.columns);
        // Segments (sweeps/segments.hpp) are not divided into parts, because the tiles of the Gram matrix already
        // occupy enough multiprocessors.
        const Pieces pieces = place_.pieces.undivided();
        const int blocks = variable_blocks(pieces, v_.n, tile_kernel_variables(layout_.columns));
        check(launch(kernel_of<Real, History, index>(), dim3(tiles, blocks), products_threads, 0, place_.stream, v_,
                     request_, layout_, pieces, partials_),
              "the launch of sweep 1");
        return blocks;
    }

    // Updates the learned diagonal by a separate kernel, if sweep 1 does not update it.
    void learn_apart() {
        if (request_.update.is_empty()) return;
        const PairRule<Real, History> rule{
            {}, {}, LearnDiagonal<Real, History>{v_.own_diagonal, v_.x, request_.update, v_}};
        check(map_cuda(v_.n, rule, place_.stream), "the launch of an update of the diagonal");
        request_.update = {};
    }

    const DeviceVectors<Real, History> &v_;
    ProductsRequest request_;
    const ProductsLayout layout_;
    double *const partials_;
    const LaunchPlace place_;
    const Ahead &ahead_;
};

} // namespace cudaopt
