/* One iteration of one walk of the multi-walk pattern search, with the objective as a functor, for host and device
 * alike. A part of cuda_opt/search.cuh, which says what an objective is. */
#ifndef CUDA_OPT_SEARCH_POLL_CUH
#define CUDA_OPT_SEARCH_POLL_CUH

#include "search_walks.cuh"

namespace cudaopt {
namespace pattern {

/** A walk's point, where it lies among all walks'. */
template <class T> struct StridedPointOf {
    using Real = T; /**< of a coordinate */
    T *first;       /**< coordinate 0 */
    int64_t stride; /**< from one coordinate to the next */
    /** Coordinate j. */
    CUDA_OPT_SEARCH_HD T operator[](int j) const { return first[j * stride]; }
    /** Move coordinate j. */
    CUDA_OPT_SEARCH_HD void set(int j, T x_j) { first[j * stride] = x_j; }
};
using StridedPoint = StridedPointOf<double>; /**< in double precision */

/** A walk's point in the thread's own memory: on a GPU in registers or in the first-level cache. */
template <int N, class T> struct LocalPoint {
    using Real = T; /**< of a coordinate */
    T x[N];         /**< the coordinates */
    /** Coordinate j. */
    CUDA_OPT_SEARCH_HD T operator[](int j) const { return x[j]; }
    /** Move coordinate j. */
    CUDA_OPT_SEARCH_HD void set(int j, T x_j) { x[j] = x_j; }
};

/** A point but for its coordinate `moved`: nothing is written, so that the trials on both sides share their loads. */
template <class Point> struct Polled {
    using Real = typename Point::Real; /**< of a coordinate */
    const Point &x;                    /**< the point */
    int moved;                         /**< the coordinate */
    Real at;                           /**< its value */
    /** Coordinate j. */
    CUDA_OPT_SEARCH_HD Real operator[](int j) const { return j == moved ? at : x[j]; }
};

/** Whether all values are neither NaN nor Inf. */
template <class Real, int S> CUDA_OPT_SEARCH_HD bool finite(const Real (&v)[S]) {
    bool all = true;
    for (int s = 0; s < S; s++) all = all && v[s] - v[s] == 0;
    return all;
}

/** What an objective offers. */
enum class Offers { evaluation, sums, reach };

template <class Objective, int = Objective::sums> constexpr Offers offers(int) { return Offers::sums; }
template <class Objective, int = Objective::reach> constexpr Offers offers(long) { return Offers::reach; }
template <class Objective> constexpr Offers offers(...) { return Offers::evaluation; }

/** How the value of a trial is found: by a full evaluation. */
template <class Objective, class Real, Offers = offers<Objective>(0)> struct Tally {
    using Trial = TrialOf<Real>; /**< what is to be known of a trial */

    /** f at x: the start of a walk. */
    template <class Point> CUDA_OPT_SEARCH_HD Real evaluate(const Objective &f, const Point &x, int n) {
        return ranked(Real(f(x, n)));
    }
    /** A walk goes on with an iteration: build what is kept besides f. */
    template <class Point> CUDA_OPT_SEARCH_HD void resume(const Objective &, const Point &, int) {}
    /** The trials of coordinate j follow. */
    template <class Point> CUDA_OPT_SEARCH_HD void leave(const Objective &, const Point &, int, int, Real) {}
    /** f with coordinate j at another place. */
    template <class Point>
    CUDA_OPT_SEARCH_HD Trial trial(const Objective &f, const Point &x, int j, int n, Real at) const {
        return {at, ranked(Real(f(Polled<Point>{x, j, at}, n)))};
    }
    /** The trial has been taken: x is there. */
    template <class Point> CUDA_OPT_SEARCH_HD void take(const Objective &, const Point &, int, const Trial &) {}
    /** Coordinate j is done with. */
    template <class Point> CUDA_OPT_SEARCH_HD void pass(const Objective &, const Point &, int, int) {}
    /** The iteration is over: f by a full evaluation. */
    template <class Point> CUDA_OPT_SEARCH_HD Real close(const Objective &, const Point &, int, Real value) {
        return value;
    }
};

/** By sums over the coordinates. Those of the iteration's end gather from the terms that each coordinate is left with:
 *  building them anew costs additions alone. */
template <class Objective, class Real> struct Tally<Objective, Real, Offers::sums> {
    static constexpr int S = Objective::sums;         /**< how many sums */
    Real sum[S] = {}, rest[S], own[S], fresh[S] = {}; /**< all; without coordinate j; j's; those before j */

    struct Trial { // as above, with its terms
        Real at, value;
        Real terms[S];
    };

    template <class Point>
    CUDA_OPT_SEARCH_HD void add_all(const Objective &f, const Point &x, int n, Real (&to)[S]) const {
        for (int s = 0; s < S; s++) to[s] = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1 // the polls below want the registers and the instruction cache
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
    /** The sums at x, of which t are the terms of the coordinate that is being polled. */
    template <class Point>
    CUDA_OPT_SEARCH_HD void add_to_rest(const Objective &f, const Point &x, int n, const Real (&t)[S],
                                        Real (&to)[S]) const {
        if (finite(rest))
            for (int s = 0; s < S; s++) to[s] = rest[s] + t[s];
        else // nothing can be taken out of such a sum
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

/** By the terms that see coordinate j. A term is final, and goes into the sum of the iteration's end, when the last
 *  coordinate that it sees is done with. */
template <class Objective, class Real> struct Tally<Objective, Real, Offers::reach> {
    using Trial = TrialOf<Real>;
    static constexpr int R = Objective::reach; /**< how far a term sees */
    Real rest, fresh = 0;                      /**< f without the terms that see j; the sum of the final terms */

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

/** One iteration of a walk: poll each coordinate on both sides, one after another. */
struct PollInTurn {
    /** The threads of the walk wait for each other: there is one. */
    CUDA_OPT_SEARCH_HD void together() const {}
    /** @return whether f fell */
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

/** Further iterations of walk number w, after its start where it has none.
 *  @param poll  one iteration
 *  @param f     the objective
 *  @param x     where the walk's point is while it goes; it holds the point unless the walk has not begun
 *  @param note  called with the number of each iteration, from 0 for the start, and the best value after it */
template <class Poll, class Objective, class Real, class Point, class Note>
CUDA_OPT_SEARCH_HD void advance_at(const Poll &poll, const Objective &f, const RulesOf<Real> &rules,
                                   const WalksOf<Real> &walks, int64_t w, int n, Point &x, int64_t iterations,
                                   const Note &note) {
    Walk it = walks.walk[w];
    poll.together(); // all have read it
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

/** As advance_at() by one thread, on its own memory; N: n where the compiler is to know it, else 0. */
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
