// A plot of a run: f and ||Pg|| against iterations.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

// title: the problem and the method
// subtitle: the termination
// Returns SVG text. If f is not positive throughout, f minus its lowest value is drawn.
std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle);

} // namespace driver
