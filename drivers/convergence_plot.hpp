// The picture of a run: f and ||Pg|| against iterations.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

// title: what was minimised, and how
// subtitle: how it ended
// Returns SVG text. Where f is not positive throughout, f less its lowest value is drawn
std::string convergence_plot(const History &history, const std::string &title, const std::string &subtitle);

} // namespace driver
