// In place of exact_diagram.cpp where there is no Boost.Polygon.
#include "testfuncs/cvt/exact_diagram.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs::cvt {

bool ExactDiagram::available() { return false; }

ExactDiagram::ExactDiagram(const std::vector<double> &) {
    throw std::runtime_error("the exact Voronoi diagram was built without Boost.Polygon");
}

} // namespace cudaopt::testfuncs::cvt
