#include "drawing.hpp"

#include "drivers/svg_text.hpp"

#include <cmath>

namespace driver {
namespace {

using namespace cudaopt::cvt;
using namespace svg_text;

constexpr double side = 720, margin = 24, top = 96;
constexpr std::size_t most_with_triangles = 4000;

std::string path_of(const Polygon &polygon) {
    std::string points;
    for (const Point &p : polygon) points += point(points.empty() ? "M" : "L", p.x * side, (1 - p.y) * side);
    return points + "Z";
}

bool at_the_edge(const Polygon &polygon) {
    for (const Point &p : polygon)
        if (p.x <= 1e-12 || p.x >= 1 - 1e-12 || p.y <= 1e-12 || p.y >= 1 - 1e-12) return true;
    return false;
}

struct Kind {
    const char *colour, *label;
};
constexpr Kind kinds[] = {
    {"#f3efe3", "6 neighbours"}, {"#8fbfe0", "5"}, {"#f0a58f", "7"}, {"#9b7fb5", "other"}, {"#dcdcd4", "at the edge"}};

std::size_t kind_of(const ExactDiagram &diagram, std::size_t i) {
    if (at_the_edge(diagram.cells()[i])) return 4;
    const int32_t neighbours = diagram.neighbours()[i];
    return neighbours == 6 ? 0 : neighbours == 5 ? 1 : neighbours == 7 ? 2 : 3;
}

std::string draw(const DrawnDiagram &drawn) {
    const ExactDiagram &diagram = *drawn.diagram;
    const std::vector<double> &x = *drawn.x;
    const std::size_t sites = diagram.cells().size();
    const double distance = side / std::sqrt(static_cast<double>(sites));
    std::string cells = "\n";
    for (std::size_t kind = 0; kind < std::size(kinds); kind++) {
        std::string outlines;
        for (std::size_t i = 0; i < sites; i++)
            if (!diagram.cells()[i].empty() && kind_of(diagram, i) == kind) outlines += path_of(diagram.cells()[i]);
        if (!outlines.empty()) cells += element("path", fill(kinds[kind].colour) + " " + attribute("d", outlines));
    }
    const double outline = std::fmin(1, distance / 15);
    const std::string text =
        element("text", attribute("y", -10, 0), drawn.caption) +
        element("g", "stroke=\"#555\" stroke-linejoin=\"round\" " + attribute("stroke-width", outline, 2), cells);
    if (sites > most_with_triangles) return text;
    std::string edges;
    for (const Triangle &triangle : diagram.triangles()) {
        Polygon corners;
        for (const int32_t i : triangle.site)
            corners.push_back({x[2 * static_cast<std::size_t>(i)], x[2 * static_cast<std::size_t>(i) + 1]});
        if (triangle.restricted) edges += path_of(corners);
    }
    std::string dots; // lines without length, of which the round ends alone are seen: shorter than circles
    for (std::size_t i = 0; i < x.size(); i += 2) dots += point("M", x[i] * side, (1 - x[i + 1]) * side, 2) + "h0";
    return text + element("path", "fill=\"none\" " + stroke("#2a7a4b", 0.8) + " " + attribute("d", edges)) +
           element("path", "fill=\"none\" stroke=\"#111\" stroke-linecap=\"round\" " +
                               attribute("stroke-width", 2 * std::fmin(3, distance / 9), 2) + " " +
                               attribute("d", dots));
}

} // namespace

std::string draw_diagrams(const std::string &title, const DrawnDiagram &left, const DrawnDiagram &right) {
    const double width = 2 * side + 3 * margin, height = side + top + 56;
    const std::string style = place(margin, 36, 0) + " font-size=\"20\" font-weight=\"bold\" fill=\"#111\"";
    std::string text = element("text", style, escaped(title));
    double at = margin;
    for (const DrawnDiagram *drawn : {&left, &right}) {
        text += moved(at, top, draw(*drawn));
        at += side + margin;
    }
    at = margin;
    for (const Kind &kind : kinds) {
        const double y = top + side + 22;
        text += rectangle(at, y, 16, 16, "stroke=\"#555\" " + fill(kind.colour), 0) +
                element("text", place(at + 24, y + 13, 0), kind.label);
        at += 60 + 9 * static_cast<double>(std::string(kind.label).size());
    }
    return file(size(width, height, 0), 14, text);
}

} // namespace driver
