#include "fortran_run.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "cuda_opt_setulb.h" // setulb_; here it is L-BFGS-B 3.0's own that is linked
#include "testfuncs/problem.hpp"

namespace cudaopt::bench {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

} // namespace

std::optional<FortranRun> run_fortran(const RunOptions &options, const Stop &stop) {
    const auto problem = testfuncs::make_problem(options.problem, options.n);
    const int m = options.m, silent = -1;
    const std::size_t size = static_cast<std::size_t>(problem->n()), pairs = static_cast<std::size_t>(m);
    const std::size_t workspace = 2 * pairs * size + 5 * size + 11 * pairs * pairs + 8 * pairs;
    if (workspace > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::runtime_error("L-BFGS-B 3.0 counts its workspace in 32 bits, too few for this n and m");
    const int n = static_cast<int>(size);
    std::vector<double> x(size), g(size), l(size, options.lower), u(size, options.upper);
    std::vector<double> wa(workspace);
    std::vector<int> nbd(size), iwa(3 * size);
    problem->start(0, n, x.data());
    if (options.own_bounds) {
        problem->lower(0, n, l.data());
        problem->upper(0, n, u.data());
    }
    for (std::size_t i = 0; i < size; i++) {
        const bool has_l = std::isfinite(l[i]), has_u = std::isfinite(u[i]);
        nbd[i] = has_l ? (has_u ? 2 : 1) : has_u ? 3 : 0;
    }
    double f = 0, dsave[29] = {};
    const double pgtol = 0;
    char task[60], csave[60];
    int lsave[4] = {}, isave[44] = {};
    std::memset(task, ' ', sizeof task);
    std::memset(csave, ' ', sizeof csave);
    std::memcpy(task, "START", 5);
    testfuncs::Place place;
    place.threads = options.threads;

    FortranRun result;
    WholeRun &whole = result.whole;
    whole.n = n;
    bool out_of_time = false;
    const auto begin = Clock::now();
    for (;;) {
        const auto call = Clock::now();
        setulb_(&n, &m, x.data(), l.data(), u.data(), nbd.data(), &f, g.data(), &stop.factr, &pgtol, wa.data(),
                iwa.data(), task, &silent, csave, lsave, isave, dsave, sizeof task, sizeof csave);
        whole.solver_seconds += since(call);
        if (std::memcmp(task, "FG", 2) == 0) {
            problem->evaluate(x.data(), &f, g.data(), place);
            whole.evaluations++;
        } else if (std::memcmp(task, "NEW_X", 5) == 0) {
            result.seconds_at.push_back(whole.solver_seconds);
            result.f_at.push_back(f);
            whole.iterations++;
            if (whole.iterations == stop.max_iterations) break;
            out_of_time = stop.max_seconds > 0 && since(begin) >= stop.max_seconds;
            if (out_of_time) break;
        } else {
            break;
        }
    }
    whole.seconds = since(begin);
    whole.f = f;
    whole.end = std::memcmp(task, "CONV", 4) == 0    ? "converged"
                : out_of_time                        ? "time"
                : std::memcmp(task, "NEW_X", 5) == 0 ? "limit"
                                                     : "line search";
    if (std::memcmp(task, "ERROR", 5) == 0) throw std::runtime_error("L-BFGS-B 3.0: " + std::string(task, sizeof task));
    whole.evaluation_seconds = seconds_of_one([&] { problem->evaluate(x.data(), &f, g.data(), place); }, [] {});
    return result;
}

} // namespace cudaopt::bench
