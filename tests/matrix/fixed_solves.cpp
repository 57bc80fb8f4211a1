// Prints a hash of the final x of 20 fixed solves, by which tools/matrix compares processors and compilers. f and g use
// additions, subtractions, multiplications, divisions and square roots only, and are compiled without contraction, so
// that they are bitwise equal on all processors. With --all, the hash of each solve is printed first, so that a
// difference can be located. An exception ends the program if a solve fails.
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_opt.hpp"

namespace {

using cudaopt::Minimiser;

// FNV-1a over the bytes of the values.
template <class T> uint64_t hash_of(const std::vector<T> &values) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const T &value : values) {
        unsigned char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
    }
    return hash;
}

// f is a sum of terms in two adjacent variables a = x_i and b = x_{i+1}. Each term adds to f and to its derivatives.
struct Term {
    double f, by_a, by_b;
};
Term quadratic(double a, double b, int i) {
    const double weight = 1 + i % 17 * 6.0, p = a - 0.1 * (i % 7), q = a - b;
    return {weight * p * p / 2 + q * q, weight * p + 2 * q, -2 * q};
}
Term rosenbrock(double a, double b, int) {
    const double p = b - a * a, q = 1 - a;
    return {100 * p * p + q * q, -400 * p * a - 2 * q, 200 * p};
}
Term minimal_curve(double a, double b, int i) {
    const double q = a - b, root = std::sqrt(0.01 + q * q), p = a - 0.25 * (i % 3);
    return {root + p * p / 8, q / root + p / 4, -q / root};
}
Term quotient(double a, double b, int i) {
    const double p = a - 0.2 * (i % 5), q = a - b, below = 1 + p * p;
    return {p * p / below + q * q / 4, 2 * p / (below * below) + q / 2, -q / 2};
}

enum Precision { single_precision, double_precision };
constexpr int scalar = CUDA_OPT_INITIAL_HESSIAN_SCALAR, learned = CUDA_OPT_INITIAL_HESSIAN_LEARNED;
struct Solve {
    Term (*term)(double, double, int);
    int n, m;
    Precision precision;
    int history_bits;
    bool bounded;
    int initial_hessian;
};
constexpr Solve solves[] = {
    {rosenbrock, 2, 3, double_precision, 64, false, scalar},
    {rosenbrock, 25, 5, double_precision, 64, true, scalar},
    {rosenbrock, 300, 17, double_precision, 64, false, scalar},
    {rosenbrock, 1000, 10, double_precision, 32, true, scalar},
    {rosenbrock, 130, 7, double_precision, 16, false, learned},
    {rosenbrock, 500, 5, single_precision, 32, true, scalar},
    {quadratic, 7, 4, double_precision, 64, true, scalar},
    {quadratic, 128, 8, double_precision, 64, false, scalar},
    {quadratic, 2000, 17, double_precision, 64, true, scalar},
    {quadratic, 1500, 5, double_precision, 16, true, learned},
    {quadratic, 333, 12, double_precision, 32, false, learned},
    {quadratic, 2000, 10, single_precision, 16, true, scalar},
    {minimal_curve, 64, 3, double_precision, 64, true, scalar},
    {minimal_curve, 700, 9, double_precision, 64, false, learned},
    {minimal_curve, 1999, 25, double_precision, 64, true, scalar}, // more than 20 pairs: the Gram matrix is updated
    {minimal_curve, 257, 6, single_precision, 32, false, learned},
    {quotient, 50, 5, double_precision, 64, false, scalar},
    {quotient, 1025, 17, double_precision, 32, true, scalar},
    {quotient, 400, 11, double_precision, 64, true, learned},
    {quotient, 1200, 5, double_precision, 16, false, scalar},
};

template <class Real> double value_and_gradient(const Solve &solve, const std::vector<Real> &x, std::vector<Real> &g) {
    double f = 0, from_last = 0;
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const Term term = solve.term(x[i], x[i + 1], static_cast<int>(i));
        f += term.f;
        g[i] = static_cast<Real>(from_last + term.by_a);
        from_last = term.by_b;
    }
    g.back() = static_cast<Real>(from_last);
    return f;
}

template <class Real> uint64_t hash_of_solve(const Solve &solve) {
    const auto n = static_cast<std::size_t>(solve.n);
    Minimiser<Real> s(solve.n, solve.m, CUDA_OPT_BACKEND_HOST);
    s.set_int(CUDA_OPT_MAX_ITERATIONS, 60);
    s.set_int(CUDA_OPT_HISTORY_BITS, solve.history_bits).set_int(CUDA_OPT_INITIAL_HESSIAN, solve.initial_hessian);
    std::vector<Real> x(n), g(n), lower(n), upper(n);
    for (std::size_t i = 0; i < n; i++) {
        x[i] = static_cast<Real>(static_cast<double>(i * 37 % 101) / 64 - 0.75);
        lower[i] = static_cast<Real>(static_cast<double>(i % 4) / 8 - 0.5);
        upper[i] = i % 5 ? 0.75 : 1.5;
    }
    if (solve.bounded) s.set_bounds(lower.data(), upper.data());
    double f = 0;
    int task;
    while ((task = s.solve(x.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG) f = value_and_gradient(solve, x, g);
    if (task != CUDA_OPT_ITERATION_LIMIT) s.check(task);
    return hash_of(x);
}

} // namespace

int main(int count, char **arguments) {
    const bool all = count > 1 && std::string(arguments[1]) == "--all";
    std::vector<uint64_t> hashes;
    for (const Solve &solve : solves) {
        const bool single = solve.precision == single_precision;
        hashes.push_back(single ? hash_of_solve<float>(solve) : hash_of_solve<double>(solve));
        if (all) std::printf("solve %zu: %016" PRIx64 "\n", hashes.size(), hashes.back());
    }
    std::printf("%016" PRIx64 "\n", hash_of(hashes));
}
