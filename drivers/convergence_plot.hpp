// Plots f and ||Pg||, the norm of the projected gradient, of a run against iterations.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

// Returns SVG text. If some values of f are not positive, f minus its lowest value is drawn.
// title: the problem and the method
// subtitle: how the solve has ended
std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle);

} // namespace driver
