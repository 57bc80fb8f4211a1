// Solves small problems completely, with f given by a functor, on host and device. Data<Real> contains `count`
// problems: their rows x and bounds, and a function end(p, results, code) that stores the result of problem p.
#pragma once

#include <type_traits>

#include "batch/next_trial.hpp"

namespace cudaopt::batch {

template <int n, int m, int64_t metric, class History, bool bounds>
using ShapeIn = FixedShape<n, m, History, bounds || metric != Metric::one_number, metric != Metric::one_number>;

// Replaces the synchronisation before each evaluation for teams that do not need one.
struct NoSync {
    CUDA_OPT_HD void operator()() const {}
};

// Solves the problems that take() returns, one after the other, until it returns none. A single loop runs over all
// steps of all problems, so that threads with a problem each reconverge. settings: from for_small_problems().
//
// The pragma disables a warning of nvcc. This function can run on host and device, but one of the functions that are
// passed as `take` can run on the host only. The instance that calls it is used on the host only.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Shape, int64_t metric, template <class> class Data, class Real, class Team, class Functor, class Take,
          class Sync = NoSync>
CUDA_OPT_HD_INLINE void solve_in_turn(const Team &team, const Functor &functor, const Data<Real> &data,
                                      const Settings &settings, const Workspace &workspace, unsigned char *vectors,
                                      const Take &take, const Sync &sync = {}) {
    constexpr int n = Shape::n;
    for (int64_t p = -1;;) {
        sync();
        const bool starts = p < 0;
        if (starts && (p = take()) >= data.count) return;
        Real *const row = data.x + p * n;
        SmallProblem<Real, Team, Shape> problem(team, {}, settings, workspace, reinterpret_cast<Real *>(vectors),
                                                data.bounds.of(p, n));
        int task = CUDA_OPT_EVALUATE_FG;
        if (starts) {
            problem.begin();
            for (int i = team.lane(); i < n; i += Team::width) problem.x()[i] = row[i];
            team.sync();
            task = problem.start();
        }
        if (opaque_value(task) > 0) { // false for threads whose problem has ended at its start; they wait
            const double f = functor(team, p, static_cast<const Real *>(problem.x()), problem.g());
            if (team.lane() == 0) problem.f() = f;
            team.sync();
            const auto supply = [&](Real *h) {
                if constexpr (metric == Metric::callers)
                    functor.diagonal(team, p, static_cast<const Real *>(problem.x()), h);
            };
            task = problem.next_trial(0, supply);
        }
        if (task > 0) continue;
        for (int i = team.lane(); i < n; i += Team::width) row[i] = problem.x()[i];
        if (team.lane() == 0) data.end(p, problem.results(), task);
        team.sync();
        p = -1;
    }
}

} // namespace cudaopt::batch
