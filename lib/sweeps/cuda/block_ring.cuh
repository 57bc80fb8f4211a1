// BlockRing is a ring of stages that all warps of a block share. A stage is a buffer in shared memory. It holds
// tiles_at_once tiles of the vectors that a sweep reads, each in the layout of StageLayout. All threads of the block
// copy each tile together, so that many columns are read from global memory once, whichever warps multiply them.
#pragma once

#include "sweeps/cuda/ring.cuh"

namespace cudaopt {

template <class Real, class History, int threads, int tiles_at_once> class BlockRing {
  public:
    using Tile = Stage<Real, History>;
    using Place = StageLayout<Real, History>;
    static constexpr int least_stages = 3, most_stages = 6;

    __device__ BlockRing(const DeviceVectors<Real, History> &v, const PanelRequest &panel, const Place &place,
                         bool aligned, unsigned char *first, int stages)
        : v_(v), panel_(panel), place_(place), whole_tiles_(aligned ? v.n / Tile::variables : 0), first_(first),
          stages_(stages) {
        // A bound that has the same value for all variables is written to each stage once.
        for (int k = place.copied; k < place.vectors; k++) {
            const Real bound = static_cast<Real>(k == place.l ? v.box.lower_all : v.box.upper_all);
            for (int e = threadIdx.x; e < stages * tiles_at_once * Tile::variables; e += threads)
                place.vector(first + e / Tile::variables * place.bytes(), k)[e % Tile::variables] = bound;
        }
    }

    __device__ unsigned char *tile(int stage, int which) const {
        return first_ + (stage * tiles_at_once + which) * place_.bytes();
    }

    // Starts the copy of a tile. All threads of the block call the function.
    __device__ void copy(int64_t tile, unsigned char *to) const {
        constexpr int piece = 16 / sizeof(History), lanes = Tile::variables / piece;
        static_assert(threads % lanes == 0);
        const int64_t base = tile * Tile::variables;
        const int own = threadIdx.x % lanes * piece;
        for (int k = place_.first_copied + threadIdx.x / lanes; k < place_.columns; k += threads / lanes)
            copy16(shared_address(place_.column(to, k) + own), column(k) + base + own);
        if (tile < whole_tiles_) {
            constexpr int elements = 16 / sizeof(Real), pieces = Tile::variables / elements;
            for (int e = threadIdx.x; e < place_.copied * pieces; e += threads) {
                const int k = e / pieces, variable = e % pieces * elements;
                copy16(shared_address(place_.vector(to, k) + variable), vector(k) + base + variable);
            }
        } else {
            // The caller's vectors have no padding after the last variable, and need not be aligned.
            for (int e = threadIdx.x; e < place_.copied * Tile::variables; e += threads) {
                const int k = e / Tile::variables, variable = e % Tile::variables;
                Real *const element = place_.vector(to, k) + variable;
                if (base + variable < v_.n) __pipeline_memcpy_async(element, vector(k) + base + variable, sizeof(Real));
                else *element = 0;
            }
        }
    }

    // Waits until this thread's copies of all but the latest stages - 3 commits are complete.
    __device__ void await() const {
        if (stages_ == 3) __pipeline_wait_prior(0);
        else if (stages_ == 4) __pipeline_wait_prior(1);
        else if (stages_ == 5) __pipeline_wait_prior(2);
        else __pipeline_wait_prior(3);
    }

  private:
    __device__ const History *column(int k) const {
        int slot = panel_.newest_slot - k / 2;
        if (slot < 0) slot += v_.m + 1;
        return k % 2 == 0 ? v_.y(slot) : v_.s(slot);
    }
    __device__ const Real *vector(int k) const {
        return k == place_.x   ? v_.x
               : k == place_.g ? v_.g
               : k == place_.l ? v_.box.l
               : k == place_.u ? v_.box.u
                               : v_.g_base(panel_.newest_slot);
    }

    const DeviceVectors<Real, History> &v_;
    const PanelRequest &panel_;
    const Place place_;
    const int64_t whole_tiles_;
    unsigned char *const first_;
    const int stages_;
};

} // namespace cudaopt
