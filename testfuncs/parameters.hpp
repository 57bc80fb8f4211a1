// A problem's own constants: what they are, and which values they take.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

// Values by name.
using Parameters = std::map<std::string, double>;

// A constant, e.g. the angle of twist of a torsion problem: any value strictly between `above` and `below`.
// standard: where none is given; NaN: the problem chooses.
struct Parameter {
    std::string name;
    double standard, above, below;
    std::string meaning;
};

// The values given, and the standard ones of all others.
// Throws std::invalid_argument with a sentence about an unknown name or a value out of range
Parameters complete(const std::vector<Parameter> &parameters, const Parameters &given);

// As briefly as it can be read: "5", "0.008", "1e+06".
std::string text_of(double value);

} // namespace cudaopt::testfuncs
