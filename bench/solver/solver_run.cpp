#include "solver_run.hpp"

#include "bench/common/stopwatch.hpp"
#include "prepared_solve.hpp"
#include "whole_run.hpp"

namespace cudaopt::bench {

namespace {

Reading read(const Handle &h, const Stopwatch &watch) {
    h.synchronize();
    const double wall = watch.seconds();
    return {h.get_int(CUDA_OPT_ITERATIONS),
            h.get_int(CUDA_OPT_EVALUATIONS),
            h.get_int(CUDA_OPT_CAUCHY_CROSSINGS),
            h.get_int(CUDA_OPT_BREAKPOINTS_CROSSED),
            h.get_int(CUDA_OPT_FREE_COUNT),
            h.get_real(CUDA_OPT_SOLVER_SECONDS),
            wall};
}

template <class Real> RunResult run(const RunOptions &options) {
    PreparedSolve<Real> prepared(options);
    Handle &h = prepared.handle;
    RunResult result;
    result.n = prepared.n;
    result.element_bytes = sizeof(Real);
    result.history_bytes = options.history_bits > 0 ? options.history_bits / 8 : result.element_bytes;
    result.cuda = prepared.cuda;
    result.bounded = prepared.bounded;
    // From one direction to another, so that every iteration is counted with its second sweep. Reading the time waits
    // for the device, so it is read no oftener than is asked for.
    const Stopwatch watch;
    const int64_t first = options.m + 2, end = first + options.iterations;
    h.set_int(CUDA_OPT_MAX_ITERATIONS, end + 1);
    Reading last, full;
    int64_t iterations = 0;
    while (iterations < end) {
        const int task = prepared.solve();
        if (task <= 0) break;
        if (task == CUDA_OPT_SUPPLY_DIAGONAL) continue; // it is there
        iterations = h.get_int(CUDA_OPT_ITERATIONS);
        const bool is_full = full.iterations == 0 && iterations >= first;
        if (is_full || iterations >= end || (options.on_iterate && iterations > last.iterations)) {
            last = read(h, watch);
            if (is_full) full = last;
            if (options.on_iterate) options.on_iterate(last);
        }
        prepared.evaluate();
    }
    if (iterations < end) last = read(h, watch);
    if (full.iterations == 0 || last.iterations == full.iterations)
        throw std::runtime_error(std::string("the solve ended before there was something to time: ") + h.message());
    result.iterations = static_cast<double>(last.iterations - full.iterations);
    result.evaluations = static_cast<double>(last.evaluations - full.evaluations);
    result.crossings = static_cast<double>(last.crossings - full.crossings);
    result.seconds = last.seconds - full.seconds;
    result.wall = last.wall - full.wall;
    result.f = h.get_real(CUDA_OPT_F);
    if (!options.timed) {
        const auto evaluate = [&] { prepared.evaluate(); };
        const auto wait = [&] { h.synchronize(); };
        const auto evaluate_and_wait = [&] { evaluate(), wait(); };
        const int64_t count = last.evaluations - full.evaluations;
        result.evaluation_wall = result.evaluations * seconds_of_one(evaluate, wait, count);
        result.waited_evaluation_wall = result.evaluations * seconds_of_one(evaluate_and_wait, wait, count);
    }
    return result;
}

} // namespace

RunResult run_solver(const RunOptions &options) { return options.single ? run<float>(options) : run<double>(options); }

} // namespace cudaopt::bench
