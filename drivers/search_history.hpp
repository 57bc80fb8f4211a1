// The history of a pattern search: writes it as comma separated values and as a plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct SearchMoment {
    int64_t iteration, evaluations, active;
    double f;       // the best value so far; Inf: no value has been finite
    double seconds; // wall time since the start
};

std::string search_csv_header();
std::string search_csv_row(const SearchMoment &moment);

// Plots the best value against iterations and, below, against evaluations.
std::string search_plot(const std::vector<SearchMoment> &history, const std::string &title,
                        const std::string &subtitle);

} // namespace driver
