// A line chart with a logarithmic ordinate, as SVG text.
#pragma once

#include <string>
#include <vector>

namespace driver {

struct Series {
    std::string label;
    std::string colour;
    std::vector<double> y;      // values that are not positive and finite are omitted
    std::vector<double> x = {}; // abscissae, ascending; empty: 0, 1, 2, ...
};

struct Plot {
    std::string title, subtitle;
    std::string abscissa; // label of the abscissa
    std::vector<Series> series;
    bool logarithmic_abscissa = false; // requires positive x; otherwise the axis begins at 0
};

// Returns a series of decreasing values of f. If they would look like a flat line, or are negative, the differences
// from the lowest value are drawn, and the label says so.
Series falling(const std::string &name, const std::string &colour, const std::vector<double> &values);

std::string svg(const Plot &plot);
// Draws charts one below the other.
std::string svg(const std::vector<Plot> &plots);

// Formats a number with separators, for example 1234567 as "1,234,567".
std::string with_separators(long long number);

} // namespace driver
