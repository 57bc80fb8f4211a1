// These are the six functions of one variable with which Moré and Thuente (1994, section 5) tested their line search,
// and the tolerances and first steps that they used.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cudaopt_test {

struct Value {
    double phi, slope;
};

struct LineFunction {
    std::string name;
    std::function<Value(double)> at;
    double ftol, gtol;
};

std::vector<LineFunction> line_functions();

inline const std::vector<double> first_steps = {1e-3, 1e-1, 1e1, 1e3};

} // namespace cudaopt_test
