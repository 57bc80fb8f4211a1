// Compares cuda_opt.hpp with the C interface: bitwise identical results in both precisions, exceptions with the codes
// and messages of the handle, and ownership that a move transfers.
#include <cuda_opt.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

static int failures = 0;

static void expect(bool holds, const char *what) {
    if (!holds) std::printf("does not hold: %s\n", what);
    failures += !holds;
}

// Returns the code of the Error that action throws, or 0 if it throws none.
template <class Action> static int code_of(const Action &action, std::string *sentence = nullptr) {
    try {
        action();
        return 0;
    } catch (const cudaopt::Error &e) {
        if (sentence) *sentence = e.what();
        return e.code();
    }
}

static const int64_t n = 100;

// f = sum (i + 1) (x_i - 1)^2 / 2
template <class Real> static void evaluate(const Real *x, double *f, Real *g) {
    *f = 0;
    for (int64_t i = 0; i < n; i++) {
        g[i] = static_cast<Real>(i + 1) * (x[i] - 1);
        *f += 0.5 * double(g[i]) * double(x[i] - 1);
    }
}

template <class Real, class Create, class SetBounds, class Solve>
static std::vector<Real> by_the_c_interface(Create create, SetBounds set_bounds, Solve solve) {
    std::vector<Real> x(n), g(n), lower(n, -1), upper(n, Real(0.75));
    double f = 0;
    cuda_opt *s = nullptr;
    create(&s, n, 5, CUDA_OPT_BACKEND_HOST);
    set_bounds(s, lower.data(), upper.data());
    while (solve(s, x.data(), &f, g.data()) > 0) evaluate(x.data(), &f, g.data());
    cuda_opt_destroy(&s);
    return x;
}

// Solves with bounds in arrays or as two numbers.
template <class Real> static std::vector<Real> by_the_cpp_interface(bool uniform = false) {
    cudaopt::Minimiser<Real> s(n, 5, CUDA_OPT_BACKEND_HOST);
    cudaopt::Array<Real> x(s, n), g(s, n), lower(s, std::vector<Real>(n, -1)), upper(s, n);
    cudaopt::Array<double> f(s, 1);
    const std::vector<Real> half(n / 2, Real(0.75)), start(n, 0);
    upper.write(0, half.data(), n / 2);
    upper.write(n / 2, half.data(), n / 2);
    x.write(0, start.data(), n);
    if (uniform) s.set_uniform_bounds(-1, Real(0.75));
    else s.set_bounds(lower, upper);

    // The moved handle is the same handle, so arrays that were created with the old object can be used with the new
    // one.
    cudaopt::Minimiser<Real> moved(std::move(s));
    while (moved.solve(x, f, g) > 0) evaluate(x.data(), f.data(), g.data());
    expect(moved.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_PGTOL, "the solve converged");
    expect(moved.get_int(CUDA_OPT_UPPER_COUNT) == n, "all variables are at their upper bounds");
    const cudaopt::Array<Real> taken(std::move(x));
    return taken.to_host();
}

static const int64_t problems = 7, variables = 4;

// f = sum (i + p + 1) (x_i - p / 4)^2 / 2
template <class Real> static double evaluate_problem(int64_t p, const Real *x, Real *g) {
    double f = 0;
    for (int64_t i = 0; i < variables; i++) {
        const Real way = x[i] - Real(p) / 4;
        g[i] = static_cast<Real>(i + p + 1) * way;
        f += 0.5 * double(g[i]) * double(way);
    }
    return f;
}

// Returns x and then f of a batch in which p / 10 is the lower bound of problem p.
template <class Real, class Create, class SetBounds, class Solve>
static std::vector<double> batch_by_the_c_interface(Create create, SetBounds set_bounds, Solve solve) {
    std::vector<Real> x(problems * variables, 2), g(x.size()), lower(x.size());
    std::vector<double> f(problems);
    for (std::size_t k = 0; k < lower.size(); k++) lower[k] = static_cast<Real>(k / variables) / 10;
    cuda_opt *s = nullptr;
    create(&s, variables, problems, 5, CUDA_OPT_BACKEND_HOST);
    set_bounds(s, lower.data(), nullptr);
    while (solve(s, x.data(), f.data(), g.data()) > 0) {
        int64_t active = 0;
        cuda_opt_get_int(s, CUDA_OPT_BATCH, &active);
        const int64_t *const list = cuda_opt_batch_active(s);
        for (int64_t k = 0; k < active; k++)
            f[list[k]] = evaluate_problem(list[k], &x[list[k] * variables], &g[list[k] * variables]);
    }
    cuda_opt_destroy(&s);
    std::vector<double> all(x.begin(), x.end());
    all.insert(all.end(), f.begin(), f.end());
    return all;
}

template <class Real> static std::vector<double> batch_by_the_cpp_interface() {
    cudaopt::Batch<Real> s(variables, problems, 5, CUDA_OPT_BACKEND_HOST);
    cudaopt::Array<Real> x(s, std::vector<Real>(problems * variables, 2)), g(s, x.size()), lower(s, x.size()),
        upper(s, std::vector<Real>(problems * variables, INFINITY));
    cudaopt::Array<double> f(s, problems);
    for (int64_t k = 0; k < lower.size(); k++) lower.data()[k] = static_cast<Real>(k / variables) / 10;
    s.set_bounds_of_each(lower, upper);
    expect(s.count() == problems && s.dimension() == variables && s.active() == 0,
           "the handle returns the size of the batch");
    expect(code_of([&] { s.integers(CUDA_OPT_ITERATIONS); }) == CUDA_OPT_MISUSE,
           "results before the start are refused");

    cudaopt::Batch<Real> moved(std::move(s));
    while (moved.solve(x, f, g) > 0) {
        const int64_t *const list = moved.active_problems();
        for (int64_t k = 0; k < moved.active(); k++)
            f.data()[list[k]] =
                evaluate_problem(list[k], x.data() + list[k] * variables, g.data() + list[k] * variables);
    }
    expect(moved.integers(CUDA_OPT_BATCH_CODE) == std::vector<int64_t>(problems, 0), "all problems have converged");
    expect(moved.reals(CUDA_OPT_F) == f.to_host(), "the result f is that in the array");
    expect(std::string(moved.message_of(3)).find("converged") == 0, "a problem has a message");
    expect(std::string(moved.message_of(7)).find("no problem 7") != std::string::npos, "problem 7 of 7 is refused");
    expect(code_of([&] { moved.reals(CUDA_OPT_ITERATIONS); }) == CUDA_OPT_IMPROPER_INPUT,
           "an integer result is not real");
    expect(code_of([&] { moved.save(); }) == CUDA_OPT_MISUSE, "save() of a batch is refused");
    const std::vector<Real> found = x.to_host();
    std::vector<double> all(found.begin(), found.end());
    for (const double value : f.to_host()) all.push_back(value);

    x.write(0, std::vector<Real>(problems * variables, 2).data(), x.size());
    moved.reset();
    moved.set_uniform_bounds(-1, 1);
    moved.set_bounds(nullptr, nullptr);
    expect(moved.solve(x, f, g) == CUDA_OPT_EVALUATE_BATCH && x.to_host()[3 * variables] == 1,
           "bounds may be the same for all problems");
    return all;
}

int main() {
    using cudaopt::Minimiser;
    static_assert(!std::is_copy_constructible_v<Minimiser<double>> && !std::is_copy_assignable_v<Minimiser<double>>);
    static_assert(std::is_nothrow_move_constructible_v<Minimiser<double>>);
    static_assert(!std::is_copy_constructible_v<cudaopt::Array<float>>);

    expect(by_the_cpp_interface<double>() ==
               by_the_c_interface<double>(cuda_opt_create, cuda_opt_set_bounds, cuda_opt_solve),
           "double: the bits of the C interface");
    expect(by_the_cpp_interface<float>() ==
               by_the_c_interface<float>(cuda_opt_create_f32, cuda_opt_set_bounds_f32, cuda_opt_solve_f32),
           "float: the bits of the C interface");

    expect(by_the_cpp_interface<double>(true) == by_the_cpp_interface<double>() &&
               by_the_cpp_interface<float>(true) == by_the_cpp_interface<float>(),
           "bounds as two numbers give the bits of arrays");

    static_assert(!std::is_copy_constructible_v<cudaopt::Batch<double>>);
    static_assert(std::is_nothrow_move_constructible_v<cudaopt::Batch<float>>);
    expect(batch_by_the_cpp_interface<double>() ==
               batch_by_the_c_interface<double>(cuda_opt_create_batch, cuda_opt_batch_set_bounds, cuda_opt_batch_solve),
           "double: the bits of a batch of the C interface");
    expect(batch_by_the_cpp_interface<float>() == batch_by_the_c_interface<float>(cuda_opt_create_batch_f32,
                                                                                  cuda_opt_batch_set_bounds_f32,
                                                                                  cuda_opt_batch_solve_f32),
           "float: the bits of a batch of the C interface");
    expect(code_of([] { cudaopt::Batch<double>(3, 0, 5); }) == CUDA_OPT_IMPROPER_INPUT, "no problems are refused");

    std::string sentence;
    expect(code_of([] { Minimiser<double>(0, 5); }, &sentence) == CUDA_OPT_IMPROPER_INPUT, "n = 0 is refused");
    expect(sentence.find("n") != std::string::npos && sentence.find('0') != std::string::npos,
           "the message contains n and 0");

    Minimiser<double> s(n, 5, CUDA_OPT_BACKEND_HOST);
    expect(!s.on_cuda() && s.dimension() == n, "the handle returns its backend and size");
    expect(s.get_int(CUDA_OPT_PRECISION) == 64 && Minimiser<float>(1, 1).get_int(CUDA_OPT_PRECISION) == 32,
           "the precision is that of the template argument");
    s.set_real(CUDA_OPT_EPS, 1e-3).set_int(CUDA_OPT_MAXFEV, 7);
    expect(s.get_real(CUDA_OPT_EPS) == 1e-3 && s.get_int(CUDA_OPT_MAXFEV) == 7, "settings are kept");
    expect(code_of([&] { s.set_real(CUDA_OPT_GTOL, 2); }, &sentence) == CUDA_OPT_IMPROPER_INPUT, "gtol = 2 is refused");
    expect(sentence == cuda_opt_message(s), "the exception has the message of the handle");
    expect(code_of([&] { s.set_uniform_bounds(2, 1); }) == CUDA_OPT_IMPROPER_INPUT, "crossed bounds are refused");
    expect(code_of([&] { s.get_int(-1); }) == CUDA_OPT_IMPROPER_INPUT, "an unknown key is refused");
    expect(s.solve(nullptr, nullptr, nullptr) == CUDA_OPT_MISUSE, "solve() returns return codes");
    expect(code_of([&] { s.check(CUDA_OPT_ITERATION_LIMIT); }) == CUDA_OPT_ITERATION_LIMIT, "check() throws the code");
    expect(s.check(CUDA_OPT_NEW_ITERATE) == CUDA_OPT_NEW_ITERATE, "check() returns a task");

    cudaopt::Array<double> array(s, {1, 2, 3});
    const double five = 5;
    array.write(1, &five, 1);
    expect(array.to_host() == std::vector<double>{1, 5, 3}, "the written value is read again");
    expect(code_of([&] { array.write(3, &five, 1); }) == CUDA_OPT_IMPROPER_INPUT, "no value is written past the end");
    expect(code_of([&] { cudaopt::Array<double>(s, int64_t(1) << 62); }) == CUDA_OPT_OUT_OF_MEMORY,
           "a size beyond int64_t is out of memory");

    s.request_stop();
    std::vector<double> x(n), g(n);
    double f;
    expect(s.solve(x.data(), &f, g.data()) == CUDA_OPT_STOPPED, "request_stop() stops");
    expect(code_of([&] { s.reset(); }) == 0 && s.solve(x.data(), &f, g.data()) == CUDA_OPT_EVALUATE_FG,
           "reset() begins a new solve");

    std::printf("%d failures\n", failures);
    return failures != 0;
}
