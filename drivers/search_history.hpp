// The history of a pattern search. It can be written as comma-separated values and as a plot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct SearchMoment {
    int64_t iteration, evaluations, active;
    // The best value so far. It is infinite as long as no value has been finite.
    double f;
    // The time in seconds since the start of the search.
    double seconds;
};

std::string search_csv_header();
std::string search_csv_row(const SearchMoment &moment);

// Plots the best value against the number of iterations and, in a second chart, against the number of evaluations.
std::string search_plot(const std::vector<SearchMoment> &history, const std::string &title,
                        const std::string &subtitle);

} // namespace driver
