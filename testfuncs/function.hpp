// The interface of a test function, and definitions that all test functions share.
//
// A test function F is a plain struct with the members
//     static Facts facts();
//     static Dimension fit(int64_t n, const Parameters &);   returns the possible number of variables nearest to n
//     F(int64_t n, const Parameters &);                      n from fit(); all parameters given and in their ranges
//     int64_t n;
//     double start(i), lower(i), upper(i);                   i from 0
//     std::optional<double> minimum();  std::string shape();
//     evaluate(on, x, f, g)                                  computes f and g by the operations of the executor `on`
// It inherits the members that it does not define from Defaults. The executor is a HostExecutor or a CudaExecutor.
// evaluate() passes a rule to it, a function object that computes one term of the sum f: it reads x, writes g and adds
// the term to f.
#pragma once

#include "exec/accumulators.hpp"
#include "exec/annotations.hpp"
#include "testfuncs/facts.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace cudaopt::testfuncs {

// The default members of a test function: no bounds, no known minimum, and variables that are not the values of a field
// on a grid.
struct Defaults {
    static constexpr bool bounded = false;
    double lower(int64_t) const { return -INFINITY; }
    double upper(int64_t) const { return INFINITY; }
    std::optional<double> minimum() const { return std::nullopt; }
    std::string shape() const { return ""; }
};

// Returns the dimension n of a function that is a sum over groups of `block` variables. If n is not a multiple of
// `block`, returns 0 and a message.
inline Dimension whole_blocks(int64_t block, int64_t n) {
    if (n < 1) return {0, "n must be at least " + std::to_string(block) + ", not " + std::to_string(n)};
    if (n % block == 0) return {n, ""};
    const uint64_t below = n / block * block, above = below + block;
    return {0, "n must be a multiple of " + std::to_string(block) + ", and " + std::to_string(n) + " is not: take " +
                   (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(above)};
}

// Stores the result of an evaluation. f is the sum of all terms plus a constant.
struct StoreSum {
    double *f;
    double constant = 0;
    CUDA_OPT_HD void operator()(const Sum &sum) const { *f = sum.v + constant; }
};

CUDA_OPT_HD constexpr double square(double a) { return a * a; }

constexpr double pi = 3.14159265358979323846;

} // namespace cudaopt::testfuncs
