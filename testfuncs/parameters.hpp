// Parameters of a problem and their ranges.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

// The values of parameters by name.
using Parameters = std::map<std::string, double>;

// A parameter, for example the angle of twist of a torsion problem. It may be any value strictly between `above` and
// `below`.
// standard: the default; NaN: the problem chooses it.
struct Parameter {
    std::string name;
    double standard, above, below;
    std::string meaning;
};

// Returns the given values, and the defaults of all other parameters.
// Throws std::invalid_argument with a message if a name is unknown or a value is out of range.
Parameters complete(const std::vector<Parameter> &parameters, const Parameters &given);

// Formats a value with as few digits as possible: "5", "0.008", "1e+06".
std::string text_of(double value);

} // namespace cudaopt::testfuncs
