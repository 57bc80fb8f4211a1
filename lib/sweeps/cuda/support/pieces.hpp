// This header describes the division of the variables among the blocks of a grid. In general the blocks execute a
// grid-stride loop over all variables. If the variables of a rank are divided into segments (sweeps/segments.hpp), each
// block processes one part of one segment. Which variables are summed together, and in which order, then depends only
// on the number of variables of all ranks.
#pragma once

#include "exec/annotations.hpp"
#include "sweeps/segments.hpp"

namespace cudaopt {

// A segment has at most most_pieces parts, and the number of parts is a power of two. With 8 parts, an eighth of the at
// most 256 segments occupies all multiprocessors of a GPU.
constexpr int most_pieces = 8;
// If a segment has several parts, each part has at least 16 tiles of 128 variables (sweeps/segments.hpp). No part is
// empty.
constexpr int64_t least_tiles_of_piece = 16;

// BlockShare describes the units that a block of a grid processes. A unit is a tile or a group of variables, and a
// worker is a thread or a warp. Worker k of the block processes the units begin + offset + k, begin + offset + k +
// step, ... below end.
struct BlockShare {
    int64_t begin, end, offset, step;
};

class Pieces {
  public:
    // The default constructor means that the variables are not divided into segments.
    Pieces() = default;
    explicit Pieces(const OwnSegments &own)
        : whole_(own.whole()), first_(static_cast<int>(own.first())), segments_(static_cast<int>(own.count())) {
        while (1 << doublings_ < most_pieces && whole_.least_tiles() >= least_tiles_of_piece << (doublings_ + 1))
            doublings_++;
    }

    CUDA_OPT_HD bool by_segments() const { return segments_ > 0; }
    CUDA_OPT_HD int segments() const { return segments_; }
    CUDA_OPT_HD int of_segment() const { return 1 << doublings_; }
    // Returns the number of parts of all segments, which is also the number of blocks.
    CUDA_OPT_HD int count() const { return segments_ << doublings_; }
    // Returns the division with one part per segment.
    Pieces undivided() const {
        Pieces pieces = *this;
        pieces.doublings_ = 0;
        return pieces;
    }

    // Returns the units of a block for n variables.
    // unit_variables: the number of variables per unit, a divisor of the tile size
    // blocks: the number of blocks of the grid
    // workers: the number of threads or warps per block
    CUDA_OPT_HD BlockShare share(int64_t n, int unit_variables, int block, int blocks, int workers) const {
        const int64_t units = (n + unit_variables - 1) / unit_variables;
        if (!by_segments())
            return {0, units, static_cast<int64_t>(block) * workers, static_cast<int64_t>(blocks) * workers};
        const int segment = block >> doublings_, piece = block & (of_segment() - 1);
        const int64_t before = whole_.tile(first_), tile = whole_.tile(first_ + segment) - before,
                      tiles = whole_.tile(first_ + segment + 1) - before - tile;
        const int units_of_tile = static_cast<int>(variables_of_tile) / unit_variables;
        const int64_t begin = (tile + (tiles * piece >> doublings_)) * units_of_tile,
                      end = (tile + (tiles * (piece + 1) >> doublings_)) * units_of_tile;
        return {begin, end < units ? end : units, 0, workers};
    }
    // Returns the index at which a block stores its sums. The sums of the first part of each segment come first, then
    // those of the second parts, and so on.
    CUDA_OPT_HD int place(int block) const {
        return by_segments() ? (block & (of_segment() - 1)) * segments_ + (block >> doublings_) : block;
    }

  private:
    Segments whole_{0};
    int first_ = 0, segments_ = 0, doublings_ = 0;
};

} // namespace cudaopt
