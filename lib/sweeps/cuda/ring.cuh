// How the rows of sweep 1 reach shared memory: each warp has a ring of stages of its own, filled by asynchronous copies
// while it works on an earlier one, so that no warp waits for another.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "sweeps/cuda/device_rows.cuh"

namespace cudaopt {

// A stage holds a tile of the vectors that sweep 1 reads: first the stored columns, y_0, s_0, y_1, s_1, ..., which go
// on with zeros after n, then the caller's, which end at n: x, g, and as far as they are wanted l, u and h.
template <class Real> struct Stage {
    static constexpr int rows = 256 / sizeof(Real);
    // Vectors lie so far apart that the lanes of an access to two rows fall on different banks.
    static constexpr int stride = rows + 8;
    static constexpr int elements(int vectors) { return vectors * stride; }
    static constexpr int bytes(int vectors) { return elements(vectors) * static_cast<int>(sizeof(Real)); }
};

// Which vectors a stage holds, and the place of each. A bound that is wanted and has no array has a place too, behind
// those that are copied: it holds the bound of all rows.
struct StageLayout {
    int stored, x, g, l = -1, u = -1, h = -1, copied, vectors;

    template <class Real>
    __host__ __device__ StageLayout(const DeviceVectors<Real> &v, const PanelRequest &request)
        : stored(2 * request.pairs), x(stored), g(stored + 1), copied(stored + 2) {
        const bool bounds = request.free_gram || request.weighted;
        if (bounds && v.box.l) l = copied++;
        if (bounds && v.box.u) u = copied++;
        if (request.weighted) h = copied++;
        vectors = copied;
        if (bounds && !v.box.l) l = vectors++;
        if (bounds && !v.box.u) u = vectors++;
    }
    // Of a column of the panel; z takes the place of x. What stands at the columns of absent pairs is not used.
    __device__ int of_column(int k) const {
        return k == panel::gradient ? g : k == panel::displacement ? x : k < panel::gradient ? k : k - 2;
    }
};

// Where each vector of a stage begins that is copied; a kernel's parameter, NULL from the first that is not.
template <class Real, int most_vectors> struct Sources {
    const Real *of[most_vectors] = {};

    Sources(const DeviceVectors<Real> &v, const PanelRequest &request, const StageLayout &place) {
        for (int k = 0; k < place.stored; k++) of[k] = v.column(request, k < panel::gradient ? k : k + 2);
        of[place.x] = v.x, of[place.g] = v.g;
        if (place.l >= 0 && v.box.l) of[place.l] = v.box.l;
        if (place.u >= 0 && v.box.u) of[place.u] = v.box.u;
        if (place.h >= 0) of[place.h] = v.diagonal;
    }
};

// Stages a warp can have with so much shared memory for its block. How many there are changes no sum.
constexpr int most_stages = 2; // with 3 or 4 it is as fast
template <class Real> int stages_within(int block_bytes, int vectors) {
    return std::max(1, std::min(most_stages, block_bytes / (products_warps * Stage<Real>::bytes(vectors))));
}

// 16 bytes from global to shared memory, which arrive while the thread goes on; past the first-level cache.
__device__ inline void copy16(unsigned to_shared, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
}

template <class Real, int most_vectors> class Ring {
  public:
    // Tiles from whole_tiles on are copied row by row.
    __device__ Ring(const Sources<Real, most_vectors> &sources, const StageLayout &layout, const BoxArrays<Real> &box,
                    int64_t n, int64_t whole_tiles, Real *first, int stages)
        : sources_(sources), layout_(layout), lower_all_(static_cast<Real>(box.lower_all)),
          upper_all_(static_cast<Real>(box.upper_all)), n_(n), whole_tiles_(whole_tiles), first_(first),
          copies_to_(static_cast<unsigned>(__cvta_generic_to_shared(first + lane_vector() * stride + lane_row()))),
          size_(Stage<Real>::elements(layout.vectors)), end_(stages * size_) {
        for (int k = layout.copied; k < layout.vectors; k++)
            for (int stage = 0; stage < end_; stage += size_)
                for (int row = threadIdx.x % 32; row < rows; row += 32)
                    first_[stage + k * stride + row] = bound_of_all(k);
    }

    // Those before it are copied 16 bytes at a time, of vectors that are aligned to that. A tile that goes past n
    // leaves zeros among the bounds of all rows; the warp that begins with it copies row by row, and puts the bounds
    // there anew, until its stage has had its next tile.
    __device__ static int64_t whole_tiles(const StageLayout &layout, int64_t n, bool aligned, int64_t first_tile,
                                          int64_t tiles_until_next) {
        const bool zeros_left = layout.copied < layout.vectors && (first_tile + 1) * rows > n;
        return !aligned ? 0 : zeros_left ? first_tile - tiles_until_next : n / rows;
    }

    // Begin to copy a tile into the next free stage. Of a negative one there is nothing to copy.
    __device__ void ask(int64_t tile) {
        if (tile >= 0) {
            const bool whole = tile < whole_tiles_;
            const int count = (whole ? layout_.copied : layout_.stored) - lane_vector();
            const int64_t row = tile * rows + lane_row();
            const unsigned to = copies_to_ + ahead_ * static_cast<unsigned>(sizeof(Real));
#pragma unroll
            for (int k = 0; k < most_vectors; k += at_once)
                if (k < count) copy16(to + k * stride * sizeof(Real), sources_.of[lane_vector() + k] + row);
            if (!whole) copy_in_pieces(tile * rows);
        }
        __pipeline_commit();
        ahead_ = ahead_ + size_ == end_ ? 0 : ahead_ + size_;
    }

    // The stage of the oldest tile asked for, once it is there: all but the latest stages - 1 requests are complete.
    __device__ Real *await() {
        if (size_ == end_) __pipeline_wait_prior(0);
        else __pipeline_wait_prior(most_stages - 1);
        __syncwarp();
        Real *const stage = first_ + now_;
        now_ = now_ + size_ == end_ ? 0 : now_ + size_;
        return stage;
    }

  private:
    static constexpr int rows = Stage<Real>::rows, stride = Stage<Real>::stride;
    // Half a warp copies a vector's tile, 16 bytes a lane.
    static constexpr int piece = 16 / sizeof(Real), lanes_a_vector = rows / piece, at_once = 32 / lanes_a_vector;
    __device__ static int lane_vector() { return threadIdx.x % 32 / lanes_a_vector; }
    __device__ static int lane_row() { return threadIdx.x % lanes_a_vector * piece; }

    __device__ Real bound_of_all(int k) const { return k == layout_.l ? lower_all_ : upper_all_; }

    // The caller's vectors where the tile goes past n, or where they are not aligned.
    __device__ void copy_in_pieces(int64_t base) {
        for (int k = layout_.stored; k < layout_.vectors; k++)
            for (int row = threadIdx.x % 32; row < rows; row += 32) {
                Real *const element = first_ + ahead_ + k * stride + row;
                if (base + row >= n_) *element = k == layout_.h ? 1 : 0;
                else if (k >= layout_.copied) *element = bound_of_all(k);
                else __pipeline_memcpy_async(element, sources_.of[k] + base + row, sizeof(Real));
            }
    }

    const Sources<Real, most_vectors> &sources_;
    const StageLayout layout_;
    const Real lower_all_, upper_all_;
    const int64_t n_, whole_tiles_;
    Real *const first_;
    const unsigned copies_to_; // where the lane's first copy goes in the first stage
    const int size_, end_;     // elements of a stage, and of all
    int now_ = 0, ahead_ = 0;
};

} // namespace cudaopt
