// What is known of a test problem without making one.
#pragma once

#include "testfuncs/parameters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

struct Facts {
    std::string name;        // what a user types
    std::string title;       // what a log prints
    std::string formula;     // one line of plain text, i from 1
    std::string start;       // the standard start in words
    std::string minimum;     // the least value of f that is known, and where
    std::string requirement; // on n, in words
    std::string source;
    std::vector<Parameter> parameters;
};

// The number of variables of a problem that was asked for with n: that number, another one near it (a grid's), or 0
// with a sentence that says why there is none.
struct Dimension {
    int64_t n;
    std::string refusal;
};

} // namespace cudaopt::testfuncs
