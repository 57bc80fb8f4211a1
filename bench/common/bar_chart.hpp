// Percentages as horizontal bars, as SVG text.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::bench {

struct Bars {
    std::string label;          // of what is drawn in one colour
    std::vector<double> shares; // one for each row of the chart, 1 being all; what is no number is left out
};

struct BarChart {
    std::string title, subtitle, abscissa;
    std::vector<std::string> rows;
    std::vector<Bars> series; // six at most, stacked five, so that their colours differ
    bool stacked = false;     // a row's bars one after the other instead of one below the other
};

// The axis ends at 100 %, or at the next 10 % above the longest bar.
std::string svg(const BarChart &chart);

} // namespace cudaopt::bench
