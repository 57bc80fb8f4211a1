// Tests of the functions that relate one variable to its bounds.
#include "lbfgsb/box.hpp"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>

using cudaopt::infinity;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The library's functions are templates over the number type. These wrappers fix it to double, so that integer literals
// can be passed as well.
double clamp_to_box(double x, double l, double u) { return cudaopt::clamp_to_box<double>(x, l, u); }
double projected_gradient(double x, double g, double l, double u) {
    return cudaopt::projected_gradient<double>(x, g, l, u);
}
bool is_active(double x, double g, double l, double u) { return cudaopt::is_active<double>(x, g, l, u); }
double breakpoint(double x, double g, double l, double u) { return cudaopt::breakpoint<double>(x, g, l, u); }

} // namespace

TEST_CASE("clamp_to_box returns x or the exact bound and preserves NaN", "[box]") {
    CHECK(clamp_to_box(0.5, 0.0, 1.0) == 0.5);
    CHECK(clamp_to_box(-1e-300, 0.1, 1.0) == 0.1);
    CHECK(clamp_to_box(2.0, 0.0, 1.0 / 3) == 1.0 / 3);
    CHECK(clamp_to_box(5.0, -infinity, infinity) == 5);
    CHECK(clamp_to_box(5.0, 2.0, 2.0) == 2);
    CHECK(std::isnan(clamp_to_box(not_a_number, 0.0, 1.0)));
}

TEST_CASE("The projected gradient is x - P(x - g)", "[box]") {
    for (const double x : {0.0, 0.25, 1.0})
        for (const double g : {-4.0, -0.125, 0.0, 0.125, 4.0})
            for (const double l : {-infinity, -1.0, 0.0})
                for (const double u : {1.0, 2.0, infinity}) {
                    INFO("x = " << x << ", g = " << g << ", box [" << l << ", " << u << "]");
                    CHECK(projected_gradient(x, g, l, u) == x - std::min(u, std::max(l, x - g)));
                }
    CHECK(std::isnan(projected_gradient(0.5, not_a_number, 0.0, 1.0)));
    CHECK(projected_gradient(0.5, infinity, 0.0, 1.0) == 0.5);
    CHECK(projected_gradient(0.5, -infinity, 0.0, 1.0) == -0.5);
}

TEST_CASE("A variable is active if -g does not move it into the box", "[box]") {
    CHECK(is_active(0.0, 1.0, 0.0, 1.0));
    CHECK_FALSE(is_active(0.0, -1.0, 0.0, 1.0));
    CHECK(is_active(1.0, -1.0, 0.0, 1.0));
    CHECK_FALSE(is_active(1.0, 1.0, 0.0, 1.0));
    CHECK_FALSE(is_active(0.5, 1.0, 0.0, 1.0));
    CHECK(is_active(0.5, 1.0, 0.5, 0.5));
    CHECK(is_active(0.5, -1.0, 0.5, 0.5));
    CHECK_FALSE(is_active(0.5, 0.0, 0.0, 1.0));
}

TEST_CASE("A breakpoint is the t at which x - t g reaches a bound", "[box]") {
    CHECK(breakpoint(0.5, 2.0, 0.0, 1.0) == 0.25);
    CHECK(breakpoint(0.5, -2.0, 0.0, 1.0) == 0.25);
    CHECK(breakpoint(0.5, 0.0, 0.0, 1.0) == infinity);
    CHECK(breakpoint(0.0, 1.0, 0.0, 1.0) == 0);
    CHECK(breakpoint(1.0, 1.0, 0.0, 1.0) == 1);
    CHECK(breakpoint(0.5, 1.0, -infinity, 1.0) == infinity);
    CHECK(breakpoint(0.5, -1.0, 0.0, infinity) == infinity);
    CHECK(breakpoint(0.5, -1.0, 0.5, 0.5) == 0);
}

TEST_CASE("breakpoint_exceeds never contradicts breakpoint and fails only within rounding errors of t", "[box]") {
    const double sizes[] = {5e-324, 1e-310, 2e-308, 1e-150, 1e-3, 0.3, 1.0, 7.0, 1e5, 1e150, 1e308, infinity};
    int known = 0;
    for (const double x : {0.0, 0.25, -3.0, 1e200})
        for (const double away : sizes)
            for (const double size : sizes)
                for (const bool up : {false, true}) {
                    const double l = x - away, u = x + away, g = up ? -size : size;
                    const double first = breakpoint(x, g, l, u);
                    for (const double t : {5e-324, 1e-200, 0.5 * first, (1 - 1e-9) * first, std::nextafter(first, 0),
                                           first, std::nextafter(first, infinity), 2 * first, 1e308}) {
                        if (!(t > 0) || is_active(x, g, l, u)) continue;
                        INFO("x = " << x << ", distance " << away << ", g = " << g << ", t = " << t);
                        const bool exceeds = cudaopt::breakpoint_exceeds<double>(t, x, g, l, u);
                        if (exceeds) CHECK(first > t);
                        else if (std::isfinite(first) && std::isfinite(size) && t * size > 1e-300 && first < 1e300)
                            CHECK(first <= (1 + 1e-11) * t);
                        known += exceeds;
                    }
                }
    CHECK(known > 500);
    CHECK_FALSE(cudaopt::breakpoint_exceeds<double>(1.0, 0.5, 0.0, 0.0, 1.0)); // g = 0 is left to breakpoint()
    CHECK_FALSE(cudaopt::breakpoint_exceeds<double>(1.0, 0.5, not_a_number, 0.0, 1.0));
}
