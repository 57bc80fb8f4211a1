#include "noise.hpp"

#include <algorithm>
#include <cstdio>
#include <random>

#include "bench/solver/small_runs.hpp"
#include "cuda_opt.h"
#include "problem_set.hpp"

namespace cudaopt::bench {

namespace {

using Vector = std::vector<double>;
SmallRun solve(SmallProblem problem, int m, int64_t evaluations, double level = 0) {
    return run_ours(problem, m, CUDA_OPT_INITIAL_HESSIAN_LEARNED, {1e-9, evaluations, level});
}

} // namespace

void show_noise(const std::vector<double> &sizes, int m, int seeds) {
    std::printf("\nm = %d. gap: (f - f*) / (f0 - f*). far: converged 100 noise levels above the f of a further solve\n"
                "\n  %10s %8s %10s %10s %12s %10s %6s\n",
                m, "noise", "solves", "gap 1e-6", "gap 1e-3", "evaluations", "converged", "far");
    for (const double size : sizes) {
        int near = 0, close = 0, converged = 0, far = 0;
        std::vector<int64_t> evaluations;
        for (const SmallProblem &problem : metric_problems()) {
            Vector g(problem.start.size());
            double steepest = 0, f0 = problem.evaluate(problem.start, g);
            for (const double component : g) steepest = std::fmax(steepest, std::fabs(component));
            const double lowest = std::fmin(solve(problem, 10, 20000).f, solve(problem, 40, 20000).f);
            const double level = size * std::fmax(1e-3 * std::fabs(f0), std::fabs(lowest));
            for (int seed = 0; seed < seeds; seed++) {
                SmallProblem noisy = problem, rest = problem;
                noisy.evaluate = [&, random = std::mt19937_64(seed)](const Vector &x, Vector &g_) mutable {
                    std::uniform_real_distribution<double> uniform(-1, 1);
                    const double f = problem.evaluate(x, g_) + level * uniform(random);
                    for (double &component : g_) component += 1e-3 * size * steepest * uniform(random);
                    return f;
                };
                const SmallRun run = solve(noisy, m, 1000, level);
                const double f = problem.evaluate(rest.start = run.x, g), gap = (f - lowest) / (f0 - lowest);
                near += gap <= 1e-6, close += gap <= 1e-3;
                evaluations.push_back(run.evaluations);
                if (run.end != cuda_opt_task_name(CUDA_OPT_CONVERGED)) continue;
                converged++;
                far += f - solve(rest, m, 3000).f > 100 * level;
            }
        }
        const auto middle = evaluations.begin() + static_cast<std::ptrdiff_t>(evaluations.size() / 2);
        std::nth_element(evaluations.begin(), middle, evaluations.end());
        const double count = static_cast<double>(evaluations.size());
        std::printf("  %10g %8.0f %10.3f %10.3f %12lld %10d %6d\n", size, count, near / count, close / count,
                    static_cast<long long>(*middle), converged, far);
    }
}

} // namespace cudaopt::bench
