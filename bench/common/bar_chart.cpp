#include "bar_chart.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "colours.hpp"
#include "drivers/svg_text.hpp"

namespace cudaopt::bench {

using namespace svg_text;

namespace {

constexpr double usual_width = 880, left = 170, right = 690,
                 top = 84; // the area of the bars; the legend is right of it
constexpr const char *shades[] = {"#d5d8dc", "#a9cce3", "#5499c7", "#1f618d", "#b03a2e"}; // parts of a whole, in order
constexpr double thickness = 15, stacked_thickness = 22, gap = 14;

double share_of(const Bars &bars, std::size_t row) {
    return row < bars.shares.size() && std::isfinite(bars.shares[row]) ? std::max(0.0, bars.shares[row]) : 0;
}

} // namespace

std::string svg(const BarChart &chart) {
    const auto side_by_side = static_cast<double>(std::max<std::size_t>(1, chart.series.size()));
    const double row_height = gap + (chart.stacked ? stacked_thickness : thickness * side_by_side);
    const double bottom = top + gap + row_height * static_cast<double>(chart.rows.size());
    double longest = 1;
    if (!chart.stacked)
        for (const Bars &bars : chart.series)
            for (std::size_t row = 0; row < chart.rows.size(); row++) longest = std::max(longest, share_of(bars, row));
    const double last = std::ceil(10 * longest - 1e-9) / 10, per_share = (right - left) / last;

    const std::vector<std::string> chosen = colours_of(chart.series);
    const auto colour = [&](std::size_t k) { return chart.stacked ? shades[k % std::size(shades)] : chosen[k]; };
    std::string text = heading(left, chart.title, chart.subtitle);
    for (int percent = 0; percent <= std::lround(100 * last); percent += last > 2 ? 50 : 20) {
        const double at = left + per_share * percent / 100;
        text += line(at, top, at, bottom, stroke(percent == 100 ? "#999" : "#e3e3e3", 1));
        text += words(at, bottom + 22, "text-anchor=\"middle\"", std::to_string(percent) + " %");
    }
    text += words((left + right) / 2, bottom + 48, "text-anchor=\"middle\"", escaped(chart.abscissa));
    for (std::size_t row = 0; row < chart.rows.size(); row++) {
        const double begin = top + gap + row_height * static_cast<double>(row), middle = begin + (row_height - gap) / 2;
        text += words(left - 10, middle + 4.5, "text-anchor=\"end\"", escaped(chart.rows[row]));
        double x = left, y = begin;
        for (std::size_t k = 0; k < chart.series.size(); k++) {
            const double length = per_share * share_of(chart.series[k], row);
            const double drawn = chart.stacked ? stacked_thickness : thickness - 2;
            if (length > 0) text += rectangle(x, y, length, drawn, fill(colour(k)));
            if (chart.stacked) x += length;
            else y += thickness;
        }
    }
    text += line(left, top, left, bottom, stroke("#333", 1));
    double legend = top + 12;
    for (std::size_t k = 0; k < chart.series.size(); k++) {
        text += rectangle(right + 18, legend - 6, 22, 12, fill(colour(k)));
        text += words(right + 48, legend + 4.5, "", escaped(chart.series[k].label));
        legend += 24;
    }
    double width = std::max(usual_width, reach_of_heading(left, chart.title, chart.subtitle));
    for (const auto &one : chart.series) width = std::max(width, right + 56 + reach(one.label, 13));
    return file(width, bottom + 72, 13, text);
}

} // namespace cudaopt::bench
