// The inner products over the free variables (PanelProducts::free_gram) of the last iterate, which are updated from one
// iterate to the next one. L-BFGS-B 3.0 updates its matrix of these products in the same way (subroutine formk).
//
// For k correction pairs, the products need about 2 k^2 n multiply-adds, whereas all other operations of an iteration
// need a multiple of k n. But from one iterate to the next one, the products of two columns that exist at both differ
// only by the variables whose freedom has changed:
//
//     sum_{i free at x} a_i b_i = sum_{i free at x_base} a_i b_i + sum_{i} sigma_i a_i b_i,
//
// with sigma_i = 1 for variables that have become free, -1 for those that are free no longer, and 0 for the others.
// Sweep 1 forms the last sum (PanelRequest::free_changes). Products with the newest pair and with g are always formed
// in full. As a pair leaves the history after m iterations, its products are updated at most m - 1 times.
//
// The products are part of the state, so that a solve that continues from a checkpoint has the same bits.
#pragma once

#include "lbfgsb/compact_matrix.hpp"

namespace cudaopt {

class FreeGram {
  public:
    // With at most this number of pairs, all products are formed at each iterate. They then take little time.
    static constexpr int most_pairs_anew = 20;
    // After an update, the sum of squares of each column must be at least this part of its largest one so far, so that
    // cancellation leaves 32 of 52 binary digits. Otherwise the products are formed again.
    static constexpr double least_part = 0x1p-20;

    template <class Visit> void each_array(int m, Visit &visit) {
        const int columns = m > most_pairs_anew ? panel::columns(m) : 0;
        visit(products_, panel::gram_count(columns));
        visit(largest_, columns);
    }
    bool is_consistent(int m) const { return m > most_pairs_anew ? dense::is_within(0, pairs_, m) : pairs_ == 0; }

    void forget() { pairs_ = 0; }
    // Returns whether the products are those of the stored pairs at the last iterate. `pairs` is the number of these
    // pairs, and `weights` identifies the diagonal with which the products have to be weighted.
    bool serves(int pairs, int64_t weights) const { return pairs_ > 0 && pairs_ == pairs && weights_ == weights; }
    // Returns whether the products of the next panel are to be obtained by an update.
    bool can_update(const PanelRequest &next, int pairs, int64_t weights) const {
        return next.pairs > most_pairs_anew && next.fresh && next.free_gram && next.threshold == 0 &&
               !next.older_steps && serves(pairs, weights);
    }
    // Stores products that were formed in full.
    void store(const PanelProducts &sums, int pairs, int64_t weights) {
        if (pairs < most_pairs_anew) return forget();
        dense::copy(sums.free_gram, panel::gram_count(sums.columns), products_.data());
        for (int j = 0; j < sums.columns; j++) largest_[j] = sums.over_free(j, j);
        pairs_ = pairs;
        weights_ = weights;
    }
    // Updates the products to those at the next iterate, after the newest pair was appended. `changes` is the reply to
    // a request with free_changes. Returns false if too many digits were cancelled; the products then exist no longer.
    bool update(const PanelProducts &changes) {
        const int columns = changes.columns, old_columns = panel::columns(pairs_);
        double *const products = products_.data();
        // Each product moves to a larger index, so that the loops run backwards.
        for (int i = columns - 1; i >= panel::leading; i--)
            for (int j = columns - 1; j >= i; j--)
                products[panel::gram_index(i, j, columns)] =
                    products[panel::gram_index(previous(i), previous(j), old_columns)] + changes.over_free(i, j);
        for (int i = columns - 1; i >= panel::leading; i--) largest_[i] = largest_[previous(i)];
        dense::fill(largest_.data(), panel::leading, 0);
        dense::copy(changes.free_gram, panel::gram_index(panel::leading, panel::leading, columns), products);
        pairs_ = panel::pairs(columns);
        for (int j = 0; j < columns; j++) {
            if (j == panel::displacement) continue; // the products with z are not set
            const double square = products[panel::gram_index(j, j, columns)];
            largest_[j] = greatest(largest_[j], square);
            if (!(square >= least_part * largest_[j] && is_finite(square))) {
                forget();
                return false;
            }
        }
        return true;
    }
    const double *data() const { return products_.data(); }

  private:
    // The column that a column of an older pair had in the panel of the last iterate. All pairs have aged by one.
    static int previous(int column) { return column < panel::leading + 2 ? column - panel::leading : column - 2; }

    int pairs_ = 0; // 0: there are no products
    int64_t weights_ = no_weights;
    dense::Array<0> products_, largest_; // largest_: the largest product of each column with itself
};

} // namespace cudaopt
