// A line chart with two logarithmic axes, as SVG text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cudaopt::bench {

struct Curve {
    std::string label;
    std::vector<std::pair<double, double>> points; // those that are not positive and finite are left out
};

struct LogLogPlot {
    std::string title, subtitle, abscissa, ordinate;
    std::vector<Curve> curves; // six at most, so that their colours differ
};

std::string svg(const LogLogPlot &plot);

} // namespace cudaopt::bench
