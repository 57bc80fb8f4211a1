#include "log_log_plot.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "colours.hpp"
#include "drivers/svg_text.hpp"

namespace cudaopt::bench {

using namespace svg_text;

namespace {

constexpr double usual_width = 880, height = 560;
constexpr double left = 88, right = 690, top = 84, bottom = 488; // the area of the data; the legend is right of it

bool drawn(const std::pair<double, double> &p) {
    return std::isfinite(p.first) && std::isfinite(p.second) && p.first > 0 && p.second > 0;
}

// Whole decades between the pixels `begin` and `end`.
struct Axis {
    double begin, end;
    int low = 0, high = 0;

    Axis(double begin, double end, const std::vector<double> &values) : begin(begin), end(end) {
        if (values.empty()) {
            high = 1;
            return;
        }
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        low = static_cast<int>(std::floor(std::log10(*least)));
        high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(*most))));
    }
    double at(double value) const { return begin + (end - begin) * (std::log10(value) - low) / (high - low); }
};

std::string label(int exponent) { return exponent == 0 ? "1" : exponent == 1 ? "10" : power_of_ten(exponent); }

} // namespace

std::string svg(const LogLogPlot &plot) {
    std::vector<double> xs, ys;
    for (const Curve &curve : plot.curves)
        for (const auto &p : curve.points)
            if (drawn(p)) {
                xs.push_back(p.first);
                ys.push_back(p.second);
            }
    const Axis x(left, right, xs), y(bottom, top, ys);

    std::string text = heading(left, plot.title, plot.subtitle);
    for (int e = x.low; e <= x.high; e++) {
        const double at = x.at(std::pow(10., e));
        text += line(at, top, at, bottom, stroke("#e3e3e3", 1));
        text += words(at, bottom + 22, "text-anchor=\"middle\"", label(e));
    }
    for (int e = y.low; e <= y.high; e++) {
        const double at = y.at(std::pow(10., e));
        text += line(left, at, right, at, stroke("#e3e3e3", 1));
        text += words(left - 10, at + 5, "text-anchor=\"end\"", label(e));
    }
    text += line(left, bottom, right, bottom, stroke("#333", 1)) + line(left, top, left, bottom, stroke("#333", 1));
    text += words((left + right) / 2, bottom + 48, "text-anchor=\"middle\"", escaped(plot.abscissa));
    const double middle = (top + bottom) / 2;
    text += words(28, middle, "text-anchor=\"middle\" transform=\"rotate(-90 28 " + number(middle) + ")\"",
                  escaped(plot.ordinate));
    const std::vector<std::string> chosen = colours_of(plot.curves);
    double legend = top + 12;
    for (std::size_t k = 0; k < plot.curves.size(); k++) {
        const std::string &colour = chosen[k];
        std::string points, dots;
        for (const auto &p : plot.curves[k].points) {
            if (!drawn(p)) continue;
            const double px = x.at(p.first), py = y.at(p.second);
            points += point(points.empty() ? "M" : "L", px, py);
            dots += circle(px, py, "r=\"3\"");
        }
        text += path(points, "fill=\"none\" " + stroke(colour, 1.8)) + element("g", fill(colour), dots);
        text += line(right + 18, legend, right + 40, legend, stroke(colour, 3));
        text += words(right + 48, legend + 4.5, "", escaped(plot.curves[k].label));
        legend += 24;
    }
    double width = std::max(usual_width, reach_of_heading(left, plot.title, plot.subtitle));
    for (const auto &one : plot.curves) width = std::max(width, right + 56 + reach(one.label, 13));
    return file(width, height, 13, text);
}

} // namespace cudaopt::bench
