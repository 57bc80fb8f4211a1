#include "solver_run.hpp"

#include "prepared_solve.hpp"

namespace cudaopt::bench {

namespace {

struct Reading {
    std::int64_t iterations, evaluations, crossings;
    double seconds;
    explicit Reading(const Handle &h)
        : iterations(h.count(CUDA_OPT_ITERATIONS)), evaluations(h.count(CUDA_OPT_EVALUATIONS)),
          crossings(h.count(CUDA_OPT_CAUCHY_CROSSINGS)), seconds(h.real(CUDA_OPT_SOLVER_SECONDS)) {}
};

template <class Real> RunResult run(const RunOptions &options) {
    PreparedSolve<Real> prepared(options);
    const Handle &h = prepared.handle;
    RunResult result;
    result.n = prepared.n;
    result.element_bytes = sizeof(Real);
    result.cuda = prepared.cuda;
    result.bounded = prepared.bounded;
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_MAX_ITERATIONS, options.m + 2 + options.iterations));

    std::unique_ptr<Reading> full;
    while (prepared.solve() > 0) {
        prepared.evaluate();
        if (!full && h.count(CUDA_OPT_ITERATIONS) >= options.m + 2) full = std::make_unique<Reading>(h);
    }
    const Reading last(h);
    if (!full || last.iterations == full->iterations)
        throw std::runtime_error(std::string("the solve ended before there was something to time: ") +
                                 cuda_opt_message(h.s));
    result.iterations = static_cast<double>(last.iterations - full->iterations);
    result.evaluations = static_cast<double>(last.evaluations - full->evaluations);
    result.crossings = static_cast<double>(last.crossings - full->crossings);
    result.seconds = last.seconds - full->seconds;
    result.f = h.real(CUDA_OPT_F);
    return result;
}

} // namespace

RunResult run_solver(const RunOptions &options) { return options.single ? run<float>(options) : run<double>(options); }

} // namespace cudaopt::bench
