#include "drawing.hpp"

#include <cmath>
#include <cstdio>

namespace driver {
namespace {

using namespace cudaopt::cvt;

constexpr double side = 720, margin = 24, top = 96;
constexpr std::size_t most_with_triangles = 4000;

std::string format(const char *pattern, double a, double b) {
    char text[96];
    std::snprintf(text, sizeof text, pattern, a, b);
    return text;
}

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return result;
}

std::string point(const Point &p) { return format("%.1f %.1f", p.x * side, (1 - p.y) * side); }

std::string path_of(const Polygon &polygon) {
    std::string path;
    for (const Point &p : polygon) path += (path.empty() ? "M" : "L") + point(p);
    return path + "Z";
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
    std::string text = "<text y=\"-10\">" + drawn.caption + "</text>\n<g stroke=\"#555\" stroke-linejoin=\"round\" " +
                       format("stroke-width=\"%.2f\">\n", std::fmin(1, distance / 15), 0);
    for (std::size_t kind = 0; kind < std::size(kinds); kind++) {
        std::string path;
        for (std::size_t i = 0; i < sites; i++)
            if (!diagram.cells()[i].empty() && kind_of(diagram, i) == kind) path += path_of(diagram.cells()[i]);
        if (!path.empty()) text += "<path fill=\"" + std::string(kinds[kind].colour) + "\" d=\"" + path + "\"/>\n";
    }
    text += "</g>\n";
    if (sites > most_with_triangles) return text;
    std::string edges;
    for (const Triangle &triangle : diagram.triangles()) {
        Polygon corners;
        for (const int32_t i : triangle.site)
            corners.push_back({x[2 * static_cast<std::size_t>(i)], x[2 * static_cast<std::size_t>(i) + 1]});
        if (triangle.restricted) edges += path_of(corners);
    }
    std::string dots; // lines without length, of which the round ends alone are seen: shorter than circles
    for (std::size_t i = 0; i < x.size(); i += 2) dots += format("M%.2f %.2fh0", x[i] * side, (1 - x[i + 1]) * side);
    return text + "<path fill=\"none\" stroke=\"#2a7a4b\" stroke-width=\"0.8\" d=\"" + edges + "\"/>\n" +
           "<path fill=\"none\" stroke=\"#111\" stroke-linecap=\"round\" " +
           format("stroke-width=\"%.2f\" d=\"", 2 * std::fmin(3, distance / 9), 0) + dots + "\"/>\n";
}

} // namespace

std::string draw_diagrams(const std::string &title, const DrawnDiagram &left, const DrawnDiagram &right) {
    const double width = 2 * side + 3 * margin, height = side + top + 56;
    std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" " +
                       format("width=\"%.0f\" height=\"%.0f\" ", width, height) +
                       "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"14\" fill=\"#333\">\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
                       format("<text x=\"%.0f\" y=\"%.0f\" ", margin, 36) +
                       "font-size=\"20\" font-weight=\"bold\" fill=\"#111\">" + escaped(title) + "</text>\n";
    double at = margin;
    for (const DrawnDiagram *drawn : {&left, &right}) {
        text += format("<g transform=\"translate(%.0f %.0f)\">\n", at, top) + draw(*drawn) + "</g>\n";
        at += side + margin;
    }
    at = margin;
    for (const Kind &kind : kinds) {
        const double y = top + side + 22;
        text += format("<rect x=\"%.0f\" y=\"%.0f\" width=\"16\" height=\"16\" stroke=\"#555\" ", at, y) + "fill=\"" +
                kind.colour + "\"/>\n" + format("<text x=\"%.0f\" y=\"%.0f\">", at + 24, y + 13) + kind.label +
                "</text>\n";
        at += 60 + 9 * static_cast<double>(std::string(kind.label).size());
    }
    return text + "</svg>\n";
}

} // namespace driver
