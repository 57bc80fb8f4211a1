#include "solver_run.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cuda_opt.h"
#include "testfuncs/problem.hpp"

namespace cudaopt::bench {

namespace {

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

// Arrays in the handle's memory space, freed before the handle.
class Arrays {
  public:
    explicit Arrays(const Handle &handle) : handle_(handle) {}
    ~Arrays() {
        for (void *array : arrays_) cuda_opt_free(handle_.s, array);
    }
    void *allocate(std::int64_t bytes) {
        void *array = nullptr;
        handle_.check(cuda_opt_alloc(handle_.s, &array, bytes));
        arrays_.push_back(array);
        return array;
    }

  private:
    const Handle &handle_;
    std::vector<void *> arrays_;
};

template <class Real> RunResult run(const RunOptions &options) {
    const auto problem = testfuncs::make_problem(options.problem, options.n);
    RunResult result;
    const std::int64_t n = result.n = problem->n();
    result.element_bytes = sizeof(Real);
    result.bounded =
        options.own_bounds ? problem->bounded() : std::isfinite(options.lower) || std::isfinite(options.upper);
    Handle h;
    h.check(Abi<Real>::create(&h.s, n, options.m, backend_number(options.backend)));
    result.cuda = cuda_opt_backend(h.s) == CUDA_OPT_BACKEND_CUDA;
    Arrays arrays(h);
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Real));
    Real *const x = static_cast<Real *>(arrays.allocate(bytes)), *const g = static_cast<Real *>(arrays.allocate(bytes));
    double *const f = static_cast<double *>(arrays.allocate(sizeof(double)));
    std::vector<Real> staged(static_cast<std::size_t>(n));
    problem->start(0, n, staged.data());
    h.check(cuda_opt_copy_in(h.s, x, staged.data(), bytes));
    if (result.bounded) {
        Real *bounds[2];
        for (const int upper : {0, 1}) {
            bounds[upper] = static_cast<Real *>(arrays.allocate(bytes));
            std::fill(staged.begin(), staged.end(), static_cast<Real>(upper ? options.upper : options.lower));
            if (options.own_bounds) upper ? problem->upper(0, n, staged.data()) : problem->lower(0, n, staged.data());
            h.check(cuda_opt_copy_in(h.s, bounds[upper], staged.data(), bytes));
        }
        h.check(Abi<Real>::set_bounds(h.s, bounds[0], bounds[1]));
    }
    h.check(cuda_opt_set_real(h.s, CUDA_OPT_EPS, 0));
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_THREADS, options.threads));
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_APPROXIMATE_CAUCHY, options.approximate_cauchy));
    h.check(cuda_opt_set_int(h.s, CUDA_OPT_MAX_ITERATIONS, options.m + 2 + options.iterations));
    const testfuncs::Place place{result.cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host,
                                 options.threads, nullptr};

    std::unique_ptr<Reading> full;
    while (Abi<Real>::solve(h.s, x, f, g) > 0) {
        problem->evaluate(x, f, g, place);
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
