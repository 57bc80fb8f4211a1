#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "cuda_opt_setulb.h" // setulb_; here it is L-BFGS-B 3.0's own that is linked
#include "cvt_run.hpp"

namespace cudaopt::bench {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

} // namespace

std::optional<CvtRun> run_cvt_fortran(CvtProblem &problem, int m, int64_t iterations) {
    const auto size = static_cast<std::size_t>(problem.n()), pairs = static_cast<std::size_t>(m);
    const std::size_t workspace = 2 * pairs * size + 5 * size + 11 * pairs * pairs + 8 * pairs;
    if (workspace > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::runtime_error("L-BFGS-B 3.0 counts its workspace in 32 bits, too few for so many sites");
    const int n = static_cast<int>(size), silent = -1;
    std::vector<double> x = problem.start(), g(size), l(size, 0), u(size, 1), wa(workspace);
    std::vector<int> nbd(size, 2), iwa(3 * size);
    double f = 0, dsave[29] = {};
    const double off = 0;
    char task[60], csave[60];
    int lsave[4] = {}, isave[44] = {};
    std::memset(task, ' ', sizeof task);
    std::memset(csave, ' ', sizeof csave);
    std::memcpy(task, "START", 5);

    const Minimiser<double> memory = problem.make_solver(1); // for arrays where the evaluations are done
    Array<double> there_x(memory, n), there_g(memory, n), there_f(memory, 1);
    CvtRun run;
    const auto evaluate = [&] {
        if (!problem.cuda()) return problem.evaluate(x.data(), &f, g.data());
        const auto in = Clock::now();
        there_x.write(0, x.data(), n);
        run.io_seconds += since(in);
        problem.evaluate(there_x.data(), there_f.data(), there_g.data());
        memory.synchronize();
        const auto out = Clock::now();
        there_f.read(0, &f, 1);
        there_g.read(0, g.data(), n);
        run.io_seconds += since(out);
    };
    auto begin = Clock::now();
    for (;;) {
        const auto call = Clock::now();
        setulb_(&n, &m, x.data(), l.data(), u.data(), nbd.data(), &f, g.data(), &off, &off, wa.data(), iwa.data(), task,
                &silent, csave, lsave, isave, dsave, sizeof task, sizeof csave);
        run.solver_seconds += since(call);
        if (std::memcmp(task, "FG", 2) == 0) {
            evaluate();
            if (run.evaluations++ == 0) run.f_at.push_back(f);
        } else if (std::memcmp(task, "NEW_X", 5) == 0) {
            run.f_at.push_back(f);
            if (++run.iterations == 1) begin = Clock::now();
            if (run.iterations == iterations) break;
        } else {
            break;
        }
    }
    run.seconds = since(begin);
    if (std::memcmp(task, "ERROR", 5) == 0) throw std::runtime_error("L-BFGS-B 3.0: " + std::string(task, sizeof task));
    run.end = std::memcmp(task, "CONV", 4) == 0    ? "converged"
              : std::memcmp(task, "NEW_X", 5) == 0 ? "limit"
                                                   : "line search";
    run.x = x;
    return run;
}

} // namespace cudaopt::bench
