// Plots f and ||Pg||, the norm of the projected gradient, against the number of iterations.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

// Returns the plot as SVG text. If some values of f are not positive, f minus its lowest value is drawn. title: names
// the problem and the method. subtitle: states how the solve ended.
std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle);

} // namespace driver
