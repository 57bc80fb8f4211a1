/* This header performs one iteration of one walk of the pattern search, for host and device. A functor computes the
 * objective. A walk is one of many independent searches. A trial is a change of one coordinate of the walk's point.
 * Polling a coordinate means to evaluate the objective at two trials, one above and one below the coordinate. The
 * better trial is accepted if it is not worse than the point. This header is a part of cuda_opt/search.cuh, which
 * documents the members of an objective. */
#ifndef CUDA_OPT_SEARCH_POLL_CUH
#define CUDA_OPT_SEARCH_POLL_CUH

#include "search_walks.cuh"

namespace cudaopt {
namespace pattern {

/** The point of a walk, stored in the array that contains the points of all walks. */
template <class T> struct StridedPointOf {
    using Real = T; /**< The type of a coordinate. */
    T *first;       /**< The address of coordinate 0. */
    int64_t stride; /**< The distance between coordinates j and j + 1, in elements. */
    /** Returns coordinate j of the point. */
    CUDA_OPT_SEARCH_HD T operator[](int j) const { return first[j * stride]; }
    /** Sets coordinate j of the point. */
    CUDA_OPT_SEARCH_HD void set(int j, T x_j) { first[j * stride] = x_j; }
};
using StridedPoint = StridedPointOf<double>; /**< A strided point in double precision. */

/** The point of a walk, stored in a local array of the thread. On a GPU this array is in registers or local memory. */
template <int N, class T> struct LocalPoint {
    using Real = T; /**< The type of a coordinate. */
    T x[N];         /**< the coordinates */
    /** Returns coordinate j of the point. */
    CUDA_OPT_SEARCH_HD T operator[](int j) const { return x[j]; }
    /** Sets coordinate j of the point. */
    CUDA_OPT_SEARCH_HD void set(int j, T x_j) { x[j] = x_j; }
};

/** A trial point, which differs from the point x in one coordinate. x itself is not changed, so that the two trials of
 *  a coordinate can share the loads of x. */
template <class Point> struct Polled {
    using Real = typename Point::Real; /**< The type of a coordinate. */
    const Point &x;                    /**< the point */
    int moved;                         /**< The index of the coordinate in which the trial point differs. */
    Real at;                           /**< its value */
    /** Returns coordinate j of the trial point. */
    CUDA_OPT_SEARCH_HD Real operator[](int j) const { return j == moved ? at : x[j]; }
};

/** Returns whether all S values are finite. */
template <class Real, int S> CUDA_OPT_SEARCH_HD bool finite(const Real (&v)[S]) {
    bool all = true;
    for (int s = 0; s < S; s++) all = all && v[s] - v[s] == 0;
    return all;
}

/** The kinds of objectives. `evaluation`: only a full evaluation is available. `sums`: the objective depends on sums
 *  over the coordinates. `reach`: the objective is a sum of terms of neighbouring coordinates. */
enum class Offers { evaluation, sums, reach };

template <class Objective, int = Objective::sums> constexpr Offers offers(int) { return Offers::sums; }
template <class Objective, int = Objective::reach> constexpr Offers offers(long) { return Offers::reach; }
template <class Objective> constexpr Offers offers(...) { return Offers::evaluation; }

/** Computes the values of the objective at trials. This general version uses full evaluations. */
template <class Objective, class Real, Offers = offers<Objective>(0)> struct Tally {
    using Trial = TrialOf<Real>; /**< The coordinate and the value of a trial. */

    /** Returns f at the start x of a walk. */
    template <class Point> CUDA_OPT_SEARCH_HD Real evaluate(const Objective &f, const Point &x, int n) {
        return ranked(Real(f(x, n)));
    }
    /** Prepares an iteration: computes the data that is stored in addition to f. Full evaluations need no such data. */
    template <class Point> CUDA_OPT_SEARCH_HD void resume(const Objective &, const Point &, int) {}
    /** Prepares the trials of coordinate j. Full evaluations need no preparation. */
    template <class Point> CUDA_OPT_SEARCH_HD void leave(const Objective &, const Point &, int, int, Real) {}
    /** Evaluates a trial. Returns the trial value `at` of coordinate j, and f with this value. */
    template <class Point>
    CUDA_OPT_SEARCH_HD Trial trial(const Objective &f, const Point &x, int j, int n, Real at) const {
        return {at, ranked(Real(f(Polled<Point>{x, j, at}, n)))};
    }
    /** This function is called after a trial was accepted, with the new point x. Full evaluations have no data to
     *  update. */
    template <class Point> CUDA_OPT_SEARCH_HD void take(const Objective &, const Point &, int, const Trial &) {}
    /** This function is called after the trials of coordinate j. Full evaluations have no data to update. */
    template <class Point> CUDA_OPT_SEARCH_HD void pass(const Objective &, const Point &, int, int) {}
    /** This function is called after an iteration. It returns f as a full evaluation computes it. */
    template <class Point> CUDA_OPT_SEARCH_HD Real close(const Objective &, const Point &, int, Real value) {
        return value;
    }
};

/** Computes the values of an objective that depends on S sums over the coordinates. A trial changes one term of each
 *  sum. During an iteration, new sums are accumulated from the final terms of each coordinate. At the end of the
 *  iteration the new sums replace the updated ones, so that rounding errors do not grow over the iterations. */
template <class Objective, class Real> struct Tally<Objective, Real, Offers::sums> {
    static constexpr int S = Objective::sums; /**< The number of sums on which the objective depends. */
    Real sum[S] = {},                         /**< The sums over all coordinates. */
        rest[S],                              /**< The sums over all coordinates except j, the polled one. */
        own[S],                               /**< The terms of coordinate j, the polled one. */
        fresh[S] = {};                        /**< The sums of the final terms of the coordinates before j. */

    struct Trial { // A trial value of a coordinate, f with this value, and the terms of the coordinate.
        Real at, value;
        Real terms[S];
    };

    template <class Point>
    CUDA_OPT_SEARCH_HD void add_all(const Objective &f, const Point &x, int n, Real (&to)[S]) const {
        for (int s = 0; s < S; s++) to[s] = 0;
#ifdef __CUDA_ARCH__
// The loop is not unrolled, so that registers and the instruction cache remain free for the loops below.
#pragma unroll 1
#endif
        for (int j = 0; j < n; j++) {
            Real t[S];
            f.terms(j, x[j], n, t);
            for (int s = 0; s < S; s++) to[s] += t[s];
        }
    }
    template <class Point> CUDA_OPT_SEARCH_HD Real evaluate(const Objective &f, const Point &x, int n) {
        add_all(f, x, n, sum);
        return ranked(Real(f.combine(sum, n)));
    }
    template <class Point> CUDA_OPT_SEARCH_HD void resume(const Objective &f, const Point &x, int n) {
        add_all(f, x, n, sum);
    }
    template <class Point> CUDA_OPT_SEARCH_HD void leave(const Objective &f, const Point &x, int j, int n, Real) {
        f.terms(j, x[j], n, own);
        for (int s = 0; s < S; s++) rest[s] = sum[s] - own[s];
    }
    template <class Point>
    CUDA_OPT_SEARCH_HD Trial trial(const Objective &f, const Point &x, int j, int n, Real at) const {
        Trial t;
        Real moved[S];
        t.at = at;
        f.terms(j, at, n, t.terms);
        add_to_rest(f, Polled<Point>{x, j, at}, n, t.terms, moved);
        t.value = ranked(Real(f.combine(moved, n)));
        return t;
    }
    /** Computes the sums at x from `rest` and from t, the terms of the coordinate that is being polled. */
    template <class Point>
    CUDA_OPT_SEARCH_HD void add_to_rest(const Objective &f, const Point &x, int n, const Real (&t)[S],
                                        Real (&to)[S]) const {
        if (finite(rest))
            for (int s = 0; s < S; s++) to[s] = rest[s] + t[s];
        else // A sum that is not finite cannot be updated, so all terms are added again.
            add_all(f, x, n, to);
    }
    template <class Point> CUDA_OPT_SEARCH_HD void take(const Objective &f, const Point &x, int n, const Trial &t) {
        for (int s = 0; s < S; s++) own[s] = t.terms[s];
        add_to_rest(f, x, n, own, sum);
    }
    template <class Point> CUDA_OPT_SEARCH_HD void pass(const Objective &, const Point &, int, int) {
        for (int s = 0; s < S; s++) fresh[s] += own[s];
    }
    template <class Point> CUDA_OPT_SEARCH_HD Real close(const Objective &f, const Point &, int n, Real) {
        for (int s = 0; s < S; s++) {
            sum[s] = fresh[s];
            fresh[s] = 0;
        }
        return ranked(Real(f.combine(sum, n)));
    }
};

/** Computes the values of an objective that is a sum of terms of neighbouring coordinates. A trial of coordinate j
 *  evaluates only the terms that depend on coordinate j. A term is final when all coordinates on which it depends have
 *  been polled. The final terms are accumulated, and their sum is the value at the end of the iteration. */
template <class Objective, class Real> struct Tally<Objective, Real, Offers::reach> {
    using Trial = TrialOf<Real>;
    static constexpr int R = Objective::reach; /**< Term j depends on the coordinates from j - R to j + R. */
    Real rest,                                 /**< The value of f without the terms that depend on coordinate j. */
        fresh = 0;                             /**< The sum of the final terms. */

    template <class Point>
    CUDA_OPT_SEARCH_HD Real sum_of(const Objective &f, const Point &x, int first, int last, int n) const {
        Real sum = 0;
        for (int i = first < 0 ? 0 : first; i <= last && i < n; i++) sum += f.term(x, i, n);
        return sum;
    }
    template <class Point> CUDA_OPT_SEARCH_HD Real evaluate(const Objective &f, const Point &x, int n) {
        return ranked(sum_of(f, x, 0, n - 1, n));
    }
    template <class Point> CUDA_OPT_SEARCH_HD void resume(const Objective &, const Point &, int) {}
    template <class Point> CUDA_OPT_SEARCH_HD void leave(const Objective &f, const Point &x, int j, int n, Real value) {
        rest = value - sum_of(f, x, j - R, j + R, n);
    }
    template <class Point>
    CUDA_OPT_SEARCH_HD Trial trial(const Objective &f, const Point &x, int j, int n, Real at) const {
        const Polled<Point> moved{x, j, at};
        return {at,
                ranked(rest - rest == 0 ? rest + sum_of(f, moved, j - R, j + R, n) : sum_of(f, moved, 0, n - 1, n))};
    }
    template <class Point> CUDA_OPT_SEARCH_HD void take(const Objective &, const Point &, int, const Trial &) {}
    template <class Point> CUDA_OPT_SEARCH_HD void pass(const Objective &f, const Point &x, int j, int n) {
        if (j >= R) fresh += f.term(x, j - R, n);
    }
    template <class Point> CUDA_OPT_SEARCH_HD Real close(const Objective &f, const Point &x, int n, Real) {
        for (int j = n < R ? 0 : n - R; j < n; j++) fresh += f.term(x, j, n);
        const Real value = fresh;
        fresh = 0;
        return ranked(value);
    }
};

/** Performs one iteration of a walk by one thread, which polls the coordinates one after another. */
struct PollInTurn {
    /** Synchronises the threads of a walk. One thread needs no synchronisation. */
    CUDA_OPT_SEARCH_HD void together() const {}
    /** Performs the iteration.
     *  @return whether f has decreased */
    template <class Objective, class Point, class Real>
    CUDA_OPT_SEARCH_HD bool operator()(Tally<Objective, Real> &tally, const Objective &f, const RulesOf<Real> &rules,
                                       Real scale, int n, Point &x, Real &value) const {
        bool improved = false;
        for (int j = 0; j < n; j++) {
            const Real x_j = x[j];
            tally.leave(f, x, j, n, value);
            const auto above = tally.trial(f, x, j, n, rules.above(j, x_j, scale));
            const auto below = tally.trial(f, x, j, n, rules.below(j, x_j, scale));
            const auto &best =
                prefers_below<Real>(x_j, {above.at, above.value}, {below.at, below.value}) ? below : above;
            if (is_taken<Real>(x_j, value, {best.at, best.value})) {
                improved = improved || best.value < value;
                value = best.value;
                x.set(j, best.at);
                tally.take(f, x, n, best);
            }
            tally.pass(f, x, j, n);
        }
        value = tally.close(f, x, n, value);
        return improved;
    }
};

/** Advances walk w by several iterations. If the walk has not begun, its start is evaluated first.
 *  @param poll  computes one iteration
 *  @param f     the objective
 *  @param x     the point of the walk, which is updated; it is not initialised if the walk has not begun
 *  @param note  called after each iteration with its number and the best value so far; the start has the number 0 */
template <class Poll, class Objective, class Real, class Point, class Note>
CUDA_OPT_SEARCH_HD void advance_at(const Poll &poll, const Objective &f, const RulesOf<Real> &rules,
                                   const WalksOf<Real> &walks, int64_t w, int n, Point &x, int64_t iterations,
                                   const Note &note) {
    Walk it = walks.walk[w];
    poll.together(); // Here all threads of the walk have read its data, which end_life() and the last line overwrite.
    Tally<Objective, Real> tally;
    const auto begin_life = [&] {
        poll.together();
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
        for (int j = 0; j < n; j++) x.set(j, rules.start(w, it.starts, j));
        it.starts++;
        it.value = double(tally.evaluate(f, x, n));
    };
    if (it.starts == 0) {
        begin_life();
        note(it.iterations, it.value);
    } else {
        tally.resume(f, x, n);
    }
    Real scale = scale_of<Real>(it.level);
    for (int64_t k = 0; k < iterations && it.level != ended; k++) {
        if (rules.begins_round(it.iterations)) {
            walks.end_life(rules, w, it, x);
            begin_life();
            scale = scale_of<Real>(it.level);
        }
        Real value = Real(it.value);
        const bool improved = poll(tally, f, rules, scale, n, x, value);
        it.value = double(value);
        const double best = it.best < it.value ? it.best : it.value;
        const int32_t level = it.level;
        const bool again = it.after_iteration(rules, improved);
        note(it.iterations, best);
        if (it.level != level) scale = scale_of<Real>(it.level);
        if (!again) continue;
        walks.end_life(rules, w, it, x);
        begin_life();
    }
    walks.walk[w] = it;
}

/** Advances a walk by one thread. If n is a compile-time constant, N is n, and the point is stored in a local array
 *  during the call. Otherwise N is 0, and the point is updated in the array of all walks. */
template <int N, class Objective, class Real, class Note>
CUDA_OPT_SEARCH_HD void advance(const Objective &f, const RulesOf<Real> &rules, const WalksOf<Real> &walks, int64_t w,
                                int64_t iterations, const Note &note) {
    if (walks.walk[w].level == ended) return;
    StridedPointOf<Real> all{walks.x + w, rules.walks};
    if constexpr (N > 0) {
        LocalPoint<N, Real> x{};
        if (walks.walk[w].starts > 0)
            for (int j = 0; j < N; j++) x.set(j, all[j]);
        advance_at(PollInTurn(), f, rules, walks, w, N, x, iterations, note);
        for (int j = 0; j < N; j++) all.set(j, x[j]);
    } else {
        advance_at(PollInTurn(), f, rules, walks, w, rules.n, all, iterations, note);
    }
}

} // namespace pattern
} // namespace cudaopt
#endif
