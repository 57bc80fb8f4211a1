#include "apps/cvt/exact_diagram.hpp"

#include <boost/polygon/voronoi.hpp>

#include <cmath>

namespace cudaopt::cvt {
namespace {

constexpr double unit = 1 << 30;

using Diagram = boost::polygon::voronoi_diagram<double>;
using RoundedSite = boost::polygon::point_data<int32_t>;

int32_t rounded(double coordinate) { return static_cast<int32_t>(std::lround(coordinate * unit)); }

// Cuts a polygon by the bisector of the origin and the site at d. Returns the part on the side of the origin.
Polygon cut(const Polygon &polygon, const Point &d) {
    const double half = (d.x * d.x + d.y * d.y) / 2;
    const auto beyond = [&](const Point &p) { return p.x * d.x + p.y * d.y - half; };
    Polygon rest;
    for (std::size_t k = 0; k < polygon.size(); k++) {
        const Point &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
        const double at_p = beyond(p), at_q = beyond(q);
        if (at_p <= 0) rest.push_back(p);
        if ((at_p < 0 && at_q > 0) || (at_p > 0 && at_q < 0)) {
            const double t = at_p / (at_p - at_q);
            rest.push_back({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)});
        }
    }
    return rest;
}

} // namespace

bool ExactDiagram::available() { return true; }

ExactDiagram::ExactDiagram(const std::vector<double> &x)
    : cells_(x.size() / 2), neighbours_(x.size() / 2), gradient_(x.size()) {
    std::vector<RoundedSite> sites;
    for (std::size_t i = 0; i < x.size(); i += 2) sites.emplace_back(rounded(x[i]), rounded(x[i + 1]));
    Diagram diagram;
    boost::polygon::construct_voronoi(sites.begin(), sites.end(), &diagram);

    coinciding_ = static_cast<int64_t>(sites.size() - diagram.cells().size());
    for (const Diagram::cell_type &cell : diagram.cells()) {
        std::vector<std::size_t> neighbours;
        if (const Diagram::edge_type *const first = cell.incident_edge()) {
            const Diagram::edge_type *edge = first;
            do {
                neighbours.push_back(edge->twin()->cell()->source_index());
                edge = edge->next();
            } while (edge != first);
        }
        add_cell(x, cell.source_index(), neighbours);
    }
    for (const Diagram::vertex_type &vertex : diagram.vertices()) {
        const bool restricted = vertex.x() >= 0 && vertex.x() <= unit && vertex.y() >= 0 && vertex.y() <= unit;
        // `around` contains the sites on the circle around a vertex of the Voronoi diagram. If there are more than
        // three, the polygon that they form is divided into triangles.
        std::vector<int32_t> around;
        const Diagram::edge_type *const first = vertex.incident_edge(), *edge = first;
        do {
            around.push_back(static_cast<int32_t>(edge->cell()->source_index()));
            edge = edge->rot_next();
        } while (edge != first);
        for (std::size_t k = 2; k < around.size(); k++)
            triangles_.push_back({{around[0], around[k - 1], around[k]}, restricted});
    }
}

void ExactDiagram::add_cell(const std::vector<double> &x, std::size_t i, const std::vector<std::size_t> &neighbours) {
    const double sx = x[2 * i], sy = x[2 * i + 1];
    Polygon cell = {{-sx, -sy}, {1 - sx, -sy}, {1 - sx, 1 - sy}, {-sx, 1 - sy}};
    for (const std::size_t j : neighbours) cell = cut(cell, {x[2 * j] - sx, x[2 * j + 1] - sy});
    neighbours_[i] = static_cast<int32_t>(neighbours.size());

    // The polygon is the sum of the triangles (0, p, q). Let c = p x q be twice the area of such a triangle. Over
    // the triangle the integral of |v|^2 is c (p'p + p'q + q'q) / 12, and the integral of v is c (p + q) / 6.
    for (std::size_t k = 0; k < cell.size(); k++) {
        const Point &p = cell[k], &q = cell[(k + 1) % cell.size()];
        const double cross = p.x * q.y - p.y * q.x;
        energy_ += cross / 12 * (p.x * p.x + p.y * p.y + p.x * q.x + p.y * q.y + q.x * q.x + q.y * q.y);
        gradient_[2 * i] -= cross / 3 * (p.x + q.x);
        gradient_[2 * i + 1] -= cross / 3 * (p.y + q.y);
    }
    for (Point &p : cell) p = {p.x + sx, p.y + sy};
    cells_[i] = std::move(cell);
}

} // namespace cudaopt::cvt
