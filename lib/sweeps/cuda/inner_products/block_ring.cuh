// BlockRing is a ring of stages that all warps of a block share. A stage is a buffer in shared memory. It holds the
// tiles of one step, each in the layout of StageLayout. The first `threads` threads of the block copy each tile
// together, so that many columns are read from global memory once, whichever warps multiply them.
#pragma once

#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

template <class Real, class History, int threads, int tiles_of_step> class BlockRing {
  public:
    using Tile = Stage<Real, History>;
    using Place = StageLayout<Real, History>;
    // More than five stages do not make sweep 1 faster.
    static constexpr int least_stages = 3, most_stages = 5;

    __device__ BlockRing(const DeviceVectors<Real, History> &v, const PanelRequest &panel, const Place &place,
                         bool aligned, unsigned char *first, int stages)
        : v_(v), panel_(panel), place_(place), whole_tiles_(aligned ? v.n / Tile::variables : 0), first_(first),
          stages_(stages) {
        const int age = first_column() / 2;
        first_slot_ = panel.newest_slot - age + (panel.newest_slot < age ? v.m + 1 : 0);
        columns_ = (first_column() % 2 == 0 ? v.y(first_slot_) : v.s(first_slot_)) + own_variable();
        // A bound that has the same value for all variables is written to each stage once.
        for (int k = place.copied; k < place.vectors; k++) {
            const Real bound = static_cast<Real>(k == place.l ? v.box.lower_all : v.box.upper_all);
            for (int e = threadIdx.x; e < stages * tiles_of_step * Tile::variables; e += threads)
                place.vector(first + e / Tile::variables * place.bytes(), k)[e % Tile::variables] = bound;
        }
    }

    __device__ unsigned char *tile(int stage, int which) const {
        return first_ + (stage * tiles_of_step + which) * place_.bytes();
    }
    __device__ int next(int stage) const { return stage + 1 == stages_ ? 0 : stage + 1; }

    // Starts the copy of a tile. The first `threads` threads of the block call the function.
    __device__ void copy(int tile, unsigned char *to) const {
        const int64_t base = int64_t{tile} * Tile::variables;
        // The pairs are in the slots newest, newest - 1, ... modulo m + 1. A thread copies columns of Y alone or of S.
        const History *from = columns_ + base;
        int slot = first_slot_;
        unsigned at = shared_address(place_.column(to, first_column()) + own_variable());
#pragma unroll 2
        for (int k = first_column(); k < place_.columns; k += columns_at_once) {
            if (k >= place_.first_copied) copy16(at, from);
            at += columns_at_once * Tile::column_bytes;
            slot -= columns_at_once / 2, from -= columns_at_once / 2 * v_.pitch;
            if (slot < 0) slot += v_.m + 1, from += (v_.m + 1) * v_.pitch;
        }
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
        else __pipeline_wait_prior(2);
    }

  private:
    // Eight lanes copy the 128 bytes of a column. These functions return the thread's first column and its first
    // variable in each column.
    static constexpr int piece = 16 / sizeof(History), lanes = Tile::variables / piece,
                         columns_at_once = threads / lanes;
    static_assert(columns_at_once % 2 == 0);
    __device__ static int first_column() { return threadIdx.x / lanes; }
    __device__ static int own_variable() { return threadIdx.x % lanes * piece; }

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
    const History *columns_; // where the thread's first column begins, at the thread's variables
    int first_slot_;
};

} // namespace cudaopt
