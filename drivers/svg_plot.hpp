// A line chart with a logarithmic ordinate, as SVG text.
#pragma once

#include <string>
#include <vector>

namespace driver {

struct Series {
    std::string label;
    std::string colour;
    std::vector<double> y;      // what is not positive and finite is left out
    std::vector<double> x = {}; // where, ascending; empty: 0, 1, 2, ...
};

struct Plot {
    std::string title, subtitle;
    std::string abscissa; // what is counted along the horizontal axis
    std::vector<Series> series;
    bool logarithmic_abscissa = false; // every x positive; else the axis begins at 0
};

// A series of values of f, which fall. Where they would look like a flat line, or are negative: what each is above the
// lowest, and the label says so.
Series falling(const std::string &name, const std::string &colour, const std::vector<double> &values);

std::string svg(const Plot &plot);
// One below the other.
std::string svg(const std::vector<Plot> &plots);

// 1234567 as "1,234,567".
std::string with_separators(long long number);

} // namespace driver
