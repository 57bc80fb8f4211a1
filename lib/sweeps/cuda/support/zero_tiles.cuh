// ZeroTiles is a bitmap of zero tiles, which are tiles of the stored columns that contain only zeros. Kernels need not
// read them. If variable i is active, d_i is 0. In addition, y_i is 0 if g_i depends only on variables that do not
// move. This occurs in problems in which a gradient component depends only on neighbouring variables. A tile that is
// not read counts as zeros, so that the sums are bitwise the same.
//
// The bitmap has 8 bytes per tile of sweep 1. It is maintained while enough variables are active to save time (see
// worth_tracking()). Sweep 2 updates it, because it stores d and reads or stores y of the newest pair. After any other
// store to a column, forget() has to be called.
#pragma once

#include "lbfgsb/requests.hpp"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

// ZeroColumns contains the bits of one tile. The history has m + 1 slots, each for one pair. Word of[0] has one bit for
// each slot of Y, and of[1] has one for each slot of S. A set bit means that the column is known to be 0 in the tile.
// The bits are indexed by slot, because the position of a column in the panel changes from one iteration to the next.
// Slot k has bit m - k, so that the bits are in the cyclic order of the pairs' ages.
struct alignas(8) ZeroColumns {
    unsigned of[2] = {0, 0};
};
constexpr int zeros_of_y = 0, zeros_of_s = 1;

class ZeroTiles {
  public:
    // m + 1 must be less than the 32 bits of a word, because by_age() shifts words by up to m + 1 bits.
    static constexpr int most_pairs = 30;
    // Returns whether zero tiles should be tracked. Tracking starts when a quarter of the variables are active. It
    // stops when fewer than an eighth are active, because it then saves little and costs some instructions per tile.
    static bool worth_tracking(bool before, double free, double n) { return n - free >= (before ? n / 8 : n / 4); }

    // The default constructor means that zero tiles are not tracked.
    ZeroTiles() = default;
    // This constructor starts the tracking of zero tiles for m <= most_pairs pairs, in `bytes` bytes of device memory.
    // The bitmap must be cleared by forget() before it is used.
    ZeroTiles(ZeroColumns *tiles, int64_t bytes, int m) : tiles_(tiles), bytes_(bytes), m_(m) {}

    void forget(cudaStream_t stream) const {
        if (tiles_) check(cudaMemsetAsync(tiles_, 0, static_cast<std::size_t>(bytes_), stream), "cudaMemsetAsync");
    }

    CUDA_OPT_HD bool tracked() const { return tiles_ != nullptr; }
    __device__ unsigned slots(int64_t tile, int which) const { return tiles_[tile].of[which]; }
    __device__ ZeroColumns columns(int64_t tile) const { return tiles_[tile]; }
    // Converts bits by slot to bits by age, where bit k belongs to the pair of age k. All higher bits are 0.
    __device__ unsigned by_age(unsigned slots, const PanelRequest &panel) const {
        const int newest = m_ - panel.newest_slot;
        return (slots >> newest | slots << (m_ + 1 - newest)) & ((1u << panel.pairs) - 1);
    }
    __device__ ZeroColumns by_age(const ZeroColumns &columns, const PanelRequest &panel) const {
        return {{by_age(columns.of[0], panel), by_age(columns.of[1], panel)}};
    }
    // Returns whether all columns of a tile are known to be 0, or all except y of the newest pair.
    __device__ bool all_known(const ZeroColumns &bits, const PanelRequest &panel, bool except_newest_y) const {
        const ZeroColumns zeros = by_age(bits, panel);
        return ((zeros.of[zeros_of_y] | (except_newest_y ? 1 : 0)) & zeros.of[zeros_of_s]) == (1u << panel.pairs) - 1;
    }
    // Prefetches the bits of a tile that will be needed soon.
    __device__ void look_ahead(int64_t tile) const { asm volatile("prefetch.global.L1 [%0];" ::"l"(tiles_ + tile)); }
    // Returns a copy of `before` in which the bit of the column y of `slot` is set if `zero`, and cleared otherwise.
    __device__ ZeroColumns with_y(const ZeroColumns &before, int slot, bool zero) const {
        return {{noted(before.of[zeros_of_y], slot, zero), before.of[zeros_of_s]}};
    }
    // Returns the bits of a tile after sweep 2 has stored d as s of the spare slot, where zero_d states whether d is 0
    // in the tile. The bit of y of that slot is cleared, because g_base or the next y will be stored there.
    __device__ ZeroColumns with_direction(const ZeroColumns &before, int spare_slot, bool zero_d) const {
        return {{noted(before.of[zeros_of_y], spare_slot, false), noted(before.of[zeros_of_s], spare_slot, zero_d)}};
    }
    // Stores the bits of a tile. They usually do not change, and then nothing is stored.
    __device__ void note(int64_t tile, const ZeroColumns &before, const ZeroColumns &now) const {
        if (now.of[0] != before.of[0] || now.of[1] != before.of[1]) tiles_[tile] = now;
    }

  private:
    __device__ unsigned noted(unsigned slots, int slot, bool zero) const {
        const unsigned bit = 1u << (m_ - slot);
        return zero ? slots | bit : slots & ~bit;
    }

    ZeroColumns *tiles_ = nullptr;
    int64_t bytes_ = 0;
    int m_ = 0;
};

} // namespace cudaopt
