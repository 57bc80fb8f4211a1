#include "testfuncs/grid.hpp"

#include <algorithm>
#include <cmath>

namespace cudaopt::testfuncs {
namespace {

constexpr int64_t shortest_side = 2, longest_side = 1000000000;

// Returns the side of the grid (nx or ny) that the user gave as a parameter, or 0 if none was given.
int64_t given_side(const Parameters &parameters, const char *name) {
    const double side = parameters.at(name);
    return std::isnan(side) ? 0 : static_cast<int64_t>(side);
}

// Returns the reason why a side of the grid (nx or ny) is invalid, or "" if it is valid.
std::string check_side(const Parameters &parameters, const std::string &name) {
    const double side = parameters.at(name);
    if (std::isnan(side) || (side == std::floor(side) && shortest_side <= side && side <= longest_side)) return "";
    return name + " must be a whole number from " + std::to_string(shortest_side) + " to " +
           std::to_string(longest_side) + ", not " + text_of(side);
}

int64_t nearest_side(double side) {
    return std::clamp(static_cast<int64_t>(std::llround(side)), shortest_side, longest_side);
}

// Returns the integer s whose square is nearest to the number of points. If two integers are equally near, the smaller
// one is returned.
int64_t nearest_square(double points) {
    const int64_t s = nearest_side(std::floor(std::sqrt(points)));
    const auto side = static_cast<double>(s);
    return points - side * side > (side + 1) * (side + 1) - points ? nearest_side(side + 1) : s;
}

} // namespace

double Grid::distance_to_boundary(int64_t point) const {
    const int64_t i = column(point) + 1, j = row(point) + 1;
    const double hx = 1 / static_cast<double>(nx + 1), hy = 1 / static_cast<double>(ny + 1);
    return std::min(static_cast<double>(std::min(i, nx + 1 - i)) * hx,
                    static_cast<double>(std::min(j, ny + 1 - j)) * hy);
}

std::string Grid::text() const { return std::to_string(nx) + " x " + std::to_string(ny); }

std::vector<Parameter> with_sides(std::vector<Parameter> own) {
    own.push_back({"nx", NAN, -INFINITY, INFINITY, "points of the grid in x, by default as n says"});
    own.push_back({"ny", NAN, -INFINITY, INFINITY, "points of the grid in y, by default as n says"});
    return own;
}

Dimension fit_grid(int64_t n, const Parameters &parameters, int variables_per_point) {
    for (const char *name : {"nx", "ny"})
        if (const std::string wrong = check_side(parameters, name); !wrong.empty()) return {0, wrong};
    const int64_t least = shortest_side * shortest_side * variables_per_point;
    const bool both_given = given_side(parameters, "nx") > 0 && given_side(parameters, "ny") > 0;
    if (!both_given && n < least)
        return {0, "n must be at least " + std::to_string(least) + ", a grid of " +
                       Grid{shortest_side, shortest_side}.text() + " points, not " + std::to_string(n)};
    return {grid_of(n, parameters, variables_per_point).points() * variables_per_point, ""};
}

Grid grid_of(int64_t n, const Parameters &parameters, int variables_per_point) {
    const double points = static_cast<double>(n) / variables_per_point;
    Grid grid = {given_side(parameters, "nx"), given_side(parameters, "ny")};
    if (grid.nx == 0 && grid.ny == 0) grid.nx = grid.ny = nearest_square(points);
    else if (grid.nx == 0) grid.nx = nearest_side(points / static_cast<double>(grid.ny));
    else if (grid.ny == 0) grid.ny = nearest_side(points / static_cast<double>(grid.nx));
    return grid;
}

} // namespace cudaopt::testfuncs
