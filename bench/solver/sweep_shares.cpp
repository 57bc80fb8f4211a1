// Figure 3 of the 2013 manual, the share of each kernel in the time of a solve: of each sweep over the variables, of
// the rest of the solver and of f and g. Unlike the solver, this program synchronises after each sweep.
//
//     bench_sweep_shares [--n 1e6] [--m 7] [--problem rosenbrock,torsion] [--iterations 40] [--csv FILE]
#include <map>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stopwatch.hpp"
#include "cuda_opt.h"
#include "solver/solver.hpp"
#include "sweeps/backend.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;

namespace {

struct Part {
    int64_t calls = 0;
    double seconds = 0;
};

// The backend's sweeps, each timed by itself.
class TimedSweeps final : public Sweeps {
  public:
    TimedSweeps(std::unique_ptr<Sweeps> sweeps, MemorySpace &memory, std::map<std::string, Part> &parts)
        : sweeps_(std::move(sweeps)), memory_(memory), parts_(parts) {}

    void bind(const UserArrays &arrays) override { sweeps_->bind(arrays); }
    void allocate(int m, const BackendOptions &options) override { sweeps_->allocate(m, options); }
    int64_t workspace_bytes() const override { return sweeps_->workspace_bytes(); }
    StartReport check_start() override {
        return timed("others", [&] { return sweeps_->check_start(); });
    }
    void move_into_box() override {
        timed("others", [&] { return sweeps_->move_into_box(), 0; });
    }
    const PanelProducts &inner_products(const ProductsRequest &request) override {
        const PanelProducts *sums = nullptr;
        timed("inner products (sweep 1)", [&] { return sums = &sweeps_->inner_products(request); });
        return *sums;
    }
    bool forms_free_changes() const override { return sweeps_->forms_free_changes(); }
    void direction(const DirectionRequest &request) override {
        timed("direction (sweep 2)", [&] { return sweeps_->direction(request), 0; });
    }
    DirectionSums direction_sums() override { return sweeps_->direction_sums(); }
    bool direction_sums_at_hand() const override { return sweeps_->direction_sums_at_hand(); }
    double truncation(const DirectionRequest &request) override {
        return timed("others", [&] { return sweeps_->truncation(request); });
    }
    CrossedWindow crossed(const PanelRequest &request, double lo, double hi) override {
        return timed("breakpoints", [&] { return sweeps_->crossed(request, lo, hi); });
    }
    void step(int slot, double step) override {
        timed("trial points", [&] { return sweeps_->step(slot, step), 0; });
    }
    double largest_step(int slot) override {
        return timed("others", [&] { return sweeps_->largest_step(slot); });
    }
    void restore(int slot, double f) override {
        timed("others", [&] { return sweeps_->restore(slot, f), 0; });
    }
    void save_best(int slot) override {
        timed("others", [&] { return sweeps_->save_best(slot), 0; });
    }
    void save_trial() override {
        timed("others", [&] { return sweeps_->save_trial(), 0; });
    }
    void restore_best(double f) override {
        timed("others", [&] { return sweeps_->restore_best(f), 0; });
    }
    void finish_pair(int slot) override {
        timed("others", [&] { return sweeps_->finish_pair(slot), 0; });
    }
    void fetch(const HeldVector &which, void *to_host) override { sweeps_->fetch(which, to_host); }
    void store(const HeldVector &which, const void *from_host) override { sweeps_->store(which, from_host); }
    int64_t bytes_of(const HeldVector &which) const override { return sweeps_->bytes_of(which); }
    double norm(const NormRequest &request) override { return sweeps_->norm(request); }
    void remove_infinite_slopes() override { sweeps_->remove_infinite_slopes(); }
    int64_t bad_diagonal() override { return sweeps_->bad_diagonal(); }
    void read(const void *vector, int64_t begin, int count, double *to) override {
        sweeps_->read(vector, begin, count, to);
    }
    void begin_call() override { sweeps_->begin_call(); }
    void end_call() override { sweeps_->end_call(); }

  private:
    template <class Work> auto timed(const char *name, const Work &work) -> decltype(work()) {
        memory_.synchronize(nullptr);
        const Stopwatch watch;
        const auto result = work();
        memory_.synchronize(nullptr);
        Part &part = parts_[name];
        part.calls++;
        part.seconds += watch.seconds();
        return result;
    }

    const std::unique_ptr<Sweeps> sweeps_;
    MemorySpace &memory_;
    std::map<std::string, Part> &parts_;
};

// What the Solver's maker of sweeps, a function, finds them by.
MemorySpace *memory_of_solve = nullptr;
std::map<std::string, Part> *parts_of_solve = nullptr;

std::unique_ptr<Sweeps> make_timed_sweeps(int backend, int64_t n, int history_bits, int device) {
    return std::make_unique<TimedSweeps>(make_sweeps<double>(backend, n, history_bits, device), *memory_of_solve,
                                         *parts_of_solve);
}

struct Measured {
    std::map<std::string, Part> parts;
    double seconds = 0;
    int64_t iterations = 0;
};

Measured measure(const std::string &name, int64_t n, int m, int iterations, bool cuda, int threads) {
    const auto problem = testfuncs::make_problem(name, n);
    n = problem->n();
    const auto memory = cuda ? make_cuda_memory() : make_host_memory();
    std::vector<void *> arrays;
    const auto array = [&](int64_t count) {
        arrays.push_back(memory->allocate(static_cast<std::size_t>(count) * sizeof(double)));
        return static_cast<double *>(arrays.back());
    };
    std::vector<double> staged(static_cast<std::size_t>(n));
    const auto copy_in = [&](double *to) {
        memory->copy_in(to, staged.data(), staged.size() * sizeof(double), nullptr);
        return to;
    };
    Measured measured;
    memory_of_solve = memory.get();
    parts_of_solve = &measured.parts;
    {
        UserArrays user{};
        problem->start(0, n, staged.data());
        double *const x = copy_in(array(n)), *const g = array(n), *const f = array(1);
        user.x = x;
        user.g = g;
        user.f = f;
        if (problem->bounded()) {
            problem->lower(0, n, staged.data());
            user.lower = copy_in(array(n));
            problem->upper(0, n, staged.data());
            user.upper = copy_in(array(n));
        }
        Solver solver(n, m, 64, cuda ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST, memory->device(),
                      make_timed_sweeps);
        solver.arrays = user;
        solver.settings().eps = 0;
        solver.settings().max_iterations = iterations;
        solver.settings().threads = threads;
        testfuncs::Place place;
        place.space = cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host;
        place.threads = threads;
        Stopwatch watch;
        while (solver.resume() == CUDA_OPT_EVALUATE_FG) {
            if (solver.results().evaluations <= 1) { // what the first uses of kernels take is in none
                problem->evaluate(x, f, g, place);
                memory->synchronize(nullptr);
                measured.parts.clear();
                watch = Stopwatch();
                continue;
            }
            const Stopwatch of_evaluation;
            problem->evaluate(x, f, g, place);
            memory->synchronize(nullptr);
            Part &part = measured.parts["f and g"];
            part.calls++;
            part.seconds += of_evaluation.seconds();
        }
        measured.seconds = watch.seconds();
        measured.iterations = solver.results().iterations;
    }
    for (void *memory_of_array : arrays) memory->release(memory_of_array);
    double told = 0;
    for (const auto &[part, numbers] : measured.parts) told += numbers.seconds;
    measured.parts["scalars, on the host"] = {measured.iterations, measured.seconds - told};
    return measured;
}

} // namespace

int main(int argc, char **argv) {
    double n = 1e6;
    int m = 7, iterations = 40, threads = 0;
    std::vector<std::string> problems = {"rosenbrock", "torsion"};
    std::string backend = "auto";
    CLI::App app("The shares of the sweeps in the time of a solve");
    app.add_option("--n", n, "number of variables")->check(is_size);
    app.add_option("--m", m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--problem", problems, "problems of driver_program --list, in their own bounds")->delimiter(',');
    app.add_option("--iterations", iterations, "of each solve")->check(CLI::Range(2, 1000000));
    app.add_option("--threads", threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    const Files files(app);
    return run_program(app, "bench_sweep_shares", argc, argv, [&] {
        const char *const unavailable = cuda_unavailable();
        if (backend == "cuda" && unavailable) throw std::runtime_error(unavailable);
        const bool cuda = backend != "host" && !unavailable;
        for (const std::string &problem : problems)
            testfuncs::make_problem(problem, static_cast<int64_t>(n)); // refuse early
        Output csv(files.csv);
        const std::string where = machine(), on = cuda ? "CUDA" : "host";
        std::printf(
            "The time of a solve by its parts, n = %.0f, m = %d, own bounds, double precision, %s backend\n%s\n", n, m,
            on.c_str(), where.c_str());
        csv.write("problem,n,m,backend,iterations,part,calls,milliseconds,share,machine\n");
        for (const std::string &problem : problems) {
            const Measured measured = measure(problem, static_cast<int64_t>(n), m, iterations, cuda, threads);
            std::printf("\n%s, %lld iterations, %.3f ms\n%-26s %8s %12s %10s %8s\n", problem.c_str(),
                        static_cast<long long>(measured.iterations), 1e3 * measured.seconds, "part", "calls", "ms",
                        "ms each", "share");
            for (const auto &[part, numbers] : measured.parts) {
                const double share = numbers.seconds / measured.seconds;
                std::printf("%-26s %8lld %12.3f %10.4f %7.1f%%\n", part.c_str(), static_cast<long long>(numbers.calls),
                            1e3 * numbers.seconds, 1e3 * numbers.seconds / static_cast<double>(numbers.calls),
                            100 * share);
                csv.write(csv_row(problem, static_cast<int64_t>(n), static_cast<int64_t>(m), on, measured.iterations,
                                  part, numbers.calls, 1e3 * numbers.seconds, share, where));
            }
        }
        std::printf(
            "\nWall time from the second evaluation on, each sweep and evaluation waited for before the next: the "
            "solver "
            "itself queues sweep 2 and\nthe evaluation, and waits once an iteration. The manual's figure 3 has its "
            "kernels' shares: the most expensive are cuBLAS's ddot and\ndaxpy, which are one sweep each here, for all "
            "pairs together.\n");
    });
}
