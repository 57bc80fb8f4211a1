#include "bench/common/setulb_caller.hpp" // of L-BFGS-B 3.0's own, which is linked here
#include "bench/common/paper_2014.hpp"
#include "cvt_run.hpp"

namespace cudaopt::bench {

std::optional<CvtRun> run_cvt_fortran(CvtProblem &problem, double seconds) {
    const auto size = static_cast<std::size_t>(problem.n());
    SetulbCaller caller(problem.start(), std::vector<double>(size, 0), std::vector<double>(size, 1), cvt_pairs,
                        paper_2014::factr, 0);

    const Minimiser<double> memory = problem.make_solver(1); // for arrays where the evaluations are done
    Array<double> x(memory, problem.n()), g(memory, problem.n()), f(memory, 1);
    CvtRun run;
    const auto evaluate = [&] {
        if (!problem.cuda()) return problem.evaluate(caller.x.data(), &caller.f, caller.g.data());
        const Stopwatch in;
        x.write(0, caller.x.data(), x.size());
        run.io_seconds += in.seconds();
        problem.evaluate(x.data(), f.data(), g.data());
        memory.synchronize();
        const Stopwatch out;
        f.read(0, &caller.f, 1);
        g.read(0, caller.g.data(), g.size());
        run.io_seconds += out.seconds();
    };
    const Stopwatch whole;
    Stopwatch watch;
    bool out_of_time = false;
    for (;;) {
        run.solver_seconds += caller.call();
        if (caller.says("FG")) {
            evaluate();
            if (run.evaluations++ == 0) run.f_at.push_back(caller.f);
        } else if (caller.says("NEW_X")) {
            run.f_at.push_back(caller.f);
            if (++run.iterations == 1) watch = Stopwatch();
            if (run.iterations == cvt_iterations) break;
            out_of_time = seconds > 0 && whole.seconds() >= seconds;
            if (out_of_time) break;
        } else {
            break;
        }
    }
    run.seconds = watch.seconds();
    run.end = out_of_time ? "time" : caller.end();
    run.x = caller.x;
    return run;
}

} // namespace cudaopt::bench
