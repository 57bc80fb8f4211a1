// The description of a test problem. It is available without creating the problem.
#pragma once

#include "testfuncs/parameters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

struct Facts {
    // The name of the problem on the command line.
    std::string name;
    std::string title; // the title in a log
    // The formula of f as one line of plain text, where i begins at 1.
    std::string formula;
    // A description of the standard start.
    std::string start;
    // The least known value of f, and where it is attained.
    std::string minimum;
    // The condition that n must satisfy.
    std::string requirement;
    std::string source;
    std::vector<Parameter> parameters;
};

// The number of variables of a problem for a requested n. It is n itself, a number close to n (for a grid), or 0. In
// the last case a message explains why no number is possible.
struct Dimension {
    int64_t n;
    std::string refusal;
};

} // namespace cudaopt::testfuncs
