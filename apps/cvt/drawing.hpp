// Draws two tessellations side by side as SVG text.
#pragma once

#include "apps/cvt/exact_diagram.hpp"

#include <string>
#include <vector>

namespace driver {

struct DrawnDiagram {
    std::string caption;
    const cudaopt::cvt::ExactDiagram *diagram;
    const std::vector<double> *x; // its sites
};

// Cells are coloured by their number of neighbours: in a good tessellation nearly all have six. Sites and triangles are
// drawn if they are few enough to be visible.
std::string draw_diagrams(const std::string &title, const DrawnDiagram &left, const DrawnDiagram &right);

} // namespace driver
