// MINPACK-2's problems once more, for the tests alone: straight from the integrals, element by element, in long double,
// with nothing collected or simplified. They know nothing of testfuncs/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// f at x; a grid of nx x ny points, or 0 and 0 for those without one. Parameters that are not given: the report's.
long double naive_minpack2(const std::string &name, int64_t nx, int64_t ny, const std::vector<double> &x,
                           std::map<std::string, double> parameters = {});
