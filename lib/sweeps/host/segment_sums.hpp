// SegmentSums contains the results of the host's sweeps for each segment, which is a range of variables
// (sweeps/segments.hpp). It joins them along the binary tree over all segments, up to the roots of the subtrees that
// belong to this rank. If there is only one rank, its only subtree is the whole tree.
#pragma once

#include <algorithm>

#include "exec/map_reduce_host.hpp"
#include "sweeps/host/buffer.hpp"
#include "sweeps/host/cascade.hpp"
#include "sweeps/rules.hpp"
#include "sweeps/segments.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

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

    // The next functions allocate memory for the inner products of all segments, and return the address of the products
    // of one segment.
    HostArray<double> room_for_products(const ProductsLayout &largest) const {
        return HostArray<double>(count() * largest.size);
    }
    void hold_products(HostArray<double> room) { products_ = std::move(room); }
    int64_t bytes() const { return products_.bytes(); }
    double *products_of(int64_t segment, const ProductsLayout &layout) const {
        return products_.get() + segment * layout.size;
    }
    // Called before the products of the segments are formed. `free_products` is the number of those over the free
    // variables that each tile forms (free_products_of_tile()).
    void begin_products(const ProductsLayout &layout, int free_products) {
        columns_ = layout.columns;
        with_older_ = layout.with_older;
        free_products_ = free_products;
        std::fill(changed_, changed_ + count(), false);
    }
    // Returns the address of the products over the free variables of a segment. The first call sets those to 0 that
    // tiles do not form. They remain unset in a segment without changes, that is, in nearly all segments.
    double *room_for_changes(int64_t segment) {
        const ProductsLayout layout(columns_, with_older_);
        double *const products = products_of(segment, layout);
        if (!changed_[segment])
            std::fill(products + layout.free_gram + free_products_, products + layout.leading_products, 0.0);
        changed_[segment] = true;
        return products + layout.free_gram;
    }
    // Joins the products of all segments.
    void join_products() {
        const ProductsLayout layout(columns_, with_older_);
        const int others = panel::gram_count(columns_) - free_products_;
        join_subtrees([&](int64_t to, int64_t from) {
            join_tiles(layout, free_products_, products_of(to, layout), products_of(from, layout));
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
        const ProductsLayout layout(columns_, with_older_);
        return layout.products(products_of(segments_.subtree(subtree).begin, layout));
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
    int columns_ = panel::leading, free_products_ = 0;
    bool with_older_ = false, changed_[most_segments] = {};
    DirectionRecord direction_[most_segments];
    ScaledSquares squares_[most_segments];
};

} // namespace cudaopt
