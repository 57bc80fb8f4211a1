// Performance profiles (Dolan, More, Math. Program. 91 (2002) 201) as SVG text: the fraction of the problems that a
// solver solves at no more than a factor times the cost of the best, against that factor on a logarithmic axis.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::bench {

struct Costs {
    std::string label;
    std::vector<double> of_problem; // in the same order for each solver; what is not finite is not solved
};

struct ProfilePlot {
    std::string title, subtitle, abscissa;
    double largest_factor;
    std::vector<Costs> solvers; // six at most, so that their colours differ
};

std::string svg(const ProfilePlot &plot);

} // namespace cudaopt::bench
