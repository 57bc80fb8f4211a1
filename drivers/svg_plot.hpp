// Draws line charts with a logarithmic vertical axis as SVG text.
#pragma once

#include <string>
#include <vector>

namespace driver {

struct Series {
    std::string label;
    std::string colour;
    // The values on the vertical axis. Values that are not positive and finite are not drawn.
    std::vector<double> y;
    // The values on the horizontal axis in ascending order. If empty, they are 0, 1, 2, ...
    std::vector<double> x = {};
};

struct Plot {
    std::string title, subtitle;
    // The label of the horizontal axis.
    std::string abscissa;
    std::vector<Series> series;
    // A logarithmic horizontal axis requires positive x. A linear horizontal axis begins at 0.
    bool logarithmic_abscissa = false;
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
