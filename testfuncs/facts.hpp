/* What is known of a test problem without making one. */
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cudaopt::testfuncs {

/** A problem's own constants by name, e.g. the force of a torsion problem. */
using Parameters = std::map<std::string, double>;

struct Facts {
    std::string name;        ///< what a user types
    std::string title;       ///< what a log prints
    std::string formula;     ///< one line of plain text, i from 1
    std::string start;       ///< the standard start in words
    std::string requirement; ///< on n, in words
    std::string source;
    Parameters parameters;   ///< its parameters with their defaults
};

/** The number of variables of a problem that was asked for with n: that number, another one near it (a grid's), or 0
 *  with a sentence that says why there is none. */
struct Dimension {
    std::int64_t n;
    std::string refusal;
};

} // namespace cudaopt::testfuncs
