#include "testfuncs/parameters.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace cudaopt::testfuncs {
namespace {

std::string range_of(const Parameter &parameter) {
    if (std::isfinite(parameter.above) && std::isfinite(parameter.below))
        return "between " + text_of(parameter.above) + " and " + text_of(parameter.below);
    if (std::isfinite(parameter.above)) return "above " + text_of(parameter.above) + ", and finite";
    return "finite";
}

const Parameter &find(const std::vector<Parameter> &parameters, const std::string &name) {
    std::string names;
    for (const Parameter &parameter : parameters) {
        if (parameter.name == name) return parameter;
        names += (names.empty() ? "; it has " : ", ") + parameter.name;
    }
    throw std::invalid_argument("there is no parameter '" + name + "'" + names);
}

} // namespace

Parameters complete(const std::vector<Parameter> &parameters, const Parameters &given) {
    Parameters all;
    for (const Parameter &parameter : parameters) all[parameter.name] = parameter.standard;
    for (const auto &[name, value] : given) {
        const Parameter &parameter = find(parameters, name);
        if (!(parameter.above < value && value < parameter.below))
            throw std::invalid_argument(name + " must be " + range_of(parameter) + ", not " + text_of(value));
        all[name] = value;
    }
    return all;
}

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", value);
    return text;
}

} // namespace cudaopt::testfuncs
