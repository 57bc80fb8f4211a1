/* The walks of the multi-walk pattern search: what one of them is, draws, tries and takes, for host and device alike.
 * cuda_opt/search.cuh and the library's cuda_opt_search_solve() stand on it; programs include the former. */
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

/** What a walk does when its step has become the smallest, steps / 2^halvings. */
enum class AtSmallestStep {
    restart_step, /**< take the first step again, from where it is (Zhu and Curry 2009) */
    stop,         /**< end */
    new_point     /**< start again from a new random point; its best is kept */
};

/** How a search stands. */
struct SearchSummary {
    double value = std::numeric_limits<double>::infinity(); /**< the best so far; +Inf where none was finite */
    int64_t walk = std::numeric_limits<int64_t>::max();     /**< whose it is: of equal ones the lowest number */
    int64_t evaluations = 0;                                /**< starts and trial points, all walks together */
    int64_t active = 0;                                     /**< walks that have not ended */

    /** This summary of some walks and that of others, together. */
    CUDA_OPT_SEARCH_HD void join(const SearchSummary &other) {
        if (other.value < value || (other.value == value && other.walk < walk)) {
            value = other.value;
            walk = other.walk;
        }
        evaluations += other.evaluations;
        active += other.active;
    }
};

/** The parts of the method, which the library's own search shares. */
namespace pattern {

/** Four words, the counter and the result of Philox. */
struct Words {
    uint32_t at[4]; /**< the words */
};

/** Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11, 2011). cuRAND has it in its own order of draws and on devices
 *  alone; a walk needs a number by its place, the same on both. */
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

/** A multiple of 2^-53 in [0, 1): a function of its three arguments alone. */
CUDA_OPT_SEARCH_HD inline double uniform(uint64_t seed, uint64_t walk, uint64_t draw) {
    const Words bits = philox({{uint32_t(draw), uint32_t(draw >> 32), uint32_t(walk), uint32_t(walk >> 32)}},
                              uint32_t(seed), uint32_t(seed >> 32));
    return double((uint64_t(bits.at[1]) << 32 | bits.at[0]) >> 11) * 0x1p-53;
}

/** A value, or +Inf in place of one that is worse than any other. */
CUDA_OPT_SEARCH_HD inline double ranked(double value) {
    return std::fabs(value) <= 1.7976931348623157e308 ? value : HUGE_VAL;
}
/** As above. */
CUDA_OPT_SEARCH_HD inline float ranked(float value) {
    return std::fabs(value) <= 3.4028234663852886e38f ? value : HUGE_VALF;
}

/** What all walks have in common; Real: of their coordinates. */
template <class Real> struct RulesOf {
    int64_t walks;                /**< how many */
    int n;                        /**< coordinates */
    int halvings;                 /**< see SearchOptions */
    AtSmallestStep at_smallest;   /**< see SearchOptions */
    uint64_t seed;                /**< see SearchOptions */
    const Real *lower;            /**< n values: the box from below */
    const Real *upper;            /**< n values: and from above */
    const Real *step;             /**< n values: Delta_0 */
    int64_t round_iterations = 0; /**< see SearchOptions */

    /** Whether a walk may have more lives than one, of which the best is kept. */
    CUDA_OPT_SEARCH_HD bool has_lives() const {
        return at_smallest == AtSmallestStep::new_point || round_iterations > 0;
    }
    /** Whether a round follows another after so many iterations: all walks start again before the next one. */
    CUDA_OPT_SEARCH_HD bool begins_round(int64_t iterations) const {
        return round_iterations > 0 && iterations > 0 && iterations % round_iterations == 0;
    }
    /** Coordinate j of a walk's start number `start`, from 0. */
    CUDA_OPT_SEARCH_HD Real start(int64_t walk, int64_t start, int j) const {
        const double u = uniform(seed, uint64_t(walk), uint64_t(start) * uint64_t(n) + uint64_t(j));
        const double l = double(lower[j]);
        const Real x = Real(std::fma(u, double(upper[j]) - l, l));
        return x < upper[j] ? x : upper[j];
    }
    /** x_j + Delta_j in the box, Delta = scale Delta_0. The product is exact, as scale is a power of two: contracted or
     *  not, the bits are the same. */
    CUDA_OPT_SEARCH_HD Real above(int j, Real x_j, Real scale) const {
        const Real x = x_j + scale * step[j];
        return x < upper[j] ? x : upper[j];
    }
    /** x_j - Delta_j in the box. */
    CUDA_OPT_SEARCH_HD Real below(int j, Real x_j, Real scale) const {
        const Real x = x_j - scale * step[j];
        return x > lower[j] ? x : lower[j];
    }
};

using Rules = RulesOf<double>; /**< in double precision */

/** A trial: coordinate j's value and f there. */
template <class Real> struct TrialOf {
    Real at;    /**< x_j */
    Real value; /**< f, ranked() */
};
using Trial = TrialOf<double>; /**< in double precision */

/** Whether the trial below is the one to consider: the better one, of equal ones that above. A trial that the box left
 *  at x_j is none. */
template <class Real>
CUDA_OPT_SEARCH_HD bool prefers_below(Real x_j, const TrialOf<Real> &above, const TrialOf<Real> &below) {
    return above.at == x_j || (below.at != x_j && below.value < above.value);
}

/** Whether a trial is taken: it is not worse. */
template <class Real> CUDA_OPT_SEARCH_HD bool is_taken(Real x_j, Real value, const TrialOf<Real> &trial) {
    return trial.at != x_j && trial.value <= value;
}

constexpr int ended = -1; /**< in place of a level: the walk takes no further part */

/** Delta / Delta_0 at a level. */
template <class Real = double> CUDA_OPT_SEARCH_HD Real scale_of(int32_t level) { return std::ldexp(Real(1), -level); }

/** One walk's numbers; those of a walk in single precision are held exactly. */
struct Walk {
    double value;       /**< f at x */
    double best;        /**< the best of its former lives; +Inf: this is the first */
    int64_t iterations; /**< done */
    int32_t level;      /**< Delta = Delta_0 / 2^level; or `ended` */
    int32_t starts;     /**< random points taken; 0: not begun */

    /** Whether its best point is one of a former life; of equal ones the first. */
    CUDA_OPT_SEARCH_HD bool was_better() const { return best <= value && best < HUGE_VAL; }

    /** An iteration is over: halve the step where nothing improved.
     *  @return whether the walk has to start again, from a new point */
    template <class Real> CUDA_OPT_SEARCH_HD bool after_iteration(const RulesOf<Real> &rules, bool improved) {
        iterations++;
        if (improved || ++level < rules.halvings) return false;
        level = rules.at_smallest == AtSmallestStep::stop ? ended : 0;
        return rules.at_smallest == AtSmallestStep::new_point;
    }
};

/** A walk before its start. */
CUDA_OPT_SEARCH_HD inline Walk not_begun() { return {HUGE_VAL, HUGE_VAL, 0, 0, 0}; }

/** All walks: coordinate j of walk w lies at [j * walks + w]. */
template <class Real> struct WalksOf {
    Real *x;      /**< n values each */
    Real *best_x; /**< n values each, of former lives; NULL unless rules.has_lives() */
    Walk *walk;   /**< the walks' numbers */

    /** A life of walk w ends where it is, at x: its point is kept if it is the best one so far. */
    template <class Point>
    CUDA_OPT_SEARCH_HD void end_life(const RulesOf<Real> &rules, int64_t w, Walk &it, const Point &x) const {
        it.level = 0;
        if (!(it.value < it.best)) return;
        it.best = it.value;
        for (int j = 0; j < rules.n; j++) best_x[j * rules.walks + w] = x[j];
    }

    /** A walk's share of the summary. */
    CUDA_OPT_SEARCH_HD SearchSummary summary(const RulesOf<Real> &rules, int64_t w) const {
        const Walk &it = walk[w];
        const double best = it.best < it.value ? it.best : it.value;
        return {best, w, it.starts + 2 * it.iterations * rules.n, it.level == ended ? 0 : 1};
    }
    /** Where the best point of a walk lies: its first coordinate. */
    CUDA_OPT_SEARCH_HD const Real *best_of(int64_t w) const { return (walk[w].was_better() ? best_x : x) + w; }
};
using Walks = WalksOf<double>; /**< in double precision */

/** Why a walk cannot do this at its smallest step; NULL: it can. */
inline const char *wrong_rounds(int64_t round_iterations, AtSmallestStep at_smallest) {
    const bool wrong = round_iterations > 0 && at_smallest == AtSmallestStep::stop;
    return wrong ? "in rounds all walks go on together: none of them can end at its smallest step" : nullptr;
}

/** Why a variable cannot be searched for between these bounds with this step; NULL: it can. */
inline const char *wrong_bounds(double lower, double upper, double step) {
    const auto is_finite = [](double v) { return v - v == 0; };
    if (!is_finite(lower) || !is_finite(upper))
        return "the bounds have to be finite: the walks start anywhere between them";
    if (lower > upper) return "the lower bound must not exceed the upper one";
    if (!is_finite(upper - lower)) return "their distance has to be a finite number";
    if (!is_finite(step) || step < 0 || (step == 0 && lower < upper)) return "the step has to be positive and finite";
    return nullptr;
}

constexpr uint64_t no_key = ~uint64_t(0); /**< above the key of any value */

/** An integer that orders as the value does, which is not NaN. */
CUDA_OPT_SEARCH_HD inline uint64_t key_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}
/** The value of a key; NaN, which no minimum takes, for no_key. */
CUDA_OPT_SEARCH_HD inline double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~(uint64_t(1) << 63) : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/** Keeps the best value after each iteration. */
struct Note {
    uint64_t *least; /**< a key for each iteration, the start's first; or NULL */

    /** A walk's best after an iteration. */
    CUDA_OPT_SEARCH_HD void operator()(int64_t iteration, double best) const {
        if (!least) return;
        const uint64_t key = key_of(best);
#ifdef __CUDA_ARCH__
        using Atomic = unsigned long long;
        if (key < *reinterpret_cast<volatile Atomic *>(least + iteration)) // most walks are not the best
            atomicMin(reinterpret_cast<Atomic *>(least + iteration), Atomic(key));
#else
        least[iteration] = key < least[iteration] ? key : least[iteration];
#endif
    }
};

} // namespace pattern
} // namespace cudaopt
#endif
