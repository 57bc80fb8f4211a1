#include "convergence_plot.hpp"

#include "svg_plot.hpp"

#include <vector>

namespace driver {

std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle) {
    std::vector<double> f;
    Series gradient{"||Pg||", "#d9662b", {}};
    for (const Iterate &iterate : history) {
        f.push_back(iterate.f);
        gradient.y.push_back(iterate.pg_norm2);
    }
    return svg({title, subtitle, "iterations", {falling("f", "#1f5fa8", f), gradient}});
}

} // namespace driver
