#include "svg_plot.hpp"

#include "svg_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace driver {

using namespace svg_text;

namespace {

constexpr double width = 880, height = 540;
// The edges of the area in which curves are drawn, in units of the picture. The legend is above this area.
constexpr double left = 84, right = 852, bottom = 482;
constexpr double legend_row = 20;

bool drawn(double y) { return std::isfinite(y) && y > 0; }

double x_at(const Series &series, std::size_t i) { return series.x.empty() ? static_cast<double>(i) : series.x[i]; }

// A grid line of the plot, at the value mantissa * 10^exponent.
struct Tick {
    int mantissa, exponent;
    double log() const { return exponent + std::log10(mantissa); }
    // Returns the label of the grid line. If `plain` is true and |exponent| <= 3, the number is written without an
    // exponent.
    std::string label(bool plain) const {
        if (plain && std::abs(exponent) <= 3) return number(mantissa * std::pow(10., exponent), std::max(0, -exponent));
        return (mantissa == 1 ? "" : std::to_string(mantissa) + "\u00b7") + power_of_ten(exponent);
    }
};

// Returns grid lines of a logarithmic axis from just below `low` to just above `high`. They are at all powers of ten,
// or at every k-th one if there are many. If there are few, they are also at 2 and 5 times the powers of ten.
std::vector<Tick> logarithmic_ticks(double low, double high) {
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    std::vector<Tick> ticks;
    if (last - first <= 3) {
        for (int exponent = first; exponent <= last; exponent++)
            for (const int mantissa : {1, 2, 5}) ticks.push_back({mantissa, exponent});
        const auto below = [&](const Tick &t) { return t.log() <= std::log10(low) + 1e-9; };
        const auto above = [&](const Tick &t) { return t.log() >= std::log10(high) - 1e-9; };
        while (ticks.size() > 2 && below(ticks[1])) ticks.erase(ticks.begin());
        while (ticks.size() > 2 && above(ticks[ticks.size() - 2])) ticks.pop_back();
        return ticks;
    }
    const int step = (last - first + 8) / 9;
    const int lowest = last - (last - first + step - 1) / step * step;
    for (int exponent = lowest; exponent <= last; exponent += step) ticks.push_back({1, exponent});
    return ticks;
}

// Returns the distance of about ten grid lines of a linear axis on [0, last]: 1, 2 or 5 times a power of ten.
long long linear_step(long long last) {
    for (long long power = 1;; power *= 10)
        for (const int mantissa : {1, 2, 5})
            if (last / (mantissa * power) <= 10) return mantissa * power;
}

class Chart {
  public:
    explicit Chart(const Plot &plot) {
        double low = INFINITY, high = 0, first = INFINITY;
        for (const Series &series : plot.series) {
            if (!series.y.empty()) {
                first = std::min(first, x_at(series, 0));
                last_ = std::max(last_, x_at(series, series.y.size() - 1));
            }
            for (const double y : series.y)
                if (drawn(y)) {
                    low = std::min(low, y);
                    high = std::max(high, y);
                }
        }
        if (high == 0) low = high = 1;
        ticks_ = logarithmic_ticks(low, high);
        if (ticks_.size() == 1) ticks_.push_back({1, ticks_[0].exponent + 1});
        if (plot.logarithmic_abscissa && drawn(first)) decades_ = logarithmic_ticks(first, last_);
        if (decades_.size() == 1) decades_.push_back({1, decades_[0].exponent + 1});
    }

    std::string draw(const Plot &plot) {
        text_ = heading(left, plot.title, plot.subtitle);
        legend(plot);
        ordinate();
        abscissa(plot.abscissa);
        for (const Series &series : plot.series) curve(series);
        return text_;
    }

  private:
    double x_of(double x) const {
        if (decades_.empty()) return left + (right - left) * x / std::max(1., last_);
        const double low = decades_.front().log(), high = decades_.back().log();
        return left + (right - left) * (std::log10(x) - low) / (high - low);
    }
    double y_of(double log) const {
        const double low = ticks_.front().log(), high = ticks_.back().log();
        return bottom - (bottom - top_) * (log - low) / (high - low);
    }

    void ordinate() {
        const bool plain = std::any_of(ticks_.begin(), ticks_.end(), [](const Tick &t) { return t.mantissa != 1; });
        for (const Tick &tick : ticks_) {
            const double y = y_of(tick.log());
            text_ += line(left, y, right, y, "stroke=\"#e3e3e3\"");
            text_ += words(left - 10, y + 5, "text-anchor=\"end\"", tick.label(plain));
        }
    }

    void abscissa(const std::string &name) {
        text_ += line(left, bottom, right, bottom, "stroke=\"#333\"");
        const auto mark = [&](double at, const std::string &label) {
            text_ += line(at, bottom, at, bottom + 5, "stroke=\"#333\"");
            text_ += words(at, bottom + 21, "text-anchor=\"middle\"", label);
        };
        for (const Tick &tick : decades_) mark(x_of(std::pow(10., tick.log())), tick.label(false));
        if (decades_.empty()) {
            const auto last = static_cast<long long>(last_);
            const long long step = linear_step(last);
            for (long long i = 0; i <= last; i += step) mark(x_of(static_cast<double>(i)), with_separators(i));
        }
        text_ += words((left + right) / 2, bottom + 44, "text-anchor=\"middle\"", escaped(name));
    }

    void curve(const Series &series) {
        std::string points, dots;
        bool pen_down = false;
        for (std::size_t i = 0; i < series.y.size(); i++) {
            if (!drawn(series.y[i])) {
                pen_down = false;
                continue;
            }
            const double x = x_of(x_at(series, i)), y = y_of(std::log10(series.y[i]));
            points += point(pen_down ? "L" : "M", x, y);
            dots += circle(x, y, "r=\"2.5\"");
            pen_down = true;
        }
        text_ += path(points, "fill=\"none\" " + stroke(series.colour, 1.8) + " stroke-linejoin=\"round\"");
        // Dots are drawn only for curves with at most this number of points, because more dots would overlap.
        constexpr std::size_t most_dots = 80;
        if (series.y.size() <= most_dots) text_ += element("g", fill(series.colour), dots);
    }

    static double legend_width(const Series &series) { return 44 + 7.5 * static_cast<double>(series.label.size()); }

    // Writes the legend in as many rows as necessary. Each row ends at the right edge. The curves are drawn below the
    // legend.
    void legend(const Plot &plot) {
        double y = 76;
        for (std::size_t first = 0, end = 0; first < plot.series.size(); first = end, y += legend_row) {
            double x = right;
            while (end < plot.series.size() && (end == first || x - legend_width(plot.series[end]) >= left))
                x -= legend_width(plot.series[end++]);
            for (std::size_t k = first; k < end; x += legend_width(plot.series[k++])) {
                text_ += line(x, y, x + 22, y, "stroke-width=\"3\" " + attribute("stroke", plot.series[k].colour));
                text_ += words(x + 29, y + 4.5, "", escaped(plot.series[k].label));
            }
        }
        top_ = std::max(92., y - legend_row + 16);
    }

    double top_ = 92;
    double last_ = 0;
    // The grid lines of the vertical axis, and those of a logarithmic horizontal axis.
    std::vector<Tick> ticks_, decades_;
    std::string text_;
};

} // namespace

Series falling(const std::string &name, const std::string &colour, const std::vector<double> &values) {
    Series series{name, colour, values};
    double lowest = INFINITY, highest = -INFINITY;
    for (const double value : values)
        if (std::isfinite(value)) {
            lowest = std::min(lowest, value);
            highest = std::max(highest, value);
        }
    // If the lowest value exceeds this fraction of the highest value, the curve would look flat on a logarithmic axis.
    // In this case, and if the lowest value is negative, the lowest value is subtracted.
    constexpr double flat = 1e-3;
    if (highest > lowest && (lowest < 0 || lowest > flat * highest)) {
        series.label += " \u2212 lowest f";
        for (double &value : series.y) value -= lowest;
    }
    return series;
}

std::string with_separators(long long number) {
    std::string digits = std::to_string(number);
    for (int place = static_cast<int>(digits.size()) - 3; place > (number < 0 ? 1 : 0); place -= 3)
        digits.insert(static_cast<std::size_t>(place), ",");
    return digits;
}

std::string svg(const Plot &plot) { return svg(std::vector<Plot>{plot}); }

std::string svg(const std::vector<Plot> &plots) {
    const double all = height * static_cast<double>(plots.size());
    double whole = width;
    for (const Plot &plot : plots) whole = std::max(whole, reach_of_heading(left, plot.title, plot.subtitle));
    std::string text;
    for (std::size_t i = 0; i < plots.size(); i++) {
        const std::string chart = Chart(plots[i]).draw(plots[i]);
        text += i == 0 ? chart : moved(0, height * static_cast<double>(i), chart);
    }
    return file(whole, all, 13, text);
}

} // namespace driver
