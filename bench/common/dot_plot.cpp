#include "dot_plot.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "colours.hpp"
#include "drivers/svg_text.hpp"

namespace cudaopt::bench {

using namespace svg_text;

namespace {

constexpr double usual_width = 880, left = 150, right = 690, top = 84,
                 row_height = 26; // the legend is right of the dots

} // namespace

std::string svg(const DotPlot &plot) {
    double least = INFINITY, most = 0;
    bool zeros = false;
    for (const Dots &dots : plot.series)
        for (const double value : dots.values) {
            if (!std::isfinite(value)) continue;
            if (value <= 0) {
                zeros = true;
                continue;
            }
            least = std::min(least, value);
            most = std::max(most, value);
        }
    if (most == 0) least = most = 1;
    const int low = static_cast<int>(std::floor(std::log10(least)));
    const int high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(most))));
    const double begin = left + (zeros ? 40 : 10);
    const auto at = [&](double log) { return begin + (right - begin) * (log - low) / (high - low); };

    const double bottom = top + row_height * static_cast<double>(plot.rows.size());
    std::string text = heading(left, plot.title, plot.subtitle);
    for (int e = low; e <= high; e += (high - low + 9) / 10) {
        text += line(at(e), top, at(e), bottom, stroke("#e3e3e3", 1));
        text += words(at(e), bottom + 22, "text-anchor=\"middle\"", power_of_ten(e));
    }
    if (zeros) {
        text += line(left + 12, top, left + 12, bottom, stroke("#e3e3e3", 1));
        text += words(left + 12, bottom + 22, "text-anchor=\"middle\"", "0");
    }
    text += words((left + right) / 2, bottom + 48, "text-anchor=\"middle\"", escaped(plot.abscissa));
    const std::vector<std::string> chosen = colours_of(plot.series);
    for (std::size_t row = 0; row < plot.rows.size(); row++) {
        const double y = top + row_height * (static_cast<double>(row) + 0.5);
        text += words(left - 10, y + 4.5, "text-anchor=\"end\"", escaped(plot.rows[row]));
        text += line(left, y, right, y, stroke("#f0f0f0", 1));
        for (std::size_t k = 0; k < plot.series.size(); k++) {
            const auto &values = plot.series[k].values;
            if (row >= values.size() || !std::isfinite(values[row])) continue;
            const double x = values[row] > 0 ? at(std::log10(values[row])) : left + 12;
            text += circle(x, y, "r=\"5\" fill-opacity=\"0.8\" " + fill(chosen[k])) + "\n";
        }
    }
    text += line(left, top, left, bottom, stroke("#333", 1));
    double legend = top + 12;
    for (std::size_t k = 0; k < plot.series.size(); k++) {
        text += rectangle(right + 18, legend - 6, 22, 12, fill(chosen[k]));
        text += words(right + 48, legend + 4.5, "", escaped(plot.series[k].label));
        legend += 24;
    }
    double width = std::max(usual_width, reach_of_heading(left, plot.title, plot.subtitle));
    for (const auto &one : plot.series) width = std::max(width, right + 56 + reach(one.label, 13));
    return file(width, bottom + 72, 13, text);
}

} // namespace cudaopt::bench
