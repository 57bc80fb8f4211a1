// These test problems are written for the tests only. They are plain host code in double precision, independent of
// testfuncs/ and of the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "seed.hpp"

namespace cudaopt_test {

using Vector = std::vector<double>;
// Returns f(x) and sets g, which already has the right size, to the gradient.
using Function = std::function<double(const Vector &x, Vector &g)>;

// The problem is to minimise f(x) subject to lower <= x <= upper. If a vector is empty, there are no bounds on that
// side.
struct Problem {
    std::string name;
    Vector start;
    Function evaluate;
    Vector lower = {};
    Vector upper = {};

    int64_t size() const { return static_cast<int64_t>(start.size()); }
};

// Returns the pairwise sum of term(begin) + ... + term(end - 1). Its rounding error grows with log n instead of n.
template <class Term> double pairwise_sum(int64_t begin, int64_t end, const Term &term) {
    constexpr int64_t block = 64;
    if (end - begin <= block) {
        double sum = 0;
        for (int64_t i = begin; i < end; i++) sum += term(i);
        return sum;
    }
    const int64_t middle = begin + (end - begin) / 2;
    return pairwise_sum(begin, middle, term) + pairwise_sum(middle, end, term);
}

// Generates uniform random numbers in [0, 1), the same with every standard library. CUDA_OPT_TEST_SEED shifts the seed.
class Uniform {
  public:
    explicit Uniform(uint64_t own_seed) : state_(seed(own_seed)) {}
    double operator()();

  private:
    uint64_t state_;
};

// The five functions of the manual with its starts, without bounds.
Problem extended_rosenbrock(int64_t n);
Problem extended_beale(int64_t n);
Problem extended_powell(int64_t n);
Problem extended_wood(int64_t n);
Problem trigonometric(int64_t n);

// f = sum_{i < n} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 in random boxes, some of which do not contain the minimum.
Problem chained_rosenbrock(int64_t n, uint64_t seed);
// Elastic-plastic torsion on a grid of nx by ny inner points (MINPACK-2, c = 5). The bounds are |x| <= distance to the
// boundary.
Problem torsion(int64_t nx, int64_t ny);

// A strictly convex quadratic x'Ax/2 - b'x with a tridiagonal A, whose minimiser in its box is known. Every third
// variable is at its lower bound and every third at its upper bound, with multipliers of at least 1/2.
struct KnownQuadratic {
    Problem problem;
    Vector minimiser;
};
KnownQuadratic quadratic_with_known_active_set(int64_t n);

// f = sum c_i (x_i - t_i)^2 / 2, with curvatures c_i from 1 to `condition` and t_i around 1, without bounds.
Problem scaled_quadratic(int64_t n, double condition);
// Returns the curvature c_i of scaled_quadratic.
double scaled_quadratic_curvature(int64_t i, int64_t n, double condition);

// f = sum c_i (x_i - t_i)^2 / 2 with c_i from 1 to 1/1000, in boxes of many widths around the start. Many thousands of
// breakpoints lie before the first Cauchy points. The minimiser is the projection of t into the box.
KnownQuadratic quadratic_with_many_breakpoints(int64_t n);

// Returns the problem with lower <= x_i <= upper for every i. The start does not change.
Problem in_box(Problem problem, double lower, double upper);
// Returns four fits of one dose-response curve in natural units, with different starts. The variables are the upper and
// lower limits of the response, near 100 and 0, the dose of half the effect, near 1e-8, and the slope, near 1.
std::vector<Problem> dose_responses();
constexpr double dose_response_minimum = 7.229; // of f, rounded

// Returns the problem with random boxes: l_i in [-1.5, 0.5) and u_i - l_i in [0.5, 2.5).
Problem in_random_boxes(Problem problem, uint64_t seed);
// Returns the problem with five kinds of bounds in turn: none, a lower bound only, both, an upper bound only, and
// l_i = u_i.
Problem with_mixed_bounds(Problem problem);
// Returns the problem without bounds.
Problem without_bounds(Problem problem);
// Returns the problem from another start in the box: each component is multiplied by 1 - 1e-15, 1 or 1 + 1e-15 at
// random. What changes by this, rounding errors decide.
Problem moved(Problem problem);

} // namespace cudaopt_test
