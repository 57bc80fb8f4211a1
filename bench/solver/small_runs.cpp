#include "small_runs.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

#include "bench/common/setulb_caller.hpp" // of L-BFGS-B 3.0's own, which is linked here
#include "cuda_opt.hpp"

namespace cudaopt::bench {

namespace {

using cudaopt_problems::Vector;

void look_at_the_end(const SmallProblem &problem, const Vector &x, SmallRun &run) {
    Vector g(x.size());
    run.f = problem.evaluate(x, g);
    run.pg = cudaopt_problems::projected_gradient_norm(problem, x, g);
}

// What comes through the pipe.
struct Message {
    int64_t evaluations;
    double f, pg, seconds;
    std::array<char, 64> end, termination;
};

using Solver = Minimiser<double>;

// Until the end; x: the start, then the end.
int solve(Solver &solver, const SmallProblem &problem, Vector &x, SmallRun &run) {
    if (problem.bounded()) solver.set_bounds(problem.lower.data(), problem.upper.data());
    solver.set_int(CUDA_OPT_THREADS, 1);
    Vector g(x.size());
    double f = 0;
    int task;
    while ((task = solver.solve(x.data(), &f, g.data())) > 0) {
        if (task != CUDA_OPT_EVALUATE_FG) continue;
        f = problem.evaluate(x, g);
        run.evaluations++;
    }
    return task;
}

} // namespace

SmallRun run_ours(const SmallProblem &problem, int m, int64_t metric, const Goal &goal) {
    Solver solver(problem.n(), m, CUDA_OPT_BACKEND_HOST);
    solver.set_int(CUDA_OPT_MAX_ITERATIONS, 0);
    solver.set_int(CUDA_OPT_MAX_EVALUATIONS, goal.evaluations);
    solver.set_real(CUDA_OPT_FACTR, 0);
    solver.set_real(CUDA_OPT_PGTOL, goal.pgtol);
    solver.set_real(CUDA_OPT_NOISE_ABS, goal.noise_level);
    solver.set_int(CUDA_OPT_INITIAL_HESSIAN, metric);
    SmallRun run;
    run.x = problem.start;
    run.end = cuda_opt_task_name(solve(solver, problem, run.x, run));
    look_at_the_end(problem, run.x, run);
    return run;
}

SmallRun run_by_defaults(const SmallProblem &problem, int m, int64_t metric) {
    constexpr double significant = 1e-3;
    Solver solver(problem.n(), m, CUDA_OPT_BACKEND_HOST);
    solver.set_int(CUDA_OPT_INITIAL_HESSIAN, metric);
    solver.set_int(CUDA_OPT_MAX_ITERATIONS, 0);
    solver.set_int(CUDA_OPT_MAX_EVALUATIONS, small_evaluations);
    SmallRun run, further;
    Vector x = problem.start;
    const int task = solve(solver, problem, x, run);
    run.end = cuda_opt_task_name(task);
    look_at_the_end(problem, x, run);
    if (task != CUDA_OPT_CONVERGED) {
        run.termination = "not converged";
        return run;
    }
    Solver other(problem.n(), m, CUDA_OPT_BACKEND_HOST);
    other.set_int(CUDA_OPT_INITIAL_HESSIAN, metric == CUDA_OPT_INITIAL_HESSIAN_LEARNED
                                                ? CUDA_OPT_INITIAL_HESSIAN_SCALAR
                                                : CUDA_OPT_INITIAL_HESSIAN_LEARNED);
    other.set_int(CUDA_OPT_MAX_ITERATIONS, 0);
    other.set_int(CUDA_OPT_MAX_EVALUATIONS, small_evaluations);
    other.set_real(CUDA_OPT_PGTOL, 1e-8);
    other.set_real(CUDA_OPT_FACTR, 0);
    solve(other, problem, x, further);
    look_at_the_end(problem, x, further);
    const bool falls = further.f < run.f - significant * std::fmax(std::fabs(further.f), 1);
    run.termination = falls                                                     ? "false"
                      : solver.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_ROUNDING ? "rounding level"
                                                                                : "true";
    return run;
}

SmallRun run_lbfgsb(const SmallProblem &problem, int m) {
    SetulbCaller caller(problem.start, problem.lower, problem.upper, m, 0, small_pgtol);
    SmallRun run;
    for (;;) {
        caller.call();
        if (caller.says("NEW_X")) continue;
        if (!caller.says("FG") || run.evaluations == small_evaluations) break;
        caller.f = problem.evaluate(caller.x, caller.g);
        run.evaluations++;
    }
    run.end = caller.says("FG") ? "evaluation limit" : caller.words();
    look_at_the_end(problem, caller.x, run);
    return run;
}

SmallRun run_apart(const std::function<SmallRun()> &run, int seconds) {
    std::fflush(nullptr); // or a child that ends by exit() writes what this process has not written yet
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("there is no pipe to be had");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("there is no process to be had");
    if (child == 0) {
        alarm(static_cast<unsigned>(seconds));
        close(ends[0]);
        Message message = {};
        const Stopwatch watch;
        try {
            const SmallRun result = run();
            message.evaluations = result.evaluations;
            message.f = result.f;
            message.pg = result.pg;
            message.seconds = watch.seconds();
            std::strncpy(message.end.data(), result.end.c_str(), message.end.size() - 1);
            std::strncpy(message.termination.data(), result.termination.c_str(), message.termination.size() - 1);
        } catch (const std::exception &error) {
            std::strncpy(message.end.data(), error.what(), message.end.size() - 1);
            message.f = message.pg = message.seconds = NAN;
        }
        _exit(write(ends[1], &message, sizeof message) == sizeof message ? 0 : 1);
    }
    close(ends[1]);
    Message message;
    const bool whole = read(ends[0], &message, sizeof message) == sizeof message;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    SmallRun result;
    if (!whole) {
        result.end = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "out of time" : "crashed";
        return result;
    }
    result.evaluations = message.evaluations;
    result.f = message.f;
    result.pg = message.pg;
    result.seconds = message.seconds;
    result.end = message.end.data();
    result.termination = message.termination.data();
    return result;
}

} // namespace cudaopt::bench
