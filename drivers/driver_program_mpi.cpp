// mpirun -n R driver_program_mpi n m: minimises a test problem on R ranks (MPI processes), as driver_program does on
// one.
//
// Each rank stores a part of the variables, on the host or, with --backend cuda, on its own GPU. Rank 0 prints the log.
// docs/ranks.md uses this program as an example of a program with MPI.
#include "cuda_opt/mpi.h"
#include "failure.hpp"
#include "interrupt.hpp"
#include "manual_log.hpp"
#include "manual_settings.hpp"
#include "rank_points.hpp"
#include "rank_problem.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace driver {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns the number of this rank among the ranks on the same machine.
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
    if (options.check_gradient) refuse("--check-gradient");
    if (!options.csv.empty()) refuse("--csv");
    if (!options.plot.empty()) refuse("--plot");
    if (!options.checkpoint.empty()) refuse("--checkpoint");
    if (!options.resume.empty()) refuse("--resume");
}

// The solve on one rank. The constructor performs all steps that can fail on a single rank, before the ranks
// communicate.
template <class Real> class RankSolve {
  public:
    RankSolve(const Options &options, std::unique_ptr<cudaopt::testfuncs::Problem> problem, const RankCut &cut)
        : options_(options), problem_(std::move(problem)), cut_(cut),
          s_(problem_->n(), options_.m, on_cuda() ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST),
          evaluation_(make_rank_problem<Real>(options_, problem_->n(), on_cuda(), cut_, MPI_COMM_WORLD)),
          x_(s_, cut_.n()), g_(s_, cut_.n()), lower_(s_, cut_.n()), upper_(s_, cut_.n()),
          f_(s_, cuda_opt_segments(problem_->n())) {
        s_.set_ranks(cut_.rank, cut_.ranks(), cut_.first(), cut_.n());
        s_.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_SEGMENTS);
        s_.set_int(CUDA_OPT_THREADS, options_.threads);
        set_as_in_manual(s_);
        for (const GivenSetting &given : options_.settings)
            named(given.option, [&] {
                if (const auto *whole = std::get_if<int64_t>(&given.value)) s_.set_int(given.key, *whole);
                else s_.set_real(given.key, std::get<double>(given.value));
            });
        std::vector<Real> values(static_cast<std::size_t>(cut_.n()));
        problem_->start(cut_.first(), cut_.n(), values.data());
        x_.write(0, values.data(), cut_.n());
        if (problem_->bounded()) {
            problem_->lower(cut_.first(), cut_.n(), values.data());
            lower_.write(0, values.data(), cut_.n());
            problem_->upper(cut_.first(), cut_.n(), values.data());
            upper_.write(0, values.data(), cut_.n());
            s_.set_bounds(options_.lower ? nullptr : lower_.data(), options_.upper ? nullptr : upper_.data());
        }
        s_.set_uniform_bounds(static_cast<Real>(options_.lower.value_or(-INFINITY)),
                              static_cast<Real>(options_.upper.value_or(INFINITY)));
    }

    // Performs the solve and returns the exit status of the program.
    int run() {
        const bool prints = cut_.rank == 0;
        Progress progress(false);
        ManualLog log(options_, progress);
        if (prints) log.attach(s_);
        const Interrupt interrupt(s_);
        const auto start = std::chrono::steady_clock::now();
        Effort effort;
        effort.bounded = problem_->bounded() || options_.lower || options_.upper;
        int task;
        do {
            const auto call = std::chrono::steady_clock::now();
            // The all-gathers that a call of solve() requests count as part of that call.
            do {
                task = s_.solve(x_.data(), f_.data(), g_.data());
                if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_mpi(s_, MPI_COMM_WORLD);
            } while (task == CUDA_OPT_EXCHANGE);
            effort.searches.observe(s_, task, seconds_since(call));
            if (effort.solver_calls++ == 0 && prints && task > 0) log.head(s_, *problem_);
            if (task == CUDA_OPT_EVALUATE_FG) {
                const auto begin = std::chrono::steady_clock::now();
                evaluation_->evaluate(x_.data(), f_.data(), g_.data());
                effort.evaluation_seconds += seconds_since(begin);
                effort.evaluations++;
            }
        } while (task > 0);
        effort.seconds = seconds_since(start);
        effort.iterations = s_.get_int(CUDA_OPT_ITERATIONS);
        effort.solver_seconds = s_.get_real(CUDA_OPT_SOLVER_SECONDS);
        // If there was no evaluation, the solver has rejected the input, and check() throws.
        if (effort.evaluations == 0) s_.check(task);
        if (prints) {
            log.summary(s_, *problem_, effort);
            log.check_written();
            if (task != CUDA_OPT_CONVERGED) std::fprintf(stderr, "driver_program_mpi: %s\n", s_.message());
        }
        return task == CUDA_OPT_CONVERGED ? 0 : exit_failed;
    }

  private:
    bool on_cuda() const { return options_.backend == CUDA_OPT_BACKEND_CUDA; }

    const Options options_;
    const std::unique_ptr<cudaopt::testfuncs::Problem> problem_;
    const RankCut cut_;
    cudaopt::Minimiser<Real> s_;
    const std::unique_ptr<RankProblem<Real>> evaluation_;
    cudaopt::Array<Real> x_, g_, lower_, upper_;
    cudaopt::Array<double> f_;
};

// Reads the command line and returns the function that performs the solve, to be called once all ranks are ready. The
// function is empty if an option such as --help was given and has been handled.
std::function<int()> prepare(int argc, char **argv, int rank, int ranks, int on_machine) {
    std::optional<Options> options = parse_options(argc, argv);
    if (!options) return {};
    refuse_unserved(*options);
    // The default is one thread per rank, because a machine usually runs several ranks.
    if (options->threads == 0) options->threads = 1;
    if (options->backend == CUDA_OPT_BACKEND_CUDA) choose_device(on_machine);
    std::unique_ptr<cudaopt::testfuncs::Problem> problem;
    try {
        problem = cudaopt::testfuncs::make_problem(options->problem, options->n, options->parameters);
    } catch (const std::invalid_argument &refusal) {
        throw Failure(exit_usage, std::string(refusal.what()) + " (see --list)");
    }
    const RankCut cut = cut_at_segments(problem->n(), rank, ranks);
    const auto ready = [&](auto real) -> std::function<int()> {
        const auto solve = std::make_shared<RankSolve<decltype(real)>>(*options, std::move(problem), cut);
        return [solve] { return solve->run(); };
    };
    return options->single ? ready(float{}) : ready(double{});
}

// The result of an action: its exit status and, if it threw an exception, the exception's message.
struct Outcome {
    int status = 0;
    // The message of the exception that the action threw. It is empty if the action threw none.
    std::string sentence;
};
template <class Action> Outcome attempt(const Action &action) {
    try {
        return {action(), ""};
    } catch (const Failure &failure) {
        return {failure.status, failure.what()};
    } catch (const cudaopt::Error &failure) {
        return {failure.code() == CUDA_OPT_IMPROPER_INPUT ? exit_usage : exit_failed, failure.what()};
    } catch (const std::exception &failure) {
        return {exit_failed, failure.what()};
    }
}

// Compares the outcomes of all ranks. If some have failed, this prints the message of the lowest of them and returns
// its status on all ranks; otherwise it returns 0. All ranks must call this function (it is a collective operation).
int status_of_all(const Outcome &own, int rank, int ranks) {
    const int mine = own.sentence.empty() ? ranks : rank;
    int failed, status = own.status;
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (failed == ranks) return 0;
    MPI_Bcast(&status, 1, MPI_INT, failed, MPI_COMM_WORLD);
    if (rank == failed) std::fprintf(stderr, "driver_program_mpi: %s\n", own.sentence.c_str());
    return status;
}

// Runs the program on one rank and returns the exit status.
//
// Before the solve the ranks agree that all of them are ready, so that no rank waits for a rank that has failed. During
// the solve the library reports a failure to all ranks. An exception on one rank only during the solve aborts the
// program.
int run(int argc, char **argv, int rank, int ranks) {
    const int on_machine = rank_on_machine();
    std::function<int()> solve;
    const Outcome prepared = attempt([&] {
        solve = prepare(argc, argv, rank, ranks, on_machine);
        return 0;
    });
    if (const int status = status_of_all(prepared, rank, ranks)) return status;
    if (!solve) return 0;
    const Outcome outcome = attempt(solve);
    if (outcome.sentence.empty()) return outcome.status;
    // The status exit_usage means that all ranks have rejected the same input, when they first exchanged data. Then
    // only rank 0 prints the message, and no rank has to be aborted.
    const bool on_all_alike = outcome.status == exit_usage;
    if (rank == 0 || !on_all_alike)
        std::fprintf(stderr, "driver_program_mpi: rank %d: %s\n", rank, outcome.sentence.c_str());
    if (!on_all_alike) MPI_Abort(MPI_COMM_WORLD, outcome.status);
    return outcome.status;
}

} // namespace
} // namespace driver

int main(int argc, char **argv) {
    driver::open_standard_descriptors();
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int status = driver::run(argc, argv, rank, ranks);
    MPI_Finalize();
    return status;
}
