// Whole solves of small problems around a functor, for host and device. Data<Real>: count problems, count rows x, their
// bounds, and end(p, results, code).
#pragma once

#include <type_traits>

#include "batch/small_problem.hpp"

namespace cudaopt::batch {

// With one number as metric a problem's size is known to its state, and whether there are bounds.
template <int n, int m, int64_t metric, class History, bool bounds, bool keeps_search = false>
using ShapeIn = std::conditional_t<metric == Metric::one_number, FixedShape<n, m, History, bounds, keeps_search>,
                                   MetricShape<n, m, History>>;

// Where no one waits for others before an evaluation.
struct NoMeeting {
    CUDA_OPT_HD void operator()() const {}
};

// Problem after problem, as take() gives them, until it gives none: one loop, so that the threads of a warp, each with
// a problem of its own, meet in it whatever their problems are at. settings: for_small_problems().
#ifdef __CUDACC__
#pragma nv_exec_check_disable // take() of a host is called on a host alone
#endif
template <class Shape, int64_t metric, template <class> class Data, class Real, class Team, class Functor, class Take,
          class Meet = NoMeeting>
CUDA_OPT_HD_INLINE void solve_in_turn(const Team &team, const Functor &functor, const Data<Real> &data,
                                      const Settings &settings, const Working &working, unsigned char *vectors,
                                      const Take &take, const Meet &meet = {}) {
    constexpr int n = Shape::n;
    for (int64_t p = -1;;) {
        meet();
        const bool starts = p < 0;
        if (starts && (p = take()) >= data.count) return;
        Real *const row = data.x + p * n;
        SmallProblem<Real, Team, Shape> problem(team, {}, working, reinterpret_cast<Real *>(vectors),
                                                data.bounds.of(p, n));
        bool evaluates = !starts;
        if (starts) {
            problem.begin();
            if (team.lane() == 0) problem.set(settings);
            for (int i = team.lane(); i < n; i += Team::width) problem.x()[i] = row[i];
            team.sync();
            evaluates = problem.start();
            team.sync();
        }
        if (threads_meet(evaluates)) { // those that start, and the others
            const double f = functor(team, p, static_cast<const Real *>(problem.x()), problem.g());
            if (team.lane() == 0) problem.f() = f;
        }
        team.sync();
        const auto supply = [&](Real *h) {
            if constexpr (metric == Metric::callers)
                functor.diagonal(team, p, static_cast<const Real *>(problem.x()), h);
        };
        const int task = problem.run(Order::go_on, 0, supply);
        if (task > 0) continue;
        for (int i = team.lane(); i < n; i += Team::width) row[i] = problem.x()[i];
        if (team.lane() == 0) data.end(p, problem.state().results, task);
        team.sync();
        p = -1;
    }
}

} // namespace cudaopt::batch
