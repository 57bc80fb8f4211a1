// The parameters of a test problem, their ranges and their defaults.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

// Parameters maps the names of a problem's parameters to their values.
using Parameters = std::map<std::string, double>;

// A parameter of a test problem, for example the angle of twist of a torsion problem. Its value must lie strictly
// between `above` and `below`. `standard` is the default; NaN means that the problem chooses the value.
struct Parameter {
    std::string name;
    double standard, above, below;
    std::string meaning;
};

// Returns the given values together with the defaults of all other parameters. Throws std::invalid_argument with a
// message if a name is unknown or a value is out of range.
Parameters complete(const std::vector<Parameter> &parameters, const Parameters &given);

// Formats a number with as few digits as possible, for example "5", "0.008", "1e+06".
std::string text_of(double value);

} // namespace cudaopt::testfuncs
