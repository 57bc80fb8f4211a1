// mpirun -n R driver_program_mpi n m: driver_program on R ranks, each with its part of the variables, on the host or,
// with --backend cuda, on a GPU each. Rank 0 prints the log. It shows how a program with MPI goes about it:
// docs/ranks.md.
#include "cuda_opt/mpi.h"
#include "failure.hpp"
#include "interrupt.hpp"
#include "manual_log.hpp"
#include "rank_points.hpp"
#include "rank_problem.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace driver {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Among those of this machine.
int rank_on_machine() {
    MPI_Comm machine;
    int rank = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    return rank;
}

void refuse_unserved(const Options &options) {
    const auto refuse = [](const std::string &what) {
        throw Failure(exit_usage, what + " is not for driver_program_mpi (see driver_program)");
    };
    if (!options.csv.empty()) refuse("--csv");
    if (!options.plot.empty()) refuse("--plot");
    if (!options.checkpoint.empty()) refuse("--checkpoint");
    if (!options.resume.empty()) refuse("--resume");
}

template <class Real>
int minimise(const Options &options, const cudaopt::testfuncs::Problem &problem, const RankCut &cut) {
    const int64_t n = problem.n();
    const int64_t room = std::max<int64_t>(1, cut.n());
    const bool on_cuda = options.backend == CUDA_OPT_BACKEND_CUDA;
    if (on_cuda) choose_device(rank_on_machine());
    cudaopt::Minimiser<Real> s(n, options.m, on_cuda ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST);
    const auto evaluation = make_rank_problem<Real>(options, n, on_cuda, cut, MPI_COMM_WORLD);
    s.set_ranks(cut.rank, cut.ranks(), cut.first(), cut.n());
    s.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_SEGMENTS);
    s.set_int(CUDA_OPT_THREADS, options.threads);
    if (!options.manual_words) s.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED); // as driver_program
    for (const GivenSetting &given : options.settings)
        named(given.option, [&] {
            if (const auto *whole = std::get_if<int64_t>(&given.value)) s.set_int(given.key, *whole);
            else s.set_real(given.key, std::get<double>(given.value));
        });
    cudaopt::Array<Real> x(s, room), g(s, room), lower(s, room), upper(s, room);
    cudaopt::Array<double> f(s, cuda_opt_segments(n));
    std::vector<Real> values(static_cast<std::size_t>(cut.n()));
    problem.start(cut.first(), cut.n(), values.data());
    x.write(0, values.data(), cut.n());
    if (problem.bounded()) {
        problem.lower(cut.first(), cut.n(), values.data());
        lower.write(0, values.data(), cut.n());
        problem.upper(cut.first(), cut.n(), values.data());
        upper.write(0, values.data(), cut.n());
        s.set_bounds(options.lower ? nullptr : lower.data(), options.upper ? nullptr : upper.data());
    }
    s.set_uniform_bounds(static_cast<Real>(options.lower.value_or(-INFINITY)),
                         static_cast<Real>(options.upper.value_or(INFINITY)));

    const bool prints = cut.rank == 0;
    Progress progress(false);
    ManualLog log(options, progress);
    if (prints) log.attach(s);
    const Interrupt interrupt(s);
    const auto start = std::chrono::steady_clock::now();
    Effort effort;
    effort.bounded = problem.bounded() || options.lower || options.upper;
    int task;
    do {
        task = s.solve(x.data(), f.data(), g.data());
        if (effort.solver_calls++ == 0 && prints) log.head(s, problem);
        if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_mpi(s, MPI_COMM_WORLD);
        if (task == CUDA_OPT_EVALUATE_FG) {
            const auto begin = std::chrono::steady_clock::now();
            evaluation->evaluate(x.data(), f.data(), g.data());
            effort.evaluation_seconds += seconds_since(begin);
            effort.evaluations++;
        }
    } while (task > 0);
    effort.seconds = seconds_since(start);
    effort.iterations = s.get_int(CUDA_OPT_ITERATIONS);
    effort.solver_seconds = s.get_real(CUDA_OPT_SOLVER_SECONDS);
    if (effort.evaluations == 0) s.check(task); // refused before anything was done
    if (prints) {
        log.summary(s, effort);
        log.check_written();
        if (task != CUDA_OPT_CONVERGED) std::fprintf(stderr, "driver_program_mpi: %s\n", s.message());
    }
    return task == CUDA_OPT_CONVERGED ? 0 : exit_failed;
}

int run(int argc, char **argv, int rank, int ranks) {
    std::optional<Options> options = parse_options(argc, argv);
    if (!options) return 0;
    refuse_unserved(*options);
    if (options->threads == 0) options->threads = 1; // the ranks are the threads
    std::unique_ptr<cudaopt::testfuncs::Problem> problem;
    try {
        problem = cudaopt::testfuncs::make_problem(options->problem, options->n, options->parameters);
    } catch (const std::invalid_argument &refusal) {
        throw Failure(exit_usage, std::string(refusal.what()) + " (see --list)");
    }
    const RankCut cut = cut_at_segments(problem->n(), rank, ranks);
    return options->single ? minimise<float>(*options, *problem, cut) : minimise<double>(*options, *problem, cut);
}

} // namespace
} // namespace driver

// Of one rank alone, or so it may be: the others would wait.
int abort_all(int rank, const char *why) {
    std::fprintf(stderr, "driver_program_mpi: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, driver::exit_failed);
    return driver::exit_failed;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        // What is wrong with the arguments is so on all ranks, and rank 0 says it.
        status = driver::run(argc, argv, rank, ranks);
    } catch (const driver::Failure &failure) {
        if (rank == 0) std::fprintf(stderr, "driver_program_mpi: %s\n", failure.what());
        status = failure.status;
    } catch (const cudaopt::Error &failure) { // improper input can only stem from the arguments
        if (failure.code() != CUDA_OPT_IMPROPER_INPUT) return abort_all(rank, failure.what());
        if (rank == 0) std::fprintf(stderr, "driver_program_mpi: %s\n", failure.what());
        status = driver::exit_usage;
    } catch (const std::exception &failure) {
        return abort_all(rank, failure.what());
    }
    MPI_Finalize();
    return status;
}
