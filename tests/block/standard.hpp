// The problems with which whole solves are tested.
#pragma once

#include "on_host.hpp"

namespace block_test {

struct Standard {
    const char *name;
    Problem problem;
};

inline std::vector<Standard> standard_problems() {
    return {
        {"Rosenbrock", {Kind::rosenbrock, 2}},
        {"extended Rosenbrock", {Kind::rosenbrock, 20}},
        {"chained Rosenbrock", {Kind::chained_rosenbrock, 20}},
        {"extended Rosenbrock in a box", {Kind::rosenbrock, 20, true, -1.5, 0.8}},
        {"quadratic with many active bounds", {Kind::quadratic, 60, true}},
        {"quadratic with many breakpoints", {Kind::breakpoints, 60, true}},
        {"torsion", {Kind::torsion, 100, true}},
    };
}

inline Prepared prepare_standard(const Standard &one, int m) {
    return prepare(one.name, one.problem, m, [](cudaopt::Settings &settings) { settings.eps = 1e-8; });
}

} // namespace block_test
