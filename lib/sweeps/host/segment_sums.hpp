// SegmentSums contains the results of the host's sweeps for each segment, which is a range of variables
// (sweeps/segments.hpp). It joins them along the binary tree over all segments, up to the roots of the subtrees that
// belong to this rank. If there is only one rank, its only subtree is the whole tree.
#pragma once

#include <algorithm>

#include "exec/map_reduce_host.hpp"
#include "sweeps/host/buffer.hpp"
#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"
#include "sweeps/segments.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// Each tile forms only the first `free_products` of the products over the free variables (free_products_of_tile()). The
// next function writes the sums of a tile without variables.
inline void clear_tile(const ProductsLayout &layout, int free_products, double *v) {
    std::fill(v, v + layout.free_gram + free_products, 0.0);
    std::fill(v + layout.leading_products, v + layout.size, 0.0);
    v[layout.minimum] = infinity;
}
// Adds the sums of another set of tiles, as join() does.
inline void join_tiles(const ProductsLayout &layout, int free_products, double *to, const double *from) {
    const auto add = [&](int begin, int end) { add_elements(from + begin, end - begin, to + begin); };
    add(0, layout.free_gram + free_products);
    add(layout.leading_products, layout.maximum);
    join_extremes(layout, to, from);
}

// A Cascade sums over the tiles of a segment, which is a range of tiles. It stores one partial sum per level of the
// binary tree. Adding a tile propagates through the levels like the carry of a binary counter.
class Cascade {
  public:
    // The sum is stored in `sum`, which is also the first level. The others are in `levels`.
    Cascade(double *sum, double *levels, const ProductsLayout &layout, int free_products)
        : sum_(sum), levels_(levels), layout_(layout), free_products_(free_products) {}
    // Returns the address at which the caller must store the inner products of the next tile.
    double *next() { return level(depth_); }
    void push() {
        depth_++;
        for (uint64_t carry = count_++; carry & 1; carry >>= 1) {
            depth_--;
            join_tiles(layout_, free_products_, level(depth_ - 1), level(depth_));
        }
    }
    // Completes the sum of all tiles, of which there must be at least one.
    void finish() {
        for (int i = depth_ - 1; i > 0; i--) join_tiles(layout_, free_products_, level(i - 1), level(i));
    }

  private:
    double *level(int i) { return i == 0 ? sum_ : levels_ + static_cast<std::size_t>(i - 1) * layout_.size; }
    double *sum_, *levels_;
    const ProductsLayout &layout_;
    const int free_products_;
    int depth_ = 0;
    uint64_t count_ = 0;
};

class SegmentSums final : public SubtreeSums {
  public:
    explicit SegmentSums(int64_t n) : n_(n), segments_(0, n, n) {}

    // Returns the segments of this rank. Each segment is a unit of work that one thread executes.
    const OwnSegments &segments() const { return segments_; }
    int64_t count() const { return segments_.count(); }
    int64_t tiles() const { return segments_.tiles(); }
    // Returns the number of partial sums that a Cascade needs in addition to the sum itself. It needs one per level of
    // the binary tree over the tiles of a segment, and one more for the tile that is being added.
    int cascade_levels() const {
        int levels = 1;
        for (int64_t tiles = segments_.most_tiles(); tiles > 0; tiles /= 2) levels++;
        return levels;
    }

    // Allocates memory for the inner products of all segments.
    void allocate_products(const ProductsLayout &largest) { products_ = HostArray<double>(count() * largest.size); }
    int64_t bytes() const { return products_.bytes(); }
    // Returns the address of the products of one segment.
    double *products_of(int64_t segment) const { return products_.get() + segment * layout_.size; }
    // Called before the products of the segments are formed. `free_products` is the number of those over the free
    // variables that each tile forms (free_products_of_tile()).
    void begin_products(const ProductsLayout &layout, int free_products) {
        layout_ = layout;
        free_products_ = free_products;
        std::fill(changed_, changed_ + count(), false);
    }
    // Returns the address of the products over the free variables of a segment. The first call sets those to 0 that
    // tiles do not form. They remain unset in a segment without changes, that is, in nearly all segments.
    double *room_for_changes(int64_t segment) {
        double *const products = products_of(segment);
        if (!changed_[segment])
            std::fill(products + layout_.free_gram + free_products_, products + layout_.leading_products, 0.0);
        changed_[segment] = true;
        return products + layout_.free_gram;
    }
    // Joins the products of all segments.
    void join_products() {
        const int others = panel::gram_count(layout_.columns) - free_products_;
        join_subtrees([&](int64_t to, int64_t from) {
            join_tiles(layout_, free_products_, products_of(to), products_of(from));
            if (changed_[from])
                add_elements(room_for_changes(from) + free_products_, others, room_for_changes(to) + free_products_);
        });
        for (int k = 0; k < segments_.subtree_count(); k++) room_for_changes(segments_.subtree(k).begin);
    }

    // Each of the next functions calls rule(tile, record) for all tiles and joins the records.
    template <class Rule> void reduce_direction(const Rule &rule, HostThreads threads) {
        reduce(direction_, rule, threads);
    }
    template <class Rule> ScaledSquares reduce_squares(const Rule &rule, HostThreads threads) {
        reduce(squares_, rule, threads);
        return squares_[0];
    }

    void bind(const double *f) { f_ = f; }

    void take_part(int64_t first, int64_t of, bool) override { segments_ = OwnSegments(first, n_, of); }
    PanelProducts products(int subtree) const override {
        return layout_.products(products_of(segments_.subtree(subtree).begin));
    }
    DirectionSums direction(int subtree) const override {
        const DirectionRecord &record = direction_[segments_.subtree(subtree).begin];
        return {record.slope.v, record.d_squared.v, record.projected.v};
    }
    double f(int subtree) const override {
        double sums[most_segments];
        const Subtree &of = segments_.subtree(subtree);
        std::copy(f_ + of.begin, f_ + of.end, sums + of.begin);
        join_in_tree(of.begin, of.end, [&](int64_t to, int64_t from) { sums[to] += sums[from]; });
        return sums[of.begin];
    }
    ScaledSquares squares(int subtree) const override { return squares_[segments_.subtree(subtree).begin]; }

  private:
    template <class Join> void join_subtrees(const Join &join) const {
        for (int k = 0; k < segments_.subtree_count(); k++)
            join_in_tree(segments_.subtree(k).begin, segments_.subtree(k).end, join);
    }
    template <class Record, class Rule> void reduce(Record *records, const Rule &rule, HostThreads threads) {
        const auto reduce_segment = [&](int64_t k, int) {
            records[k] = reduce_tiles<Record, 1>(segments_.tile(k), segments_.tile(k + 1), tiles(), rule);
        };
        share_host(count(), reduce_segment, count() > 1 ? threads : HostThreads(1));
        join_subtrees([&](int64_t to, int64_t from) { records[to].join(records[from]); });
    }

    const int64_t n_;
    OwnSegments segments_;
    HostArray<double> products_;
    // The caller's values of f, one per segment.
    const double *f_ = nullptr;
    // These describe the current inner products. changed_: whether a segment contains changes.
    ProductsLayout layout_{panel::leading, false};
    int free_products_ = 0;
    bool changed_[most_segments] = {};
    DirectionRecord direction_[most_segments];
    ScaledSquares squares_[most_segments];
};

} // namespace cudaopt
