#include "cvt_run.hpp"

#include <stdexcept>

#include "bench/common/paper_2014.hpp"
#include "bench/common/rules_of_lbfgsb.hpp"
#include "bench/common/stopwatch.hpp"
#include "bench/solver/whole_run.hpp"

namespace cudaopt::bench {

CvtProblem::CvtProblem(int64_t sites, int64_t resolution, uint64_t seed, bool cuda, int threads)
    : grid_(sites, resolution), start_(grid_.random_sites(seed)),
      clock_(cuda ? std::make_unique<StreamClock>() : nullptr), threads_(threads) {
    place_.space = cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host;
    place_.threads = threads;
    place_.stream = cuda ? clock_->stream() : nullptr;
}

Minimiser<double> CvtProblem::make_solver(int m) const {
    Minimiser<double> s(n(), m, cuda() ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST);
    s.set_stream(place_.stream);
    use_rules_of_lbfgsb(s);
    s.set_int(CUDA_OPT_THREADS, threads_).set_int(CUDA_OPT_MAX_ITERATIONS, 0).set_real(CUDA_OPT_PGTOL, 0);
    return s;
}

double CvtProblem::evaluation_seconds(const std::vector<double> &x) {
    const Minimiser<double> s = make_solver(1);
    const Array<double> at(s, x), g(s, n()), f(s, 1);
    const auto once = [&] { evaluate(at.data(), f.data(), g.data()); };
    return cuda() ? clock_->seconds(once, 20) : seconds_of_one(once, [] {});
}

CvtRun run_cvt(CvtProblem &problem, bool approximate_cauchy) {
    Minimiser<double> s = problem.make_solver(cvt_pairs);
    const auto size = static_cast<std::size_t>(problem.n());
    Array<double> x(s, problem.start()), g(s, problem.n()), f(s, 1);
    const Array<double> lower(s, std::vector<double>(size, 0)), upper(s, std::vector<double>(size, 1));
    s.set_bounds(lower, upper);
    s.set_real(CUDA_OPT_FACTR, paper_2014::factr);
    s.set_int(CUDA_OPT_MAX_ITERATIONS, cvt_iterations).set_int(CUDA_OPT_APPROXIMATE_CAUCHY, approximate_cauchy);

    CvtRun run;
    Stopwatch watch;
    int task;
    do {
        task = s.solve(x, f, g);
        const int64_t done = run.evaluations > 0 ? s.get_int(CUDA_OPT_ITERATIONS) : -1;
        if (done >= static_cast<int64_t>(run.f_at.size())) {
            run.f_at.push_back(s.get_real(CUDA_OPT_F));
            if (done == 1) watch = Stopwatch();
        }
        if (task != CUDA_OPT_EVALUATE_FG) continue;
        problem.evaluate(x.data(), f.data(), g.data());
        run.evaluations++;
        if (done < 0) continue;
        run.t.resize(run.f_at.size()); // of the iteration under way: the last trial point's holds
        run.t_first.resize(run.f_at.size());
        run.t.back() = s.get_real(CUDA_OPT_CAUCHY_T);
        run.t_first.back() = s.get_real(CUDA_OPT_CAUCHY_T_FIRST);
    } while (task > 0);
    run.seconds = watch.seconds();
    run.end = task == CUDA_OPT_ITERATION_LIMIT      ? "limit"
              : task == CUDA_OPT_CONVERGED          ? "converged"
              : task == CUDA_OPT_LINE_SEARCH_FAILED ? "line search"
                                                    : "";
    if (run.end.empty()) throw std::runtime_error(s.message());
    run.iterations = s.get_int(CUDA_OPT_ITERATIONS);
    run.solver_seconds = s.get_real(CUDA_OPT_SOLVER_SECONDS);
    run.t.resize(static_cast<std::size_t>(run.iterations)); // what comes after was not accepted
    run.t_first.resize(run.t.size());
    run.x = x.to_host();
    return run;
}

} // namespace cudaopt::bench
