// A test problem laid out for a solve through the C ABI: the handle, x, f, g and the bounds in its memory space.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_opt.h"
#include "solver_run.hpp"
#include "testfuncs/problem.hpp"

namespace cudaopt::bench {

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
    Handle() = default;
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
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

// Arrays in the handle's memory space, freed before the handle.
class Arrays {
  public:
    explicit Arrays(const Handle &handle) : handle_(handle) {}
    Arrays(const Arrays &) = delete;
    Arrays &operator=(const Arrays &) = delete;
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

inline int backend_number(const std::string &name) {
    return name == "cuda" ? CUDA_OPT_BACKEND_CUDA : name == "host" ? CUDA_OPT_BACKEND_HOST : CUDA_OPT_BACKEND_AUTO;
}

// Before the first call: the standard start is in x, the bounds are set, no stopping test is on but the limit of 2000
// iterations.
template <class Real> struct PreparedSolve {
    std::unique_ptr<testfuncs::Problem> problem;
    std::int64_t n = 0;
    Handle handle;
    Arrays arrays{handle};
    bool cuda = false, bounded = false;
    Real *x = nullptr, *g = nullptr;
    double *f = nullptr;
    testfuncs::Place place;

    explicit PreparedSolve(const RunOptions &options)
        : problem(testfuncs::make_problem(options.problem, options.n)), n(problem->n()) {
        bounded =
            options.own_bounds ? problem->bounded() : std::isfinite(options.lower) || std::isfinite(options.upper);
        handle.check(Abi<Real>::create(&handle.s, n, options.m, backend_number(options.backend)));
        cuda = cuda_opt_backend(handle.s) == CUDA_OPT_BACKEND_CUDA;
        place.space = cuda ? testfuncs::Place::Space::cuda : testfuncs::Place::Space::host;
        place.threads = options.threads;
        const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Real));
        x = static_cast<Real *>(arrays.allocate(bytes));
        g = static_cast<Real *>(arrays.allocate(bytes));
        f = static_cast<double *>(arrays.allocate(sizeof(double)));
        std::vector<Real> staged(static_cast<std::size_t>(n));
        problem->start(0, n, staged.data());
        handle.check(cuda_opt_copy_in(handle.s, x, staged.data(), bytes));
        if (bounded) {
            Real *bounds[2];
            for (const int upper : {0, 1}) {
                bounds[upper] = static_cast<Real *>(arrays.allocate(bytes));
                std::fill(staged.begin(), staged.end(), static_cast<Real>(upper ? options.upper : options.lower));
                if (options.own_bounds)
                    upper ? problem->upper(0, n, staged.data()) : problem->lower(0, n, staged.data());
                handle.check(cuda_opt_copy_in(handle.s, bounds[upper], staged.data(), bytes));
            }
            handle.check(Abi<Real>::set_bounds(handle.s, bounds[0], bounds[1]));
        }
        handle.check(cuda_opt_set_real(handle.s, CUDA_OPT_EPS, 0));
        handle.check(cuda_opt_set_int(handle.s, CUDA_OPT_THREADS, options.threads));
        handle.check(cuda_opt_set_int(handle.s, CUDA_OPT_APPROXIMATE_CAUCHY, options.approximate_cauchy));
    }

    int solve() { return Abi<Real>::solve(handle.s, x, f, g); }
    void evaluate() { problem->evaluate(x, f, g, place); }
};

} // namespace cudaopt::bench
