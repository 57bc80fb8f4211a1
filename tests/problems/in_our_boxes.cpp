// Published objectives in boxes that are chosen here, such that some bounds are active at the solution.
#include "more_garbow_hillstrom.hpp"

#include "sets.hpp"

namespace cudaopt_problems {

namespace {

// Sets upper bounds for the first half of the variables and none for the others. The solver moves the start into the
// box.
Problem first_half_below(Problem problem, double bound) {
    const int n = problem.n();
    const Vector upper = sequence(n, [n, bound](int i) { return i <= (n + 1) / 2 ? bound : INFINITY; });
    const std::string number = std::to_string(bound).substr(0, 3);
    problem.source += "; x_i <= " + number + " for the first half";
    return problem.box(problem.lower, upper).named("-half-below");
}

// In each group of three variables, the first has a lower bound, the second has both bounds, and the third has none.
Problem in_thirds(Problem problem, double lower, double upper) {
    const int n = problem.n();
    problem.source += "; by turns bounded below, on both sides and not at all";
    return problem.box(repeated({lower, lower, -INFINITY}, n), repeated({INFINITY, upper, INFINITY}, n))
        .named("-thirds");
}

Problem in_a_box(Problem problem, double lower, double upper) {
    problem.source += "; in a box";
    return problem.box(lower, upper).named("-box");
}

// Minimise |A x - b|^2 over x >= 0, with A_ij = 1 / (i + j - 1) + (1 if i = j) and b with elements of both signs.
Problem nonnegative_least_squares(int n) {
    return make("nnls-n" + std::to_string(n), "the problem of Lawson, Hanson, Solving Least Squares Problems, 1974, 23",
                Vector(n, 1),
                [n](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    return sum_of(0, n, [&](int i) {
                        T r = x[i] - std::cos(3.0 * i);
                        for (int j = 0; j < n; j++) r += x[j] / (i + j + 1);
                        return square(r);
                    });
                })
        .box(0, INFINITY);
}

} // namespace

Problems in_our_boxes() {
    Problems all;
    for (const Problem &problem :
         {rosenbrock(), extended_rosenbrock(10), extended_rosenbrock(100), wood(), extended_powell_singular(20),
          helical_valley(), variably_dimensioned(10), brown_almost_linear(10)})
        all.push_back(first_half_below(problem, 0.8));
    for (const Problem &problem : {broyden_tridiagonal(30), broyden_banded(30), discrete_integral_equation(30),
                                   penalty_1(10), penalty_2(10), watson(9), trigonometric(12), chebyquad(9)})
        all.push_back(in_thirds(problem, -0.2, 0.3));
    append(all, {in_a_box(beale(), 0.6, 2.5), in_a_box(powell_badly_scaled(), 0, 5), in_a_box(biggs_exp6(), 0, 4.5),
                 in_a_box(osborne_1(), 0, 1.8), in_a_box(osborne_2(), 0.5, 6), in_a_box(kowalik_osborne(), 0.1, 0.4),
                 in_a_box(brown_dennis(), -12, 100), in_a_box(jennrich_sampson(), 0.26, 0.4),
                 in_a_box(box_three_dimensional(), 0, 9.5), in_a_box(gulf(), 0.1, 40), in_a_box(bard(), 0.1, 2),
                 nonnegative_least_squares(20), nonnegative_least_squares(60)});
    for (const Problem &problem : coupled(40)) all.push_back(first_half_below(problem, 0.4));
    for (const Problem &problem : chained(40)) all.push_back(in_thirds(problem, 0.2, 0.7));
    for (const Problem &problem : separable(40)) all.push_back(in_a_box(problem, 0.5, 4));
    for (Problem &problem : all) problem.minima.clear(); // they are minima of the problems without bounds
    return all;
}

} // namespace cudaopt_problems
