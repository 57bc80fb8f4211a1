// Distinct colours, and their assignment to series.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace cudaopt::bench {

// What is no solver, in the order of its use.
constexpr const char *colours[] = {"#b9770e", "#7d3c98", "#566573", "#c0392b", "#2471a3", "#1e8449"};

// A solver has one colour in all pictures, each of its ways in the same picture another shade of it.
struct Solver {
    const char *beginning; // of its labels
    const char *shades[4];
};
constexpr const char *ours = "#2471a3", *light = "#7fb8e0", *dark = "#163d5c", *bright = "#17a2b8";
constexpr Solver solvers[] = {
    {"CUDA", {ours, light, dark, bright}},
    {"GPU", {ours, light, dark, bright}},
    {"cuda", {ours, light, dark, bright}},
    {"host", {"#1e8449", "#7dcea0", "#0b4a26", "#a9b817"}},
    {"L-BFGS-B", {"#c0392b", "#e59a8f", "#6e1f17", "#e4572e"}},
    {"paper, CPU", {"#8d8d8d", "#c4c4c4", "#4d4d4d", "#a39a8c"}},
    {"paper, GPU", {"#7d3c98", "#c39bd3", "#4a235a", "#d96fb8"}},
};

inline std::vector<std::string> colours_of(const std::vector<std::string> &labels) {
    std::map<std::string, std::size_t> ways; // of a solver, so far
    std::size_t others = 0;
    std::vector<std::string> result;
    for (const std::string &label : labels) {
        const char *colour = nullptr;
        for (const Solver &solver : solvers)
            if (!colour && label.rfind(solver.beginning, 0) == 0)
                colour = solver.shades[ways[solver.beginning]++ % std::size(solver.shades)];
        const auto has = [&](const char *chosen) { return std::count(result.begin(), result.end(), chosen) > 0; };
        while (!colour && others < std::size(colours) && has(colours[others]))
            others++; // a solver here has this colour
        result.push_back(colour ? colour : colours[others++ % std::size(colours)]);
    }
    return result;
}

// The same for what has a label.
template <class Labelled> std::vector<std::string> colours_of(const std::vector<Labelled> &series) {
    std::vector<std::string> labels;
    for (const Labelled &one : series) labels.push_back(one.label);
    return colours_of(labels);
}

} // namespace cudaopt::bench
