// The description of a test problem, available without constructing one.
#pragma once

#include "testfuncs/parameters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

struct Facts {
    std::string name;        // the name on the command line
    std::string title;       // the title in a log
    std::string formula;     // one line of plain text, i from 1
    std::string start;       // the standard start in words
    std::string minimum;     // the least known value of f, and where it is attained
    std::string requirement; // the condition on n, in words
    std::string source;
    std::vector<Parameter> parameters;
};

// The number of variables of a problem for a requested n: n itself, a nearby number (for a grid), or 0 with a message
// that explains why there is none.
struct Dimension {
    int64_t n;
    std::string refusal;
};

} // namespace cudaopt::testfuncs
