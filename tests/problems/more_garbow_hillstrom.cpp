// This file selects which functions are solved, with which n and from which starts.
#include "more_garbow_hillstrom.hpp"

#include "sets.hpp"

namespace cudaopt_problems {

namespace {

// The paper also starts from 10 and 100 times the standard start.
Problem from_multiple(Problem problem, int factor) {
    return problem.from(scaled(problem.start, factor)).named("-start" + std::to_string(factor));
}

Problems of_fixed_dimension() {
    return {rosenbrock(),
            freudenstein_roth(),
            powell_badly_scaled(),
            brown_badly_scaled(),
            beale(),
            jennrich_sampson(),
            helical_valley(),
            bard(),
            gaussian(),
            meyer(),
            gulf(),
            box_three_dimensional(),
            powell_singular(),
            wood(),
            kowalik_osborne(),
            brown_dennis(),
            osborne_1(),
            biggs_exp6(),
            osborne_2()};
}

Problems of_any_dimension() {
    return {watson(6).minimum(2.28767e-3, 1e-8),
            watson(9).minimum(1.39976e-6, 1e-6),
            watson(12).minimum(4.72238e-10, 1e-6),
            extended_rosenbrock(10),
            extended_rosenbrock(100),
            extended_powell_singular(20),
            extended_powell_singular(100),
            penalty_1(4).minimum(2.24997e-5, 1e-9),
            penalty_1(10).minimum(7.08765e-5, 1e-8),
            penalty_1(100),
            penalty_2(4).minimum(9.37629e-6, 1e-7),
            penalty_2(10).minimum(2.93660e-4, 1e-7),
            penalty_2(100),
            variably_dimensioned(10),
            variably_dimensioned(100),
            trigonometric(10).minimum(0).minimum(2.79506e-5, 1e-8),
            trigonometric(100),
            brown_almost_linear(10),
            brown_almost_linear(40),
            discrete_boundary_value(10),
            discrete_boundary_value(100),
            discrete_integral_equation(10),
            discrete_integral_equation(100),
            broyden_tridiagonal(10),
            broyden_tridiagonal(100),
            broyden_banded(10),
            broyden_banded(100),
            linear_full_rank(10, 20),
            linear_full_rank(100, 100),
            linear_rank_one(10, 20),
            linear_rank_one_zeros(10, 20),
            chebyquad(7).minimum(0),
            chebyquad(8).minimum(3.51687e-3, 1e-8),
            chebyquad(9).minimum(0),
            chebyquad(10).minimum(6.50395e-3, 1e-8),
            chebyquad(50)};
}

Problems from_far() {
    Problems all;
    for (const int factor : {10, 100}) {
        for (const Problem &problem :
             {rosenbrock(), freudenstein_roth(), beale(), helical_valley(), bard(), powell_singular(), wood(),
              brown_dennis(), variably_dimensioned(10), trigonometric(10), brown_almost_linear(10),
              discrete_boundary_value(10), broyden_tridiagonal(10), broyden_banded(10), penalty_1(10)})
            all.push_back(from_multiple(problem, factor));
    }
    // From these starts, the minima are not those of the paper's table.
    for (Problem problem : {powell_badly_scaled(), meyer(), osborne_2(), kowalik_osborne()}) {
        problem.minima.clear();
        all.push_back(from_multiple(problem, 10));
    }
    return all;
}

} // namespace

Problems more_garbow_hillstrom() {
    Problems all = of_fixed_dimension();
    append(all, of_any_dimension());
    append(all, from_far());
    return all;
}

} // namespace cudaopt_problems
