/* A line chart with a logarithmic ordinate, as SVG text. */
#pragma once

#include <string>
#include <vector>

namespace driver {

struct Series {
    std::string label;
    std::string colour;
    std::vector<double> y; ///< at 0, 1, 2, ...; what is not positive and finite is left out
};

struct Plot {
    std::string title, subtitle;
    std::string abscissa; ///< what is counted along the horizontal axis
    std::vector<Series> series;
};

std::string svg(const Plot &plot);

/** 1234567 as "1,234,567". */
std::string with_separators(long long number);

} // namespace driver
