#include "search_history.hpp"

#include "svg_plot.hpp"

#include <cinttypes>
#include <cstdio>

namespace driver {

std::string search_csv_header() { return "iteration,evaluations,active,f,seconds\n"; }

std::string search_csv_row(const SearchMoment &m) {
    char row[128];
    std::snprintf(row, sizeof row, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%.17g,%.6f\n", m.iteration, m.evaluations,
                  m.active, m.f, m.seconds);
    return row;
}

std::string search_plot(const std::vector<SearchMoment> &history, const std::string &title,
                        const std::string &subtitle) {
    std::vector<double> f, evaluations;
    for (const SearchMoment &moment : history) {
        f.push_back(moment.f);
        evaluations.push_back(static_cast<double>(moment.evaluations));
    }
    const Series by_iteration = falling("best f", "#1f5fa8", f);
    Series by_evaluation = falling("best f", "#d9662b", f);
    by_evaluation.x = evaluations;
    return svg(std::vector<Plot>{{title, subtitle, "iterations", {by_iteration}},
                                 {"", "", "evaluations of f, all walks together", {by_evaluation}, true}});
}

} // namespace driver
