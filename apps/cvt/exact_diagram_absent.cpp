// Replaces exact_diagram.cpp if Boost.Polygon is not available.
#include "apps/cvt/exact_diagram.hpp"

#include <stdexcept>

namespace cudaopt::cvt {

bool ExactDiagram::available() { return false; }

ExactDiagram::ExactDiagram(const std::vector<double> &) {
    throw std::runtime_error("the exact Voronoi diagram was built without Boost.Polygon");
}

} // namespace cudaopt::cvt
