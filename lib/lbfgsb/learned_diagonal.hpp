// The metric that is learned: B_0 = theta diag(b). Of each pair, b_i takes in how large the variable's share of the
// curvature is by y and by s,
//
//     u_i = y_i^2 / b_i / sum_j y_j^2 / b_j,    w_i = b_i s_i^2 / sum_j b_j s_j^2,
//     b_i <- b_i sqrt((kappa + u_i) / (kappa + w_i)),    kappa = (5 + number of pairs taken in) / n,
//
// the quotient between 2/3 and 3/2, so that it is an average over the pairs, of which later ones count less. It serves
// the model only while it fits the pairs that it has not seen yet better than theta I does (LearnedDiagonal::observe).
//
// The rule is elementwise but for two sums that the inner products have anyway: sweep 1 applies it on its way, with
// pairs before the one that it measures. The first pairs are taken in one by one, later ones four at a time: each
// change of b costs the products of all older steps anew, and the average changes little by then. What is stored is
// h = 1 / b, as of the caller's diagonal of H_0; theta stays a number of the memory. This file has all that is to be
// changed for another rule.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense/loaded.hpp"
#include "dense/numbers.hpp"
#include "exec/annotations.hpp"

namespace cudaopt {

// A pair changes b^2 by this factor at most: among very many variables there are some whose share is out of all
// proportion, and one of them is enough to spoil the model.
constexpr double most_at_once = 1.5;

// What is known of a pair that is taken in; s = step d, and the step cancels.
struct LearnedPair {
    int slot;
    double of_d, of_y; // 1 / sum b_j d_j^2, 1 / sum y_j^2 / b_j
    double kappa;
};

// What one sweep 1 does to h: the pairs that it takes in, one after the other, if there are any.
struct DiagonalUpdate {
    static constexpr int most = 4;
    bool anew = false; // b was 1 so far; h is not looked at
    int count = 0;
    LearnedPair pairs[most] = {};
};

// Of inner products: of the pairs as they are; of several weights. What has been learned has numbers from 1 on, what
// the caller has supplied from -2 down.
constexpr int64_t no_weights = 0, other_weights = -1;

// Elements of b stay between 2^-26 and 2^26: over a spread of 2^52 = 1 / epsilon, sums of products in which all of them
// meet keep no digit of the smallest.
constexpr double most_learned = 67108864.0;

// h of a variable once a pair has been taken in; d, y: of the pair.
CUDA_OPT_HD_INLINE double learned_weight(double h, double d, double y, const LearnedPair &pair) {
    const double u = y * y * h * pair.of_y, w = d * d / h * pair.of_d;
    const double quotient = (pair.kappa + w) / (pair.kappa + u);
    const double learned = h * std::sqrt(quotient < most_at_once ? greatest(quotient, 1 / most_at_once) : most_at_once);
    // A number out of range becomes a bound, too.
    return learned > 1 / most_learned ? (learned < most_learned ? learned : most_learned) : 1 / most_learned;
}

// Validates an update that was read as bytes and belongs to a history of m pairs.
inline bool is_update_consistent(const DiagonalUpdate &update, int m) {
    if (!dense::are_bools(update.anew) || !dense::is_within(0, update.count, DiagonalUpdate::most)) return false;
    for (int k = 0; k < update.count; k++)
        if (!dense::is_within(0, update.pairs[k].slot, m)) return false;
    return true;
}

// The pairs that the diagonal has taken in, and whether it fits the new ones better than theta I.
class LearnedDiagonal {
  public:
    // Whether there is one, and h holds it; whether the model is made with it.
    CUDA_OPT_HD bool exists() const { return exists_; }
    CUDA_OPT_HD bool serves() const { return exists_ && serves_; }
    CUDA_OPT_HD bool update_is_due() const { return due_; }
    // What the model's inner products are weighted with: a number for each h that has been, or none.
    CUDA_OPT_HD int64_t weights() const { return serves() ? made_ : no_weights; }
    // As if there had been no pair. How well it served stays known.
    CUDA_OPT_HD void forget() {
        exists_ = due_ = false;
        pairs_ = 0;
        update_ = {};
    }
    CUDA_OPT_HD void clear() {
        const int64_t made = made_; // what the products of pairs that stay are of
        *this = LearnedDiagonal{};
        made_ = made;
    }

    // A pair that b has not seen: y'y and d'd, and sum y^2 / b and sum b d^2. The angle between y and s, in the
    // coordinates that b scales and in those of theta I, tells which of the two fits the pair better. The pair is taken
    // in with the next inner products at the earliest: what is known of it only now, they cannot know. Those that wait
    // to be taken in have to be among the `memory` pairs of the memory then, with a newer one besides.
    CUDA_OPT_HD void observe(int slot, int memory, int64_t n, double yy, double dd, double yy_weighted,
                             double dd_weighted) {
        constexpr double share_of_newest = 0.1, serves_above = 0.3, serves_no_more_below = 0.15;
        constexpr int64_t pairs_at_first = 5, one_by_one = 10;
        const double advantage = std::log(dd / dd_weighted) + std::log(yy / yy_weighted);
        if (is_finite(advantage)) advantage_ += share_of_newest * (advantage - advantage_);
        serves_next_ = advantage_ > (serves_ ? serves_no_more_below : serves_above);
        const double of_d = 1 / dd_weighted, of_y = 1 / yy_weighted;
        if (!is_normal(of_d) || !is_normal(of_y) || update_.count == DiagonalUpdate::most) return;
        const double kappa = static_cast<double>(pairs_at_first + pairs_) / static_cast<double>(n);
        update_.anew = !exists_;
        update_.pairs[update_.count++] = {slot, of_d, of_y, kappa};
        const int at_once = pairs_ < one_by_one ? 1 : greatest(1, least(DiagonalUpdate::most, memory - 1));
        pairs_++;
        due_ = update_.count >= at_once;
    }

    // What the inner products that are asked for now have to do, and with what they are weighted from now on.
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
    bool exists_ = false, serves_ = false, serves_next_ = false;
    bool due_ = false;
    int64_t pairs_ = 0;    // that b has taken in, or will
    int64_t made_ = 0;     // h, so many times
    double advantage_ = 0; // of b over theta I: the average of 2 log of the cosines' quotient
    DiagonalUpdate update_{};
};

} // namespace cudaopt
