// Draws two Voronoi tessellations side by side as SVG text.
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

// Draws two diagrams and returns SVG text. The colour of a cell depends on its number of neighbours, because nearly all
// cells of a good tessellation have six. Sites and triangles are drawn if they are few enough to be visible.
std::string draw_diagrams(const std::string &title, const DrawnDiagram &left, const DrawnDiagram &right);

} // namespace driver
