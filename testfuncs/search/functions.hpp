// The twelve test functions of the pattern search. They are f1 to f13, without f8, of Yao, Liu, Lin, Evolutionary
// Programming Made Faster, IEEE Trans. Evolutionary Computation 3 (1999) 82, for any number of variables.
#pragma once

#include "testfuncs/search/ackley.hpp"
#include "testfuncs/search/griewank.hpp"
#include "testfuncs/search/penalised_1.hpp"
#include "testfuncs/search/penalised_2.hpp"
#include "testfuncs/search/quartic.hpp"
#include "testfuncs/search/rastrigin.hpp"
#include "testfuncs/search/rosenbrock.hpp"
#include "testfuncs/search/schwefel_1_2.hpp"
#include "testfuncs/search/schwefel_2_21.hpp"
#include "testfuncs/search/schwefel_2_22.hpp"
#include "testfuncs/search/sphere.hpp"
#include "testfuncs/search/step.hpp"

#include <string>
#include <variant>
#include <vector>

namespace cudaopt::testfuncs::search {

using Function = std::variant<Ackley, Griewank, Penalised1, Penalised2, Quartic, Rastrigin, Rosenbrock, Schwefel12,
                              Schwefel222, Schwefel221, Sphere, Step>;

// Returns all test functions of the pattern search, in the order of the names above.
const std::vector<Function> &all_functions();

// Returns the test function with this name. Throws std::invalid_argument with a message that lists all names.
Function function_by_name(const std::string &name);

Facts facts_of(const Function &function);

// Returns whether the function has, almost everywhere, a gradient that shows in which direction the function decreases.
bool has_gradient(const Function &function);

// Computes f(x), and the gradient unless g is NULL. Throws std::invalid_argument if a gradient is requested and the
// function has none.
double evaluate(const Function &function, const double *x, int n, double *g = nullptr);

} // namespace cudaopt::testfuncs::search
