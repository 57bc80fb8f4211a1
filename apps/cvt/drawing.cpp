#include "drawing.hpp"

#include "drivers/svg_text.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace driver {
namespace {

using namespace cudaopt::cvt;
using namespace svg_text;

constexpr double side = 720, margin = 24, top = 96;
constexpr std::size_t most_with_triangles = 4000;

// Coordinates are integers, with 10 units per pixel, because integers take fewer characters than fractions.
constexpr int units = 10;

// Writes an SVG path through points with integer coordinates. Each point is written relative to the previous one, which
// takes fewer characters. Errors do not accumulate, because the differences are between rounded points.
class Trace {
  public:
    void move_to(const Point &p) {
        go(p);
        text_ += "M" + std::to_string(x_) + " " + std::to_string(y_);
    }
    void line_to(const Point &p) {
        const long x = x_, y = y_;
        go(p);
        const std::string down = std::to_string(y_ - y);
        text_ += "l" + std::to_string(x_ - x) + (down[0] == '-' ? "" : " ") + down;
    }
    void close() { text_ += "Z"; }
    // Draws a dot: a line of length 0, of which only the round caps are visible.
    void dot() { text_ += "h0"; }
    const std::string &text() const { return text_; }

  private:
    void go(const Point &p) {
        x_ = std::lround(p.x * side * units);
        y_ = std::lround((1 - p.y) * side * units);
    }

    std::string text_;
    long x_ = 0, y_ = 0;
};

void outline(const Polygon &polygon, Trace &trace) {
    trace.move_to(polygon[0]);
    for (std::size_t k = 1; k < polygon.size(); k++) trace.line_to(polygon[k]);
    trace.close();
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
        Trace outlines;
        for (std::size_t i = 0; i < sites; i++)
            if (!diagram.cells()[i].empty() && kind_of(diagram, i) == kind) outline(diagram.cells()[i], outlines);
        if (!outlines.text().empty())
            cells += element("path", fill(kinds[kind].colour) + " " + attribute("d", outlines.text()));
    }
    const double width = std::fmin(1, distance / 15);
    const std::string text = element("text", attribute("y", -10, 0), drawn.caption);
    std::string lines =
        element("g", "stroke=\"#555\" stroke-linejoin=\"round\" " + attribute("stroke-width", width * units), cells);
    if (sites <= most_with_triangles) {
        const auto site = [&](std::size_t i) { return Point{x[2 * i], x[2 * i + 1]}; };
        std::vector<std::set<std::size_t>> neighbours(sites);
        for (const Triangle &triangle : diagram.triangles())
            for (std::size_t k = 0; triangle.restricted && k < 3; k++) {
                const auto from = static_cast<std::size_t>(triangle.site[k]),
                           to = static_cast<std::size_t>(triangle.site[(k + 1) % 3]);
                neighbours[from].insert(to);
                neighbours[to].insert(from);
            }
        // An edge that two triangles share is drawn only once. As many edges as possible form one path.
        Trace sides, dots;
        for (std::size_t begin = 0; begin < sites; begin++)
            while (!neighbours[begin].empty()) {
                sides.move_to(site(begin));
                for (std::size_t at = begin; !neighbours[at].empty();) {
                    const std::size_t next = *neighbours[at].begin();
                    neighbours[at].erase(next);
                    neighbours[next].erase(at);
                    sides.line_to(site(next));
                    at = next;
                }
            }
        for (std::size_t i = 0; i < sites; i++) {
            dots.move_to(site(i));
            dots.dot();
        }
        lines +=
            element("path", "fill=\"none\" " + stroke("#2a7a4b", 0.8 * units) + " " + attribute("d", sides.text())) +
            element("path", "fill=\"none\" stroke=\"#111\" stroke-linecap=\"round\" " +
                                attribute("stroke-width", 2 * std::fmin(3, distance / 9) * units) + " " +
                                attribute("d", dots.text()));
    }
    return text + element("g", attribute("transform", "scale(" + number(1.0 / units) + ")"), "\n" + lines);
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
    return file(width, height, 14, text);
}

} // namespace driver
