// This header defines how sums over the variables are divided. A tile is a block of 128 consecutive variables, and a
// segment is a range of consecutive tiles. There are at most 256 segments. (The segments of the Cauchy path are
// different.) The sums of the segments are added in the order of one binary tree. This division depends on n alone. A
// rank that stores the variables of whole segments can form the sums of whole subtrees. The addition of the subtree
// sums of all ranks gives bitwise the result of a single process.
#pragma once

#include <algorithm>
#include <cstdint>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr int64_t variables_of_tile = 128;
constexpr int64_t most_segments = 256;

class Segments {
  public:
    explicit Segments(int64_t n) : n_(n) {
        const int64_t tiles = n / variables_of_tile + (n % variables_of_tile != 0);
        count_ = static_cast<int>(std::min(tiles, most_segments));
        if (count_ == 0) return;
        least_tiles_ = tiles / count_;
        left_over_ = static_cast<int>(tiles % count_);
    }

    int64_t count() const { return count_; }
    // Returns the number of the first tile of segment k, 0 <= k <= count(), which is floor(tiles * k / count). The
    // computation does not overflow and needs only a 32-bit division, which is fast on a GPU.
    CUDA_OPT_HD int64_t tile(int64_t k) const {
        return count_ == 0 ? 0 : least_tiles_ * k + left_over_ * static_cast<int>(k) / count_;
    }
    int64_t variable(int64_t k) const { return k == count_ ? n_ : tile(k) * variables_of_tile; }
    // Returns the smallest number of tiles in a segment.
    int64_t least_tiles() const { return least_tiles_; }
    int64_t most_tiles() const { return least_tiles_ + (left_over_ != 0); }
    // Returns the number of the segment that begins at this variable. The result is count() if the variable is n, and
    // -1 if no segment begins there.
    int64_t at(int64_t variable_wanted) const {
        int64_t low = 0, high = count_;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (variable(middle) < variable_wanted) low = middle + 1;
            else high = middle;
        }
        return variable(low) == variable_wanted ? low : -1;
    }

  private:
    int64_t n_, least_tiles_ = 0;
    int count_, left_over_ = 0;
};

// A Subtree of the summation tree contains the segments begin <= k < end. Their sums are added to each other before
// they are added to the sums of other segments.
struct Subtree {
    int64_t begin, end;
};
// A rank has at most 16 subtrees. There are at most 256 = 2^8 segments, and at most two subtrees per power of 2.
constexpr int most_subtrees = 16;

// Divides the segments first <= k < last into as few subtrees as possible of the summation tree over `count` segments.
// Returns the number of these subtrees.
inline int cut_into_subtrees(int64_t first, int64_t last, int64_t count, Subtree *subtrees) {
    int made = 0;
    for (int64_t at = first; at < last;) {
        int64_t size = 1;
        while (at % (2 * size) == 0 && size < count && std::min(at + 2 * size, count) <= last) size *= 2;
        const int64_t end = std::min(at + size, count);
        subtrees[made++] = {at, end};
        at = end;
    }
    return made;
}

// Joins the leaves begin <= k < end in the order of the binary tree. The function join(to, from) adds the value of leaf
// `from` to that of leaf `to`.
template <class Join> void join_in_tree(int64_t begin, int64_t end, const Join &join) {
    for (int64_t stride = 1; stride < end - begin; stride *= 2)
        for (int64_t k = begin; k + stride < end; k += 2 * stride) join(k, k + stride);
}

// OwnSegments describes the segments of one rank. The rank stores n of the `of` variables of the problem, beginning
// with variable `first`. Tiles and segments are counted from the first one of the rank. If the rank's variables do not
// consist of whole segments, they are divided as if no other rank existed.
class OwnSegments {
  public:
    OwnSegments(int64_t first, int64_t n, int64_t of)
        : whole_(of), first_(whole_.at(first)), last_(whole_.at(first + n)) {
        if (first_ < 0 || last_ < 0) whole_ = Segments(n), first_ = 0, last_ = whole_.count();
        subtree_count_ = cut_into_subtrees(first_, last_, whole_.count(), subtrees_);
        for (int k = 0; k < subtree_count_; k++) subtrees_[k].begin -= first_, subtrees_[k].end -= first_;
    }

    const Segments &whole() const { return whole_; }
    // Returns the index of the rank's first segment among the segments of all ranks.
    int64_t first() const { return first_; }
    int64_t count() const { return last_ - first_; }
    int64_t tile(int64_t k) const { return whole_.tile(first_ + k) - whole_.tile(first_); }
    int64_t tiles() const { return tile(count()); }
    // Returns the largest number of tiles in a segment.
    int64_t most_tiles() const { return whole_.most_tiles(); }
    int subtree_count() const { return subtree_count_; }
    const Subtree &subtree(int k) const { return subtrees_[k]; }

  private:
    Segments whole_;
    int64_t first_, last_;
    int subtree_count_ = 0;
    Subtree subtrees_[most_subtrees];
};

} // namespace cudaopt
