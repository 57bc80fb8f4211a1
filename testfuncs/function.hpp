/* What the files of the single functions share.
 *
 * A function is a plain struct:
 *     static Facts facts();
 *     static Dimension fit(int64_t n);               the number of variables nearest to n that it takes
 *     F(int64_t n, const Parameters &);              parameters complete, with the defaults of its facts
 *     int64_t n;
 *     double start(i), lower(i), upper(i);           i from 0; bounds from Unbounded or its own
 *     std::optional<double> minimum();
 *     evaluate(on, x, f, g)                          by the verbs of the executor `on`, see executors.hpp
 * A rule's call is the formula for one term of the sum: it reads x, writes g, adds to f. */
#pragma once

#include "exec/accumulators.hpp"
#include "exec/annotations.hpp"
#include "testfuncs/facts.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace cudaopt::testfuncs {

/** Base of the functions that are defined everywhere and bounded nowhere. */
struct Unbounded {
    static constexpr bool bounded = false;
    double lower(std::int64_t) const { return -INFINITY; }
    double upper(std::int64_t) const { return INFINITY; }
};

/** The dimension of a sum over blocks of so many variables. */
inline Dimension whole_blocks(std::int64_t block, std::int64_t n)
{
    if (n < 1)
        return {0, "n must be at least " + std::to_string(block) + ", not " + std::to_string(n)};
    if (n % block == 0)
        return {n, ""};
    const std::uint64_t below = n / block * block, above = below + block;
    return {0, "n must be a multiple of " + std::to_string(block) + ", and " + std::to_string(n) + " is not: take " +
                   (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(above)};
}

/** The end of an evaluation: the sum of all terms is f. */
struct StoreSum {
    double *f;
    CUDA_OPT_HD void operator()(const Sum &sum) const { *f = sum.v; }
};

CUDA_OPT_HD constexpr double square(double a) { return a * a; }

} // namespace cudaopt::testfuncs
