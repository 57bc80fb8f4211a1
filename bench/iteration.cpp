// Time of an iteration inside the solver, against the bytes that it has to move and the machine's own copy rate,
// measured in the same run:
//
//     bench_iteration --n 4000000 --m 5 --problem rosenbrock --lower -3 --upper 3 [--precision single] [--backend cuda]
//
// Counted bytes of an iteration with a full memory whose first step is accepted, in n-vectors: sweep 1 reads x, g
// (l, u) and 2m columns; sweep 2 reads the same and writes d, g_base, x_base, x and y: 4m + 13 with bounds, 4m + 9
// without. Each further evaluation of a line search costs another sweep 1 and a step (x_base, d (l, u), x).
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "copy_rate.hpp"
#include "cuda_opt.h"
#include "testfuncs/problem.hpp"

using namespace cudaopt;

namespace {

struct Options {
    std::int64_t n = 1000000;
    int m = 5, iterations = 50, threads = 0;
    std::string problem = "rosenbrock", backend = "auto", precision = "double";
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
    bool own_bounds = false, header = false;
};

template <class Real> struct Abi;
template <> struct Abi<double> {
    static constexpr auto create = cuda_opt_create;
    static constexpr auto set_bounds = cuda_opt_set_bounds;
    static constexpr auto solve = cuda_opt_solve;
};
template <> struct Abi<float> {
    static constexpr auto create = cuda_opt_create_f32;
    static constexpr auto set_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto solve = cuda_opt_solve_f32;
};

struct Handle {
    cuda_opt *s = nullptr;
    ~Handle() { cuda_opt_destroy(&s); }
    void check(int code) const {
        if (code < 0) throw std::runtime_error(cuda_opt_message(s));
    }
    std::int64_t count(int key) const {
        std::int64_t value = 0;
        cuda_opt_get_int(s, key, &value);
        return value;
    }
    double real(int key) const {
        double value = 0;
        cuda_opt_get_real(s, key, &value);
        return value;
    }
};

struct Reading {
    std::int64_t iterations, evaluations, crossings;
    double seconds;
    explicit Reading(const Handle &h)
        : iterations(h.count(CUDA_OPT_ITERATIONS)), evaluations(h.count(CUDA_OPT_EVALUATIONS)),
          crossings(h.count(CUDA_OPT_CAUCHY_CROSSINGS)), seconds(h.real(CUDA_OPT_SOLVER_SECONDS)) {}
};

int backend_number(const std::string &name) {
    return name == "cuda" ? CUDA_OPT_BACKEND_CUDA : name == "host" ? CUDA_OPT_BACKEND_HOST : CUDA_OPT_BACKEND_AUTO;
}

template <class Real> void run(const Options &options) {
    const auto problem = testfuncs::make_problem(options.problem, options.n);
    const std::int64_t n = problem->n();
    const bool bounded = options.own_bounds || std::isfinite(options.lower) || std::isfinite(options.upper);
    Handle h;
    h.check(Abi<Real>::create(&h.s, n, options.m, backend_number(options.backend)));
    const bool cuda = cuda_opt_backend(h.s) == CUDA_OPT_BACKEND_CUDA;
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Real));

    void *x, *g, *l = nullptr, *u = nullptr, *f;
    std::vector<Real> staged(static_cast<std::size_t>(n));
    for (void **vector : {&x, &g}) h.check(cuda_opt_alloc(h.s, vector, bytes));
    h.check(cuda_opt_alloc(h.s, &f, sizeof(double)));
    problem->start(0, n, staged.data());
    h.check(cuda_opt_copy_in(h.s, x, staged.data(), bytes));
    if (bounded) {
        for (const bool upper : {false, true}) {
            void *&vector = upper ? u : l;
            h.check(cuda_opt_alloc(h.s, &vector, bytes));
            std::fill(staged.begin(), staged.end(), static_cast<Real>(upper ? options.upper : options.lower));
            if (options.own_bounds) upper ? problem->upper(0, n, staged.data()) : problem->lower(0, n, staged.data());
            h.check(cuda_opt_copy_in(h.s, vector, staged.data(), bytes));
        }
        h.check(Abi<Real>::set_bounds(h.s, static_cast<Real *>(l), static_cast<Real *>(u)));
    }
    h.check(cuda_opt_set_real(h.s, CUDA_OPT_EPS, 0));
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_THREADS, options.threads));
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_MAX_ITERATIONS, options.m + 2 + options.iterations));
    const testfuncs::Place place{cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host, options.threads,
                                 nullptr};

    // The first iterations fill the memory and are not counted.
    std::unique_ptr<Reading> full;
    int task;
    const auto x_values = static_cast<Real *>(x), gradient = static_cast<Real *>(g);
    const auto value = static_cast<double *>(f);
    while ((task = Abi<Real>::solve(h.s, x_values, value, gradient)) > 0) {
        problem->evaluate(x_values, value, gradient, place);
        if (!full && h.count(CUDA_OPT_ITERATIONS) >= options.m + 2) full = std::make_unique<Reading>(h);
    }
    const Reading last(h);
    const double copied = bench::copy_rate(std::max<std::int64_t>(bytes, 1 << 28), cuda, options.threads);
    for (void *vector : {x, g, l, u, f}) cuda_opt_free(h.s, vector);
    if (!full)
        throw std::runtime_error(std::string("the solve ended before the memory was full: ") + cuda_opt_message(h.s));

    const double iterations = static_cast<double>(last.iterations - full->iterations);
    const double further = static_cast<double>(last.evaluations - full->evaluations) - iterations;
    const double size = static_cast<double>(bytes), m = options.m;
    const double counted =
        size * (4 * m + (bounded ? 13 : 9) + further / iterations * (2 * m + (bounded ? 4 + 5 : 2 + 3)));
    const double seconds = (last.seconds - full->seconds) / iterations;
    const double floor = (4 * m + 14) * size / copied;
    if (options.header)
        std::printf("%-14s %-5s %-6s %-7s %10s %3s %5s %6s %6s %10s %8s %8s %7s %7s\n", "problem", "where", "real",
                    "bounds", "n", "m", "iter", "evals", "cross", "ms/iter", "GB/iter", "GB/s", "of copy", "x floor");
    std::printf("%-14s %-5s %-6s %-7s %10lld %3d %5.0f %6.0f %6lld %10.5f %8.4f %8.1f %6.1f%% %7.3f\n",
                options.problem.c_str(), cuda ? "cuda" : "host", options.precision.c_str(), bounded ? "yes" : "no",
                static_cast<long long>(n), options.m, iterations, iterations + further,
                static_cast<long long>(last.crossings - full->crossings), 1e3 * seconds, 1e-9 * counted,
                1e-9 * counted / seconds, 100 * counted / seconds / copied, seconds / floor);
}

} // namespace

int main(int argc, char **argv) {
    Options o;
    CLI::App app("Time of a solver iteration against the bytes it has to move");
    app.add_option("--n", o.n, "variables")->check(CLI::PositiveNumber);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::PositiveNumber);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations to count")->check(CLI::PositiveNumber);
    app.add_option("--threads", o.threads, "host threads; 0: all");
    app.add_option("--lower", o.lower, "lower bound of every variable");
    app.add_option("--upper", o.upper, "upper bound of every variable");
    app.add_flag("--own-bounds", o.own_bounds, "the problem's own bounds");
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--precision", o.precision, "storage")->check(CLI::IsMember({"double", "single"}));
    app.add_flag("--header", o.header, "print the table's head first");
    CLI11_PARSE(app, argc, argv);
    try {
        o.precision == "double" ? run<double>(o) : run<float>(o);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench_iteration: %s\n", error.what());
        return 1;
    }
}
