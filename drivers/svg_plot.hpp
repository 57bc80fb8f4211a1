// Draws line charts with a logarithmic vertical axis as SVG text.
#pragma once

#include <string>
#include <vector>

namespace driver {

struct Series {
    std::string label;
    std::string colour;
    std::vector<double> y;      // only positive finite values are drawn
    std::vector<double> x = {}; // values on the horizontal axis, ascending; empty: 0, 1, 2, ...
};

struct Plot {
    std::string title, subtitle;
    std::string abscissa; // label of the horizontal axis
    std::vector<Series> series;
    bool logarithmic_abscissa = false; // true requires positive x; false: the axis begins at 0
};

// Returns a series for a chart of decreasing values of f. If the curve would look flat, or if values are negative, the
// lowest value is subtracted, and the label says so.
Series falling(const std::string &name, const std::string &colour, const std::vector<double> &values);

std::string svg(const Plot &plot);
// Draws several charts, one below the other, in one picture.
std::string svg(const std::vector<Plot> &plots);

// Formats a number with separators, for example 1234567 as "1,234,567".
std::string with_separators(long long number);

} // namespace driver
