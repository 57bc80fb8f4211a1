#include "whole_run.hpp"

#include <stdexcept>

#include "bench/common/stopwatch.hpp"
#include "prepared_solve.hpp"

namespace cudaopt::bench {

namespace {

template <class Real> WholeRun run(const RunOptions &options, const Stop &stop, int64_t mark) {
    PreparedSolve<Real> prepared(options);
    Handle &h = prepared.handle;
    h.set_real(CUDA_OPT_EPS, stop.eps).set_real(CUDA_OPT_FACTR, stop.factr).set_real(CUDA_OPT_PGTOL, stop.pgtol);
    h.set_int(CUDA_OPT_MAX_ITERATIONS, stop.max_iterations).set_int(CUDA_OPT_MAX_EVALUATIONS, stop.max_evaluations);

    WholeRun result;
    result.n = prepared.n;
    const auto note_mark = [&] {
        if (mark == 0 || result.solver_seconds_at_mark > 0 || h.get_int(CUDA_OPT_ITERATIONS) != mark) return;
        result.f_at_mark = h.get_real(CUDA_OPT_F);
        result.solver_seconds_at_mark = h.get_real(CUDA_OPT_SOLVER_SECONDS);
    };
    const Stopwatch watch;
    int task;
    while ((task = prepared.solve()) > 0) {
        note_mark();
        prepared.evaluate();
        // A trial point of the iteration under way, whose Cauchy point is known: the last one holds.
        if (h.get_int(CUDA_OPT_EVALUATIONS) == 0) continue;
        const auto underway = static_cast<std::size_t>(h.get_int(CUDA_OPT_ITERATIONS)) + 1;
        result.t.resize(underway);
        result.t_first.resize(underway);
        result.t.back() = h.get_real(CUDA_OPT_CAUCHY_T);
        result.t_first.back() = h.get_real(CUDA_OPT_CAUCHY_T_FIRST);
    }
    result.seconds = watch.seconds();
    note_mark();
    result.end = task == CUDA_OPT_CONVERGED            ? "converged"
                 : task == CUDA_OPT_ITERATION_LIMIT    ? "limit"
                 : task == CUDA_OPT_EVALUATION_LIMIT   ? "limit"
                 : task == CUDA_OPT_LINE_SEARCH_FAILED ? "line search"
                                                       : "";
    if (result.end.empty()) throw std::runtime_error(h.message());
    result.iterations = h.get_int(CUDA_OPT_ITERATIONS);
    result.evaluations = h.get_int(CUDA_OPT_EVALUATIONS);
    result.t.resize(static_cast<std::size_t>(result.iterations)); // what comes after was not accepted
    result.t_first.resize(result.t.size());
    result.solver_seconds = h.get_real(CUDA_OPT_SOLVER_SECONDS);
    result.f = h.get_real(CUDA_OPT_F);
    if (options.time_copies && prepared.cuda) {
        std::vector<Real> on_host(static_cast<std::size_t>(prepared.n));
        double f = 0;
        const auto copies = [&] {
            prepared.x.read(0, on_host.data(), prepared.n);
            prepared.g.write(0, on_host.data(), prepared.n); // what g was is of no more use
            prepared.f.write(0, &f, 1);
        };
        result.copy_seconds = seconds_of_one(copies, [&] { h.synchronize(); });
    }
    result.evaluation_seconds = seconds_of_one([&] { prepared.evaluate(); }, [&] { h.synchronize(); });
    return result;
}

} // namespace

WholeRun run_whole(const RunOptions &options, const Stop &stop, int64_t mark) {
    return options.single ? run<float>(options, stop, mark) : run<double>(options, stop, mark);
}

bool have_cuda() {
    try {
        Minimiser<double>(1, 1, CUDA_OPT_BACKEND_CUDA);
        return true;
    } catch (const Error &) {
        return false;
    }
}

double seconds_of_one(const std::function<void()> &evaluate, const std::function<void()> &wait, int64_t repetitions) {
    evaluate(); // to warm up
    wait();
    const Stopwatch watch;
    for (int64_t k = 0; k < repetitions; k++) evaluate();
    wait();
    return watch.seconds() / static_cast<double>(repetitions);
}

} // namespace cudaopt::bench
