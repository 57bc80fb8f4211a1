#include "fortran_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/common/setulb_caller.hpp" // of L-BFGS-B 3.0's own, which is linked here
#include "testfuncs/problem.hpp"

namespace cudaopt::bench {

namespace {

double norm(const std::vector<double> &v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

} // namespace

std::optional<FortranRun> run_fortran(const RunOptions &options, const Stop &stop) {
    const auto problem = testfuncs::make_problem(options.problem, options.n);
    const int64_t n = problem->n();
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> start(size), l(size, options.lower), u(size, options.upper);
    problem->start(0, n, start.data());
    if (options.own_bounds) {
        problem->lower(0, n, l.data());
        problem->upper(0, n, u.data());
    }
    SetulbCaller caller(std::move(start), std::move(l), std::move(u), options.m, stop.factr, 0);
    testfuncs::Place place;
    place.threads = options.threads;

    FortranRun result;
    WholeRun &whole = result.whole;
    whole.n = n;
    const auto evaluate = [&] { problem->evaluate(caller.x.data(), &caller.f, caller.g.data(), place); };
    bool converged = false;
    const Stopwatch watch;
    for (;;) {
        whole.solver_seconds += caller.call();
        if (caller.says("FG")) {
            evaluate();
            whole.evaluations++;
        } else if (caller.says("NEW_X")) {
            result.seconds_at.push_back(whole.solver_seconds);
            result.f_at.push_back(caller.f);
            whole.iterations++;
            if (whole.iterations == stop.max_iterations) break;
            converged = stop.eps > 0 && norm(caller.g) < stop.eps * std::max(1.0, norm(caller.x));
            if (converged) break;
        } else {
            break;
        }
    }
    whole.seconds = watch.seconds();
    whole.f = caller.f;
    whole.end = converged ? "converged" : caller.end();
    whole.evaluation_seconds = seconds_of_one(evaluate, [] {});
    return result;
}

} // namespace cudaopt::bench
