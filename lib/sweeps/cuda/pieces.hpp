// How the blocks of a grid share the variables. Those of a handle of its own stride over all variables together. Those
// of a rank whose part is cut at segments (sweeps/segments.hpp) have a piece of one segment each: which variables are
// summed together, and in which order, then depends on the number of all ranks' variables alone.
#pragma once

#include "exec/annotations.hpp"
#include "sweeps/segments.hpp"

namespace cudaopt {

// Of a segment, a power of two: with as many, an eighth of the segments are enough for all multiprocessors of a GPU.
constexpr int most_pieces = 8;
constexpr int64_t least_tiles_of_piece = 16; // where a segment has several; no piece is empty

// Units (tiles, groups of variables) begin, ..., end - 1 of which a block has those that are `step` apart, from the one
// behind its thread's or warp's number and `offset` on.
struct BlockShare {
    int64_t begin, end, offset, step;
};

class Pieces {
  public:
    Pieces() = default; // of a handle of its own
    explicit Pieces(const OwnSegments &own)
        : whole_(own.whole()), first_(static_cast<int>(own.first())), segments_(static_cast<int>(own.count())) {
        while (1 << doublings_ < most_pieces && whole_.least_tiles() >= least_tiles_of_piece << (doublings_ + 1))
            doublings_++;
    }

    CUDA_OPT_HD bool by_segments() const { return segments_ > 0; }
    CUDA_OPT_HD int segments() const { return segments_; }
    CUDA_OPT_HD int of_segment() const { return 1 << doublings_; }
    CUDA_OPT_HD int count() const { return segments_ << doublings_; } // and blocks
    // A segment in one.
    Pieces undivided() const {
        Pieces pieces = *this;
        pieces.doublings_ = 0;
        return pieces;
    }

    // Of a block among so many, of n variables in units of unit_variables, that divide a tile, for so many threads or
    // warps.
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
    // Where a block's sums stand: those of the segments' first pieces, then of the second ones, ...
    CUDA_OPT_HD int place(int block) const {
        return by_segments() ? (block & (of_segment() - 1)) * segments_ + (block >> doublings_) : block;
    }

  private:
    Segments whole_{0};
    int first_ = 0, segments_ = 0, doublings_ = 0;
};

} // namespace cudaopt
