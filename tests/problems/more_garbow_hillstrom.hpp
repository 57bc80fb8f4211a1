// The functions of Moré, Garbow, Hillstrom, "Testing Unconstrained Optimization Software", ACM TOMS 7 (1981) 17-41,
// with the numbers of the paper. Each is the sum of the squares of its residuals, with its standard start and the
// minima that the paper lists. Other sources use some of them in boxes.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

Problem rosenbrock();                        // 1
Problem freudenstein_roth();                 // 2
Problem powell_badly_scaled();               // 3
Problem brown_badly_scaled();                // 4
Problem beale();                             // 5
Problem jennrich_sampson();                  // 6
Problem helical_valley();                    // 7
Problem bard();                              // 8
Problem gaussian();                          // 9
Problem meyer();                             // 10
Problem gulf();                              // 11
Problem box_three_dimensional();             // 12
Problem powell_singular();                   // 13
Problem wood();                              // 14
Problem kowalik_osborne();                   // 15
Problem brown_dennis();                      // 16
Problem osborne_1();                         // 17
Problem biggs_exp6();                        // 18
Problem osborne_2();                         // 19
Problem watson(int n);                       // 20
Problem extended_rosenbrock(int n);          // 21
Problem extended_powell_singular(int n);     // 22
Problem penalty_1(int n);                    // 23
Problem penalty_2(int n);                    // 24
Problem variably_dimensioned(int n);         // 25
Problem trigonometric(int n);                // 26
Problem brown_almost_linear(int n);          // 27
Problem discrete_boundary_value(int n);      // 28
Problem discrete_integral_equation(int n);   // 29
Problem broyden_tridiagonal(int n);          // 30
Problem broyden_banded(int n);               // 31
Problem linear_full_rank(int n, int m);      // 32
Problem linear_rank_one(int n, int m);       // 33
Problem linear_rank_one_zeros(int n, int m); // 34, with zero columns and rows
Problem chebyquad(int n);                    // 35

} // namespace cudaopt_problems
