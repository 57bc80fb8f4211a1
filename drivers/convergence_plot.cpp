#include "convergence_plot.hpp"

#include "svg_plot.hpp"

#include <algorithm>
#include <cmath>

namespace driver {

std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle) {
    Series f{"f", "#1f5fa8", {}}, gradient{"||Pg||", "#d9662b", {}};
    double lowest = INFINITY;
    for (const Iterate &iterate : history) {
        f.y.push_back(iterate.f);
        gradient.y.push_back(iterate.pg_norm2);
        lowest = std::min(lowest, iterate.f);
    }
    if (lowest < 0) {
        f.label = "f \u2212 lowest f";
        for (double &value : f.y) value -= lowest;
    }
    return svg({title, subtitle, "iterations", {f, gradient}});
}

} // namespace driver
