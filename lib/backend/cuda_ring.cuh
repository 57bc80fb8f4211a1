// How the rows of sweep 1 reach shared memory: each warp has a ring of stages of its own, filled by asynchronous copies
// while it works on an earlier one, so that no warp waits for another.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "backend/cuda_rows.cuh"

namespace cudaopt {

// A stage holds a tile of the vectors that sweep 1 reads: first the stored columns, y_0, s_0, y_1, s_1, ..., which go
// on with zeros after n, then the caller's x, g, l, u and h as far as there are such, which end at n.
template <class Real> struct Stage {
    static constexpr int rows = 256 / sizeof(Real);
    // Vectors lie so far apart that the lanes of an access to two rows fall on different banks.
    static constexpr int stride = rows + 8;
    static constexpr int elements(int vectors) { return vectors * stride; }
    static constexpr int bytes(int vectors) { return elements(vectors) * static_cast<int>(sizeof(Real)); }
};

// Which vectors a stage holds, and the place of each.
struct StageLayout {
    int stored, x, g, l, u, h, vectors; // l, u, h: -1 where there is none

    template <class Real>
    __host__ __device__ StageLayout(const DeviceVectors<Real> &v, const GatherRequest &request)
        : stored(2 * request.pairs), x(stored), g(stored + 1), l(-1), u(-1), h(-1), vectors(stored + 2) {
        if (v.box.l) l = vectors++;
        if (v.box.u) u = vectors++;
        if (request.weighted) h = vectors++;
    }
    // Of a column of the panel; z takes the place of x. What stands at the columns of absent pairs is not used.
    __device__ int of_column(int k) const {
        return k == panel::gradient ? g : k == panel::displacement ? x : k < panel::gradient ? k : k - 2;
    }
    template <class Real>
    __device__ const Real *source(const DeviceVectors<Real> &v, const GatherRequest &request, int k) const {
        if (k < stored) return v.column(request, k < panel::gradient ? k : k + 2);
        return k == x ? v.x : k == g ? v.g : k == l ? v.box.l : k == u ? v.box.u : v.diagonal;
    }
};

// In front of the stages: where each vector begins.
constexpr int source_table_bytes(int vectors) { return (vectors * static_cast<int>(sizeof(void *)) + 15) / 16 * 16; }

// Stages a warp can have with so much shared memory for its block. How many there are changes no sum.
constexpr int most_stages = 2; // with 3 or 4 it is as fast
template <class Real> int stages_within(int block_bytes, int vectors) {
    return std::max(1, std::min(most_stages, (block_bytes - source_table_bytes(vectors)) /
                                                 (gather_warps * Stage<Real>::bytes(vectors))));
}

template <class Real> class Ring {
  public:
    // aligned: the caller's vectors are, to 16 bytes.
    __device__ Ring(const Real *const *sources, const StageLayout &layout, int64_t n, bool aligned, Real *first,
                    int stages)
        : sources_(sources), stored_(layout.stored), vectors_(layout.vectors), n_(n), aligned_(aligned), first_(first),
          stages_(stages) {}

    // Begin to copy a tile into the next free stage. Of a negative one there is nothing to copy.
    __device__ void ask(int64_t tile) {
        if (tile >= 0) {
            const int64_t base = tile * rows;
            constexpr int piece = 16 / sizeof(Real), lanes_a_vector = rows / piece, at_once = 32 / lanes_a_vector;
            const int lane = threadIdx.x % 32, at = lane % lanes_a_vector * piece;
            Real *const stage = first_ + ahead_ * Stage<Real>::elements(vectors_);
            const int count = aligned_ && base + rows <= n_ ? vectors_ : stored_;
            constexpr int group = 4; // copies whose sources are looked up before the first is made
            for (int first = lane / lanes_a_vector; first < count; first += group * at_once) {
                const Real *from[group];
#pragma unroll
                for (int e = 0; e < group; e++) from[e] = sources_[min(first + e * at_once, vectors_ - 1)];
#pragma unroll
                for (int e = 0; e < group; e++) {
                    const int k = first + e * at_once;
                    if (k < count) __pipeline_memcpy_async(stage + k * stride + at, from[e] + base + at, 16);
                }
            }
            for (int k = count; k < vectors_; k++)
                for (int row = lane; row < rows; row += 32) {
                    Real *const to = stage + k * stride + row;
                    if (base + row < n_) __pipeline_memcpy_async(to, sources_[k] + base + row, sizeof(Real));
                    else *to = 0;
                }
        }
        __pipeline_commit();
        ahead_ = ahead_ + 1 == stages_ ? 0 : ahead_ + 1;
    }

    // The stage of the oldest tile asked for, once it is there: all but the latest stages - 1 requests are complete.
    __device__ Real *await() {
        if (stages_ == 1) __pipeline_wait_prior(0);
        else __pipeline_wait_prior(most_stages - 1);
        __syncwarp();
        Real *const stage = first_ + now_ * Stage<Real>::elements(vectors_);
        now_ = now_ + 1 == stages_ ? 0 : now_ + 1;
        return stage;
    }

  private:
    static constexpr int rows = Stage<Real>::rows, stride = Stage<Real>::stride;

    const Real *const *const sources_;
    const int stored_, vectors_;
    const int64_t n_;
    const bool aligned_;
    Real *const first_;
    const int stages_;
    int now_ = 0, ahead_ = 0;
};

} // namespace cudaopt
