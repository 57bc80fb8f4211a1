/* The data and the operations of a walk, for host and device: random starts, trials and rules of acceptance. A walk is
 * one of the many independent searches of the pattern search. A trial is a change of one coordinate by a step. An
 * iteration of a walk evaluates the objective at two trials, above and below, for each coordinate in turn. A life of a
 * walk is its part between two random starts. cuda_opt/search.cuh, which programs include, and cuda_opt_search_solve()
 * of the library use this header. */
#ifndef CUDA_OPT_SEARCH_WALKS_CUH
#define CUDA_OPT_SEARCH_WALKS_CUH

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __CUDACC__
/** Compile a function for host and device. */
#define CUDA_OPT_SEARCH_HD __host__ __device__
#else
#define CUDA_OPT_SEARCH_HD
#endif

namespace cudaopt {

/** What a walk does when its step has become the smallest one, steps / 2^halvings. */
enum class AtSmallestStep {
    restart_step, /**< continue from the same point with the first step (Zhu and Curry 2009) */
    stop,         /**< end the walk */
    new_point     /**< start again from a new random point; the best point is kept */
};

/** The best value of a search so far, and counts. */
struct SearchSummary {
    double value = std::numeric_limits<double>::infinity(); /**< the best value so far; +Inf if none was finite */
    int64_t walk = std::numeric_limits<int64_t>::max(); /**< the walk that found it; if several did, the lowest index */
    int64_t evaluations = 0;                            /**< evaluations at the starts and trial points of all walks */
    int64_t active = 0;                                 /**< the number of walks that have not ended */

    /** Combine this summary with that of other walks. */
    CUDA_OPT_SEARCH_HD void join(const SearchSummary &other) {
        if (other.value < value || (other.value == value && other.walk < walk)) {
            value = other.value;
            walk = other.walk;
        }
        evaluations += other.evaluations;
        active += other.active;
    }
};

/** The operations of the pattern search. cuda_opt_search_solve() uses them, too. */
namespace pattern {

/** Four integers of 32 bits: the counter or the result of the random number generator Philox. */
struct Words {
    uint32_t at[4]; /**< the four integers */
};

/** The random number generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, 2011). A walk needs the random number
 *  with a given index, and the same one on host and device. cuRAND orders its numbers differently and is available on
 *  devices only. */
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

/** A random multiple of 2^-53 in [0, 1), which depends only on the three arguments. */
CUDA_OPT_SEARCH_HD inline double uniform(uint64_t seed, uint64_t walk, uint64_t draw) {
    const Words bits = philox({{uint32_t(draw), uint32_t(draw >> 32), uint32_t(walk), uint32_t(walk >> 32)}},
                              uint32_t(seed), uint32_t(seed >> 32));
    return double((uint64_t(bits.at[1]) << 32 | bits.at[0]) >> 11) * 0x1p-53;
}

/** Returns the value, or +Inf if it is NaN, Inf or -Inf, because these are worse than any other value. */
CUDA_OPT_SEARCH_HD inline double ranked(double value) {
    return std::fabs(value) <= 1.7976931348623157e308 ? value : HUGE_VAL;
}
/** Returns the value, or +Inf if it is not finite, in single precision. */
CUDA_OPT_SEARCH_HD inline float ranked(float value) {
    return std::fabs(value) <= 3.4028234663852886e38f ? value : HUGE_VALF;
}

/** The data that all walks have in common. Real: the type of their coordinates. */
template <class Real> struct RulesOf {
    int64_t walks;                /**< the number of walks */
    int n;                        /**< the number of coordinates */
    int halvings;                 /**< see SearchOptions */
    AtSmallestStep at_smallest;   /**< see SearchOptions */
    uint64_t seed;                /**< see SearchOptions */
    const Real *lower;            /**< n values: the lower bounds */
    const Real *upper;            /**< n values: the upper bounds */
    const Real *step;             /**< n values: Delta_0 */
    int64_t round_iterations = 0; /**< see SearchOptions */

    /** Returns whether a walk may start again from a new point. A life is the part of a walk between two random starts.
     *  The best point of all lives is kept. */
    CUDA_OPT_SEARCH_HD bool has_lives() const {
        return at_smallest == AtSmallestStep::new_point || round_iterations > 0;
    }
    /** Returns whether a new round begins after this number of iterations. All walks then start again. */
    CUDA_OPT_SEARCH_HD bool begins_round(int64_t iterations) const {
        return round_iterations > 0 && iterations > 0 && iterations % round_iterations == 0;
    }
    /** Returns coordinate j of a random point of a walk. start: the number of the point, counted from 0. */
    CUDA_OPT_SEARCH_HD Real start(int64_t walk, int64_t start, int j) const {
        const double u = uniform(seed, uint64_t(walk), uint64_t(start) * uint64_t(n) + uint64_t(j));
        const double l = double(lower[j]);
        const Real x = Real(std::fma(u, double(upper[j]) - l, l));
        return x < upper[j] ? x : upper[j];
    }
    /** Returns the trial value min(x_j + Delta_j, upper bound) with Delta = scale * Delta_0. The product is exact,
     * because scale is a power of two. A contraction to a fused multiply-add therefore does not change the result. */
    CUDA_OPT_SEARCH_HD Real above(int j, Real x_j, Real scale) const {
        const Real x = x_j + scale * step[j];
        return x < upper[j] ? x : upper[j];
    }
    /** Returns the trial value max(x_j - Delta_j, lower bound). */
    CUDA_OPT_SEARCH_HD Real below(int j, Real x_j, Real scale) const {
        const Real x = x_j - scale * step[j];
        return x > lower[j] ? x : lower[j];
    }
};

using Rules = RulesOf<double>; /**< in double precision */

/** A trial: the value of coordinate j, and f with this value. */
template <class Real> struct TrialOf {
    Real at;    /**< x_j */
    Real value; /**< f after ranked() */
};
using Trial = TrialOf<double>; /**< in double precision */

/** Returns whether the trial below x_j is better than the one above it. If both are equal, the one above is preferred.
 * A trial that the bounds leave at x_j does not count. */
template <class Real>
CUDA_OPT_SEARCH_HD bool prefers_below(Real x_j, const TrialOf<Real> &above, const TrialOf<Real> &below) {
    return above.at == x_j || (below.at != x_j && below.value < above.value);
}

/** Returns whether a trial is accepted: it differs from x_j, and its value is not worse. */
template <class Real> CUDA_OPT_SEARCH_HD bool is_taken(Real x_j, Real value, const TrialOf<Real> &trial) {
    return trial.at != x_j && trial.value <= value;
}

constexpr int ended = -1; /**< the level of a walk that has ended */

/** Returns Delta / Delta_0 = 2^-level, the ratio of the current step to the first one. */
template <class Real = double> CUDA_OPT_SEARCH_HD Real scale_of(int32_t level) { return std::ldexp(Real(1), -level); }

/** The data of one walk except its point. Doubles represent the values of a walk in single precision exactly. */
struct Walk {
    double value;       /**< f at x */
    double best;        /**< the best value before the last random start; +Inf in the first life */
    int64_t iterations; /**< the number of iterations so far */
    int32_t level;      /**< the step is Delta_0 / 2^level; or `ended` */
    int32_t starts;     /**< the number of random starts so far; 0: the walk has not begun */

    /** Returns whether the best point is that of a former life. If the values are equal, the former point counts. */
    CUDA_OPT_SEARCH_HD bool was_better() const { return best <= value && best < HUGE_VAL; }

    /** Ends an iteration: halves the step if f has not decreased.
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

/** The data of all walks. Coordinate j of walk w is at [j * walks + w]. */
template <class Real> struct WalksOf {
    Real *x;      /**< the current points, n values for each walk */
    Real *best_x; /**< the best points of former lives, n values for each walk; NULL unless rules.has_lives() */
    Walk *walk;   /**< the other data, one for each walk */

    /** Ends a life of walk w, the part between two random starts. Its last point x is stored if it is the best one so
     *  far. */
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
using Walks = WalksOf<double>; /**< in double precision */

/** Returns the reason why rounds cannot be combined with this choice at the smallest step; NULL if they can. */
inline const char *wrong_rounds(int64_t round_iterations, AtSmallestStep at_smallest) {
    const bool wrong = round_iterations > 0 && at_smallest == AtSmallestStep::stop;
    return wrong ? "with rounds a walk cannot end at its smallest step, because all walks start again together"
                 : nullptr;
}

/** Returns the reason why a variable cannot have these bounds and this step; NULL if it can. */
inline const char *wrong_bounds(double lower, double upper, double step) {
    const auto is_finite = [](double v) { return v - v == 0; };
    if (!is_finite(lower) || !is_finite(upper))
        return "the bounds have to be finite: the walks start anywhere between them";
    if (lower > upper) return "the lower bound must not exceed the upper one";
    if (!is_finite(upper - lower)) return "their distance has to be a finite number";
    if (!is_finite(step) || step < 0 || (step == 0 && lower < upper)) return "the step has to be positive and finite";
    return nullptr;
}

constexpr uint64_t no_key = ~uint64_t(0); /**< larger than the key of any value */

/** Returns an integer key. Keys have the same order as the values, which must not be NaN. */
CUDA_OPT_SEARCH_HD inline uint64_t key_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}
/** Returns the value of a key. For no_key it is NaN, which a minimum ignores. */
CUDA_OPT_SEARCH_HD inline double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~(uint64_t(1) << 63) : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/** Records the best value after each iteration. */
struct Note {
    uint64_t *least; /**< one key for each iteration, beginning with the start; or NULL */

    /** Record the best value of a walk after an iteration. */
    CUDA_OPT_SEARCH_HD void operator()(int64_t iteration, double best) const {
        if (!least) return;
        const uint64_t key = key_of(best);
#ifdef __CUDA_ARCH__
        using Atomic = unsigned long long;
        if (key < *reinterpret_cast<volatile Atomic *>(
                      least + iteration)) // most walks are not the best and skip the atomic operation
            atomicMin(reinterpret_cast<Atomic *>(least + iteration), Atomic(key));
#else
        least[iteration] = key < least[iteration] ? key : least[iteration];
#endif
    }
};

} // namespace pattern
} // namespace cudaopt
#endif
