/* This header has the data and the operations of a walk, for host and device. A walk is one of the many independent
 * searches of the pattern search, from a random start. A trial is a change of one coordinate by a step. An iteration of
 * a walk evaluates the objective at two trials, above and below, for one coordinate after another. A life of a walk is
 * its part between two random starts. cuda_opt/search.cuh, which programs include, and cuda_opt_search_solve() of the
 * library use this header. */
#ifndef CUDA_OPT_SEARCH_WALKS_CUH
#define CUDA_OPT_SEARCH_WALKS_CUH

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __CUDACC__
/** The macro CUDA_OPT_SEARCH_HD compiles a function for host and device. */
#define CUDA_OPT_SEARCH_HD __host__ __device__
#else
#define CUDA_OPT_SEARCH_HD
#endif

namespace cudaopt {

/** The choices of how a walk proceeds when its step has become the smallest one, steps / 2^halvings. */
enum class AtSmallestStep {
    restart_step, /**< The walk continues from the same point with the first step (Zhu and Curry 2009). */
    stop,         /**< end the walk */
    new_point     /**< The walk starts again from a new random point; its best point is kept. */
};

/** A summary of a search: the best value so far, and the numbers of evaluations and of active walks. */
struct SearchSummary {
    double value = std::numeric_limits<double>::infinity(); /**< The best value so far; +Inf if no value was finite. */
    /** The walk that found the best value; if several did, the lowest index. */
    int64_t walk = std::numeric_limits<int64_t>::max();
    /** The number of evaluations at the starts and trial points of all walks. */
    int64_t evaluations = 0;
    int64_t active = 0; /**< The number of walks that have not ended. */

    /** Combines this summary with the summary of other walks. */
    CUDA_OPT_SEARCH_HD void join(const SearchSummary &other) {
        if (other.value < value || (other.value == value && other.walk < walk)) {
            value = other.value;
            walk = other.walk;
        }
        evaluations += other.evaluations;
        active += other.active;
    }
};

/** The operations of the pattern search, which cuda_opt_search_solve() uses as well. */
namespace pattern {

/** Four integers of 32 bits: the counter or the result of the random number generator Philox. */
struct Words {
    uint32_t at[4]; /**< The four integers. */
};

/** Computes random numbers by the generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, 2011). A walk needs the
 *  random number with a given index, and it has to be the same number on host and device. cuRAND cannot be used,
 *  because it orders its numbers differently and the functions for single numbers exist only on devices. */
CUDA_OPT_SEARCH_HD inline Words philox(Words counter, uint32_t key_0, uint32_t key_1) {
    for (int round = 0; round < 10; round++) {
        const uint64_t a = uint64_t(0xD2511F53u) * counter.at[0];
        const uint64_t b = uint64_t(0xCD9E8D57u) * counter.at[2];
        counter = {{uint32_t(b >> 32) ^ counter.at[1] ^ key_0, uint32_t(b), uint32_t(a >> 32) ^ counter.at[3] ^ key_1,
                    uint32_t(a)}};
        key_0 += 0x9E3779B9u;
        key_1 += 0xBB67AE85u;
    }
    return counter;
}

/** Returns a random multiple of 2^-53 in [0, 1), which depends only on the three arguments. */
CUDA_OPT_SEARCH_HD inline double uniform(uint64_t seed, uint64_t walk, uint64_t draw) {
    const Words bits = philox({{uint32_t(draw), uint32_t(draw >> 32), uint32_t(walk), uint32_t(walk >> 32)}},
                              uint32_t(seed), uint32_t(seed >> 32));
    return double((uint64_t(bits.at[1]) << 32 | bits.at[0]) >> 11) * 0x1p-53;
}

/** Returns the value if it is finite, otherwise +Inf. Values that are NaN, Inf or -Inf count as worse than any
 *  other. */
CUDA_OPT_SEARCH_HD inline double ranked(double value) {
    return std::fabs(value) <= 1.7976931348623157e308 ? value : HUGE_VAL;
}
/** Returns the value, or +Inf if the value is not finite, in single precision. */
CUDA_OPT_SEARCH_HD inline float ranked(float value) {
    return std::fabs(value) <= 3.4028234663852886e38f ? value : HUGE_VALF;
}

/** The data that all walks have in common. Real is the type of their coordinates. */
template <class Real> struct RulesOf {
    int64_t walks;                /**< The number of walks. */
    int n;                        /**< The number of coordinates. */
    int halvings;                 /**< The number of halvings of the step (SearchOptions::halvings). */
    AtSmallestStep at_smallest;   /**< How a walk proceeds at the smallest step (SearchOptions). */
    uint64_t seed;                /**< The seed of the random numbers (SearchOptions::seed). */
    const Real *lower;            /**< The lower bounds, n values. */
    const Real *upper;            /**< The upper bounds, n values. */
    const Real *step;             /**< n values: Delta_0 */
    int64_t round_iterations = 0; /**< The number of iterations per round (SearchOptions::round_iterations). */

    /** Returns whether a walk may start again from a new point. A life is the part of a walk between two random starts.
     *  The best point of all lives is kept. */
    CUDA_OPT_SEARCH_HD bool has_lives() const {
        return at_smallest == AtSmallestStep::new_point || round_iterations > 0;
    }
    /** Returns whether a new round begins after the given number of iterations. All walks start again in a new
     *  round. */
    CUDA_OPT_SEARCH_HD bool begins_round(int64_t iterations) const {
        return round_iterations > 0 && iterations > 0 && iterations % round_iterations == 0;
    }
    /** Returns coordinate j of a random point of a walk. `start` is the number of the point, counted from 0. */
    CUDA_OPT_SEARCH_HD Real start(int64_t walk, int64_t start, int j) const {
        const double u = uniform(seed, uint64_t(walk), uint64_t(start) * uint64_t(n) + uint64_t(j));
        const double l = double(lower[j]);
        const Real x = Real(std::fma(u, double(upper[j]) - l, l));
        return x < upper[j] ? x : upper[j];
    }
    /** Returns the trial value min(x_j + Delta_j, upper bound) with Delta = scale * Delta_0. The product is exact,
     *  because scale is a power of two. Therefore the result is the same if the compiler uses a fused multiply-add. */
    CUDA_OPT_SEARCH_HD Real above(int j, Real x_j, Real scale) const {
        const Real x = x_j + scale * step[j];
        return x < upper[j] ? x : upper[j];
    }
    /** Returns the trial value max(x_j - Delta_j, lower bound), with Delta = scale * Delta_0. */
    CUDA_OPT_SEARCH_HD Real below(int j, Real x_j, Real scale) const {
        const Real x = x_j - scale * step[j];
        return x > lower[j] ? x : lower[j];
    }
};

using Rules = RulesOf<double>; /**< The common data of all walks in double precision. */

/** A trial: the value of coordinate j, and f with this value. */
template <class Real> struct TrialOf {
    Real at;    /**< x_j */
    Real value; /**< f after ranked() */
};
using Trial = TrialOf<double>; /**< A trial in double precision. */

/** Returns whether the trial below x_j is better than the trial above it. If both are equal, the trial above is
 *  preferred. A trial whose value the bounds set to x_j does not count. */
template <class Real>
CUDA_OPT_SEARCH_HD bool prefers_below(Real x_j, const TrialOf<Real> &above, const TrialOf<Real> &below) {
    return above.at == x_j || (below.at != x_j && below.value < above.value);
}

/** Returns whether a trial is accepted: its coordinate differs from x_j, and its value of f is not worse. */
template <class Real> CUDA_OPT_SEARCH_HD bool is_taken(Real x_j, Real value, const TrialOf<Real> &trial) {
    return trial.at != x_j && trial.value <= value;
}

constexpr int ended = -1; /**< The value of Walk::level that marks a walk as ended. */

/** Returns Delta / Delta_0 = 2^-level, the ratio of the current step to the first one. */
template <class Real = double> CUDA_OPT_SEARCH_HD Real scale_of(int32_t level) { return std::ldexp(Real(1), -level); }

/** The data of one walk except its point. In a search in single precision, doubles represent the values exactly. */
struct Walk {
    double value;       /**< f at x */
    double best;        /**< The best value before the last random start; +Inf if there was only one start. */
    int64_t iterations; /**< The number of iterations so far. */
    int32_t level;      /**< The current step is Delta_0 / 2^level. `level` is `ended` if the walk has ended. */
    int32_t starts;     /**< The number of random starts so far; 0 if the walk has not begun. */

    /** Returns whether the best point is that of an earlier life, a part of the walk between two random starts. If the
     *  values are equal, the earlier point counts as the best. */
    CUDA_OPT_SEARCH_HD bool was_better() const { return best <= value && best < HUGE_VAL; }

    /** Ends an iteration of a walk: halves its step if f has not decreased.
     *  @return whether the walk has to start again from a new point */
    template <class Real> CUDA_OPT_SEARCH_HD bool after_iteration(const RulesOf<Real> &rules, bool improved) {
        iterations++;
        if (improved || ++level < rules.halvings) return false;
        level = rules.at_smallest == AtSmallestStep::stop ? ended : 0;
        return rules.at_smallest == AtSmallestStep::new_point;
    }
};

/** Returns the data of a walk before its first start. */
CUDA_OPT_SEARCH_HD inline Walk not_begun() { return {HUGE_VAL, HUGE_VAL, 0, 0, 0}; }

/** The data of all walks. Coordinate j of walk w is at index j * walks + w. */
template <class Real> struct WalksOf {
    Real *x; /**< The current points, n values for each walk. */
    /** The best points before the last random start, n values for each walk; NULL unless rules.has_lives(). */
    Real *best_x;
    Walk *walk; /**< The other data of the walks, one element for each walk. */

    /** Ends a life of walk w, a part of the walk between two random starts. The last point x of this life is stored if
     *  it is the best one so far. */
    template <class Point>
    CUDA_OPT_SEARCH_HD void end_life(const RulesOf<Real> &rules, int64_t w, Walk &it, const Point &x) const {
        it.level = 0;
        if (!(it.value < it.best)) return;
        it.best = it.value;
        for (int j = 0; j < rules.n; j++) best_x[j * rules.walks + w] = x[j];
    }

    /** Returns the summary of one walk. */
    CUDA_OPT_SEARCH_HD SearchSummary summary(const RulesOf<Real> &rules, int64_t w) const {
        const Walk &it = walk[w];
        const double best = it.best < it.value ? it.best : it.value;
        return {best, w, it.starts + 2 * it.iterations * rules.n, it.level == ended ? 0 : 1};
    }
    /** Returns the address of the first coordinate of the best point of a walk. */
    CUDA_OPT_SEARCH_HD const Real *best_of(int64_t w) const { return (walk[w].was_better() ? best_x : x) + w; }
};
using Walks = WalksOf<double>; /**< The data of all walks in double precision. */

/** Returns the reason why rounds cannot be combined with this choice at the smallest step. Returns NULL if they can. */
inline const char *wrong_rounds(int64_t round_iterations, AtSmallestStep at_smallest) {
    const bool wrong = round_iterations > 0 && at_smallest == AtSmallestStep::stop;
    return wrong ? "with rounds a walk cannot end at its smallest step, because all walks start again together"
                 : nullptr;
}

/** Returns the reason why a variable cannot have these bounds and this step. Returns NULL if it can. */
inline const char *wrong_bounds(double lower, double upper, double step) {
    const auto is_finite = [](double v) { return v - v == 0; };
    if (!is_finite(lower) || !is_finite(upper))
        return "the bounds have to be finite: the walks start anywhere between them";
    if (lower > upper) return "the lower bound must not exceed the upper one";
    if (!is_finite(upper - lower)) return "their distance has to be a finite number";
    if (!is_finite(step) || step < 0 || (step == 0 && lower < upper)) return "the step has to be positive and finite";
    return nullptr;
}

/** An integer larger than the key of any value; it marks an entry without a value. */
constexpr uint64_t no_key = ~uint64_t(0);

/** Returns an integer key for a value. The keys have the same order as the values, so that an integer minimum finds the
 *  best value. The value must not be NaN. */
CUDA_OPT_SEARCH_HD inline uint64_t key_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}
/** Returns the value for a key. For no_key the value is NaN, which the comparison for a minimum ignores. */
CUDA_OPT_SEARCH_HD inline double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~(uint64_t(1) << 63) : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/** Records the best value after each iteration. */
struct Note {
    uint64_t *least; /**< One key for each iteration, beginning with the start; NULL if no history is kept. */

    /** Records the best value of a walk after an iteration. */
    CUDA_OPT_SEARCH_HD void operator()(int64_t iteration, double best) const {
        if (!least) return;
        const uint64_t key = key_of(best);
#ifdef __CUDA_ARCH__
        using Atomic = unsigned long long;
        // Most walks do not have the best value; this test lets them skip the atomic operation.
        if (key < *reinterpret_cast<volatile Atomic *>(least + iteration))
            atomicMin(reinterpret_cast<Atomic *>(least + iteration), Atomic(key));
#else
        least[iteration] = key < least[iteration] ? key : least[iteration];
#endif
    }
};

} // namespace pattern
} // namespace cudaopt
#endif
