// Which tiles of the stored columns have nothing but zeros, so that nobody reads them. d is 0 where a variable is held;
// and y is 0, too, away from those that move, where a variable's gradient tells of its neighbours alone. A tile that is
// not read counts as zeros: the sums are the same, to the bit.
//
// 8 bytes for each tile of sweep 1, which sweep 2 and, where g_base has a vector of its own, sweep 1 keep up to date as
// they store d and y, while so many variables are held that it pays. What else stores a column makes all tiles unknown.
#pragma once

#include "lbfgsb/requests.hpp"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

// Of one tile, a bit for each slot of Y, [0], and of S, [1], as its columns change places in a panel: the tile is known
// to be 0 there. Slot k has bit m - k, so that pairs stand in the order of their age, around the ring.
struct alignas(8) ZeroColumns {
    unsigned of[2] = {0, 0};
};
constexpr int zeros_of_y = 0, zeros_of_s = 1;

class ZeroTiles {
  public:
    static constexpr int most_pairs = 29;       // whose m + 1 slots are 30 bits
    static constexpr unsigned marks = 3u << 30; // of whoever holds slots; they come here without them
    // From a quarter of the variables held on, until it is an eighth: they save little then, and cost each tile some
    // instructions.
    static bool pay(bool before, double free, double n) { return n - free >= (before ? n / 8 : n / 4); }

    ZeroTiles() = default; // nothing is kept
    // For m <= most_pairs pairs, so many bytes; to be forgotten first.
    ZeroTiles(ZeroColumns *tiles, int64_t bytes, int m) : tiles_(tiles), bytes_(bytes), m_(m) {}

    void forget(cudaStream_t stream) const {
        if (tiles_) check(cudaMemsetAsync(tiles_, 0, static_cast<std::size_t>(bytes_), stream), "cudaMemsetAsync");
    }

    CUDA_OPT_HD bool are_kept() const { return tiles_ != nullptr; }
    __device__ unsigned slots(int64_t tile, int which) const { return tiles_[tile].of[which]; }
    __device__ ZeroColumns columns(int64_t tile) const { return tiles_[tile]; }
    // Bit k is that of the panel's pair of age k; behind them none is set.
    __device__ unsigned by_age(unsigned slots, const PanelRequest &panel) const {
        const int newest = m_ - panel.newest_slot;
        return (slots >> newest | slots << (m_ + 1 - newest)) & ((1u << panel.pairs) - 1);
    }
    __device__ ZeroColumns by_age(const ZeroColumns &columns, const PanelRequest &panel) const {
        return {{by_age(columns.of[0], panel), by_age(columns.of[1], panel)}};
    }
    // It will be asked for soon.
    __device__ void look_ahead(int64_t tile) const { asm volatile("prefetch.global.L1 [%0];" ::"l"(tiles_ + tile)); }
    // By one lane, after all of the tile's have said whether they store 0. slots: what is known before; mostly it
    // stays.
    __device__ void note(int64_t tile, int which, unsigned slots, int slot, bool zero) const {
        const unsigned now = noted(slots, slot, zero);
        if (now != slots) tiles_[tile].of[which] = now;
    }
    __device__ void note(int64_t tile, const ZeroColumns &before, const ZeroColumns &now) const {
        if (now.of[0] != before.of[0] || now.of[1] != before.of[1]) tiles_[tile] = now;
    }
    __device__ unsigned noted(unsigned slots, int slot, bool zero) const {
        const unsigned bit = 1u << (m_ - slot);
        return zero ? slots | bit : slots & ~bit;
    }

  private:
    ZeroColumns *tiles_ = nullptr;
    int64_t bytes_ = 0;
    int m_ = 0;
};

} // namespace cudaopt
