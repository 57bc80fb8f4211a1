// CutVariables provides the sums over a rank's variables that the host has received from the device. If the variables
// are distributed over several ranks, they are divided into segments, whose sums are added in the order of a binary
// tree (sweeps/segments.hpp). A rank has the segments of some subtrees of this tree, and there is one sum for each of
// these subtrees. In a single process the variables are not divided, and there is one sum.
#pragma once

#include <vector>

#include "sweeps/cuda/support/posted_numbers.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

class CutVariables final : public SubtreeSums {
  public:
    explicit CutVariables(int64_t n) : n_(n), segments_(0, n, n) {}

    // Returns whether the variables are divided into segments.
    bool by_segments() const { return pieces_.by_segments(); }
    const Pieces &pieces() const { return pieces_; }
    OwnSubtrees subtrees() const { return OwnSubtrees(segments_); }
    bool f_of_segments() const { return f_of_segments_; }

    // The argument `numbers` contains the numbers that the host has decoded from the array of Posted. Only its address
    // is stored, so the array must stay valid. Returns the address of the first number after the sums of all subtrees.
    const double *look_at(const double *numbers, const ProductsLayout &layout) {
        layout_ = layout;
        numbers_ = numbers;
        return numbers_of(segments_.subtree_count());
    }
    // Returns the number of free variables in all subtrees.
    double count_of_free() const {
        double count = 0;
        for (int k = 0; k < segments_.subtree_count(); k++) count += products(k).variable_sums[free_variables];
        return count;
    }
    // Returns memory for the sums of squares of the parts of all segments, one element per part, in the order in which
    // the kernel stores them.
    ScaledSquares *squares() { return squares_.data(); }
    // Joins the sums of squares: first those of the parts of each segment, then those of the segments of each subtree.
    // Returns the sum of the first subtree.
    ScaledSquares join_squares() {
        for (std::size_t k = segments_.count(); k < squares_.size(); k++)
            squares_[k % segments_.count()].join(squares_[k]);
        for (int k = 0; k < segments_.subtree_count(); k++)
            join_in_tree(segments_.subtree(k).begin, segments_.subtree(k).end,
                         [&](int64_t to, int64_t from) { squares_[to].join(squares_[from]); });
        return squares_[0];
    }

    void take_part(int64_t first, int64_t of, bool f_of_segments) override {
        segments_ = OwnSegments(first, n_, of);
        pieces_ = Pieces(segments_);
        squares_.resize(static_cast<std::size_t>(pieces_.count()));
        f_of_segments_ = f_of_segments;
    }
    PanelProducts products(int subtree) const override { return layout_.products(numbers_of(subtree)); }
    DirectionSums direction(int subtree) const override {
        const double *const sums = numbers_of(subtree) + layout_.size;
        return {sums[0], sums[1], sums[2]};
    }
    double f(int subtree) const override { return numbers_of(subtree)[layout_.size + direction_numbers]; }
    ScaledSquares squares(int subtree) const override { return squares_[segments_.subtree(subtree).begin]; }

  private:
    const double *numbers_of(int subtree) const {
        return numbers_ + static_cast<int64_t>(subtree) * numbers_of_subtree(layout_);
    }

    const int64_t n_;
    OwnSegments segments_;
    Pieces pieces_;
    bool f_of_segments_ = false;
    ProductsLayout layout_{panel::leading, false};
    const double *numbers_ = nullptr;
    std::vector<ScaledSquares> squares_;
};

} // namespace cudaopt
