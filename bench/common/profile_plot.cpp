#include "profile_plot.hpp"

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

double ordinate(double share) { return bottom + (top - bottom) * share; }

// Of each solved problem the cost over the best solver's, in rising order.
std::vector<double> factors(const Costs &solver, const std::vector<Costs> &all) {
    std::vector<double> result;
    for (std::size_t k = 0; k < solver.of_problem.size(); k++) {
        double best = INFINITY;
        for (const Costs &other : all)
            if (std::isfinite(other.of_problem[k])) best = std::min(best, other.of_problem[k]);
        if (std::isfinite(solver.of_problem[k])) result.push_back(solver.of_problem[k] / best);
    }
    std::sort(result.begin(), result.end());
    return result;
}

} // namespace

std::string svg(const ProfilePlot &plot) {
    const auto abscissa = [&](double factor) {
        return left + (right - left) * std::log(factor) / std::log(plot.largest_factor);
    };
    std::string text = heading(left, plot.title, plot.subtitle);
    for (double factor = 1; factor <= plot.largest_factor; factor *= 2) {
        text += line(abscissa(factor), top, abscissa(factor), bottom, stroke("#e3e3e3", 1));
        text += words(abscissa(factor), bottom + 22, "text-anchor=\"middle\"", number(factor, 0));
    }
    for (int tenths = 0; tenths <= 10; tenths += 2) {
        const double y = ordinate(tenths / 10.0);
        text += line(left, y, right, y, stroke("#e3e3e3", 1));
        text += words(left - 10, y + 5, "text-anchor=\"end\"", number(tenths / 10.0));
    }
    text += line(left, bottom, right, bottom, stroke("#333", 1)) + line(left, top, left, bottom, stroke("#333", 1));
    text += words((left + right) / 2, bottom + 48, "text-anchor=\"middle\"", escaped(plot.abscissa));
    const double middle = (top + bottom) / 2;
    text += words(28, middle, "text-anchor=\"middle\" transform=\"rotate(-90 28 " + number(middle) + ")\"",
                  "share of the problems");
    const std::vector<std::string> chosen = colours_of(plot.solvers);
    double legend = top + 12;
    for (std::size_t k = 0; k < plot.solvers.size(); k++) {
        const std::string &colour = chosen[k];
        const auto problems = static_cast<double>(plot.solvers[k].of_problem.size());
        double share = 0;
        std::string points = point("M", left, bottom);
        for (const double factor : factors(plot.solvers[k], plot.solvers)) {
            if (factor > plot.largest_factor) break;
            points += point("L", abscissa(factor), ordinate(share));
            share += 1 / problems;
            points += point("L", abscissa(factor), ordinate(share));
        }
        points += point("L", right, ordinate(share));
        text += path(points, "fill=\"none\" " + stroke(colour, 1.8));
        text += line(right + 18, legend, right + 40, legend, stroke(colour, 3));
        text += words(right + 48, legend + 4.5, "", escaped(plot.solvers[k].label));
        legend += 24;
    }
    double width = std::max(usual_width, reach_of_heading(left, plot.title, plot.subtitle));
    for (const auto &one : plot.solvers) width = std::max(width, right + 56 + reach(one.label, 13));
    return file(width, height, 13, text);
}

} // namespace cudaopt::bench
