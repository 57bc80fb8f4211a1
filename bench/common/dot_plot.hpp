// Positive numbers as dots on a logarithmic axis, one row each, as SVG text.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::bench {

struct Dots {
    std::string label;          // of what has one colour
    std::vector<double> values; // one for each row; what is not finite is left out, what is not positive stands left
};

struct DotPlot {
    std::string title, subtitle, abscissa;
    std::vector<std::string> rows;
    std::vector<Dots> series; // six at most, so that their colours differ
};

std::string svg(const DotPlot &plot);

} // namespace cudaopt::bench
