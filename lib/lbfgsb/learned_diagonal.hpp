// The learned diagonal of the initial Hessian approximation, B_0 = theta diag(b). Each pair updates b_i by comparing
// variable i's share of the curvature measured with y and with s:
//
//     u_i = y_i^2 / b_i / sum_j y_j^2 / b_j,    w_i = b_i s_i^2 / sum_j b_j s_j^2,
//     b_i <- b_i sqrt((kappa + u_i) / (kappa + w_i)),    kappa = (5 + p + c p^2) / n,    p = number of earlier pairs,
//     c = max(0, sqrt(n) - 50) / 12000.
//
// The quotient below the root is limited to [2/3, 3/2]. Because kappa grows, later pairs change b less. The term c p^2
// is for many variables (kappa()). Before a pair updates b, it is used to compare B_0 with theta I. The model is formed
// with b only while b explains a sufficient share of the misfit of theta I to these pairs (observe()).
//
// The update is elementwise except for the two sums over j, which are among the inner products that each iteration
// computes. The sweep that computes inner products first updates b, while it reads the variables. It does so with pairs
// older than the newest one, because the sums of the newest pair are known only after this sweep. The first ten pairs
// update b one at a time, and later pairs four at a time. The reason is that after each change of b the products of all
// older steps have to be formed again, while b changes little after ten pairs. The vector h = 1 / b is stored, in the
// same form as the caller's diagonal of H_0; theta remains a scalar of CompactMatrix.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense/numbers.hpp"
#include "exec/annotations.hpp"

namespace cudaopt {

// The largest factor by which one pair changes b_i^2. Among very many variables there are some with an extreme share of
// the curvature. Without the limit, a single one of them could make the model poor.
constexpr double most_at_once = 1.5;

// The data of a pair that updates the diagonal b, with d instead of s = step d, because the step length cancels.
struct LearnedPair {
    int slot;
    double of_d, of_y; // 1 / sum b_j d_j^2, 1 / sum y_j^2 / b_j
    double kappa;
};

// Elements of b are limited to [2^-90, 2^90], so that they can be stored in single precision.
constexpr double most_learned = 0x1p90;

// The update of h = 1 / b that one sweep performs. The sweep applies the pairs one after the other.
struct DiagonalUpdate {
    static constexpr int most = 4;
    static constexpr int from_ones = 1, from_sizes = 2;
    // If it is not 0, the sweep does not read h, but begins with the weights first_weight(). It is no bool, because the
    // state of a solve, which contains this struct, is saved as bytes, and padding would not be the same in two
    // processes.
    int anew = 0;
    int count = 0;
    LearnedPair pairs[most] = {};

    CUDA_OPT_HD bool is_empty() const { return count == 0 && anew != from_sizes; }
    // Returns the weight of a variable before the pairs update it: 1, or the square of the variable's size |x|. The
    // size of x = 0 is not known, and 1 replaces it.
    CUDA_OPT_HD_INLINE double first_weight(double x) const {
        if (anew != from_sizes || x == 0 || !is_finite(x)) return 1;
        return least(greatest(x * x, 1 / most_learned), most_learned);
    }
};

// Each diagonal that weights inner products has a number: learned diagonals 1, 2, ..., and the caller's -2, -3, ...
// no_weights stands for unweighted products, other_weights for products with different weights.
constexpr int64_t no_weights = 0, other_weights = -1;

// Returns h of a variable after the update by a pair, whose elements are d and y.
CUDA_OPT_HD_INLINE double learned_weight(double h, double d, double y, const LearnedPair &pair) {
    const double u = y * y * h * pair.of_y, w = d * d / h * pair.of_d;
    const double quotient = (pair.kappa + w) / (pair.kappa + u);
    const double learned = h * std::sqrt(quotient < most_at_once ? greatest(quotient, 1 / most_at_once) : most_at_once);
    // A value outside the limits, or NaN, becomes one of the limits.
    return learned > 1 / most_learned ? (learned < most_learned ? learned : most_learned) : 1 / most_learned;
}

// Validates an update that was read as bytes and belongs to a history of m pairs.
inline bool is_update_consistent(const DiagonalUpdate &update, int m) {
    if (!dense::is_within(0, update.anew, DiagonalUpdate::from_sizes) ||
        !dense::is_within(0, update.count, DiagonalUpdate::most))
        return false;
    for (int k = 0; k < update.count; k++)
        if (!dense::is_within(0, update.pairs[k].slot, m)) return false;
    return true;
}

// The pairs that have updated the diagonal, and how much of the misfit of theta I to new pairs it explains.
class LearnedDiagonal {
  public:
    // exists() returns whether there is a learned diagonal, stored as h. serves() returns whether the model uses it.
    CUDA_OPT_HD bool exists() const { return exists_; }
    CUDA_OPT_HD bool serves() const { return exists_ && serves_; }
    CUDA_OPT_HD bool update_is_due() const { return due_; }
    // Returns the number of the diagonal with which the model's inner products are weighted, or no_weights.
    CUDA_OPT_HD int64_t weights() const { return serves() ? made_ : no_weights; }
    // Discards the diagonal and its pairs. The averages that compare it with theta I are kept.
    CUDA_OPT_HD void forget() {
        exists_ = due_ = false;
        pairs_ = 0;
        update_ = {};
    }
    // Begins a new diagonal h_i = x_i^2, which the model uses from the start. The next sweep of inner products forms
    // it.
    CUDA_OPT_HD void begin_from_sizes() {
        clear();
        update_.anew = DiagonalUpdate::from_sizes;
        exists_ = serves_ = serves_next_ = due_ = true;
    }
    CUDA_OPT_HD bool begins_from_sizes() const { return due_ && update_.anew == DiagonalUpdate::from_sizes; }
    CUDA_OPT_HD void clear() {
        const int64_t made = made_; // stored products may still be weighted with the diagonal of this number
        *this = LearnedDiagonal{};
        made_ = made;
    }

    // Records a pair that has not updated b yet, with y'd, y'y, d'd, sum y_i^2 / b_i and sum b_i d_i^2. The misfit of a
    // diagonal to the pair is -2 log c, where c is the cosine of the angle between y and d in the coordinates that it
    // scales. b is used if it removes, on average, a sufficient share of the misfit of theta I. A decrease of the
    // misfit alone does not suffice: if much of it remains, as in blocks of strongly coupled variables, b also contains
    // much noise, and spreads eigenvalues that were equal. The update of b requires the same sums. It is therefore
    // performed by the next sweep of inner products, or by a later one. The pair must still be in the history then,
    // with a newer one. `memory`, the capacity of the history, limits how many pairs may wait for their update.
    CUDA_OPT_HD void observe(int slot, int memory, int64_t n, double yd, double yy, double dd, double yy_weighted,
                             double dd_weighted) {
        constexpr double share_of_newest = 0.1, serves_above = 0.3, serves_no_more_below = 0.15;
        constexpr int64_t one_by_one = 10;
        const double misfit = logarithm(dd / yd) + logarithm(yy / yd);
        const double explained = logarithm(dd / dd_weighted) + logarithm(yy / yy_weighted);
        if (is_finite(misfit) && is_finite(explained)) {
            misfit_ += share_of_newest * (misfit - misfit_);
            explained_ += share_of_newest * (explained - explained_);
        }
        serves_next_ = explained_ > (serves_ ? serves_no_more_below : serves_above) * misfit_;
        const double of_d = 1 / dd_weighted, of_y = 1 / yy_weighted;
        if (!is_normal(of_d) || !is_normal(of_y) || update_.count == DiagonalUpdate::most) return;
        update_.anew = !exists_;
        update_.pairs[update_.count++] = {slot, of_d, of_y, kappa(static_cast<double>(n))};
        const int at_once = pairs_ < one_by_one ? 1 : greatest(1, least(DiagonalUpdate::most, memory - 1));
        pairs_++;
        due_ = update_.count >= at_once;
    }

    // Returns the update of b, if one is due. The next sweep of inner products has to perform it. Also decides whether
    // the products that this sweep forms are weighted with b.
    CUDA_OPT_HD DiagonalUpdate take_update() {
        serves_ = serves_next_;
        if (!due_) return {};
        const DiagonalUpdate update = update_;
        update_.count = 0;
        due_ = false;
        exists_ = true;
        made_++;
        return update;
    }

    // Validates an object that was read as bytes and belongs to a history of m pairs.
    bool is_consistent(int m) const {
        return dense::are_bools(exists_, serves_, serves_next_, due_) && is_update_consistent(update_, m);
    }

  private:
    // Returns kappa of the next pair that updates b. Let a variable's shares u_i and w_i be of the order 1 / n, their
    // average. A pair then changes log b_i by about (u_i - w_i) / (2 kappa). With c = 0, the sum of these changes over
    // the pairs grows without limit, as the logarithm of their number. With c > 0, all pairs after the first p change
    // log b_i by at most about 1 / (2 c p). With very many variables, b is better if it is learned mainly from the
    // first pairs: later steps are smooth in most variables and large in few, so that y_i / s_i says little about the
    // diagonal. docs/notes/learned_diagonal.md has the measurements for c, which is 0 up to 2500 variables.
    CUDA_OPT_HD double kappa(double n) const {
        constexpr double pairs_at_first = 5, root_without = 50, root_for_one = 12000;
        const double p = static_cast<double>(pairs_), c = greatest(0.0, std::sqrt(n) - root_without) / root_for_one;
        return (pairs_at_first + p + c * p * p) / n;
    }

    bool exists_ = false, serves_ = false, serves_next_ = false;
    bool due_ = false;
    int64_t pairs_ = 0; // number of pairs that have updated b, or will update it
    int64_t made_ = 0;  // number of different diagonals so far
    // Running averages of the misfit of theta I to new pairs, and of the part of it that b removes.
    double misfit_ = 0, explained_ = 0;
    DiagonalUpdate update_{};
};

} // namespace cudaopt
