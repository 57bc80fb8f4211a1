// The history of a pattern search. It can be written as comma-separated values and as a plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct SearchMoment {
    int64_t iteration, evaluations, active;
    double f;       // best value so far; Inf if no value has been finite
    double seconds; // elapsed time since the start
};

std::string search_csv_header();
std::string search_csv_row(const SearchMoment &moment);

// Plots the best value against the number of iterations and, in a second chart, against the number of evaluations.
std::string search_plot(const std::vector<SearchMoment> &history, const std::string &title,
                        const std::string &subtitle);

} // namespace driver
