// This test reproduces the log of the 2013 manual to every digit printed: extended Rosenbrock, n = 1,000,000, m = 7.
#include <catch2/catch.hpp>
#include <cstdio>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

std::string exponent_form(double value, int decimals = 6) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*e", decimals, value);
    return text;
}

struct LogLine {
    int64_t iteration, evaluations;
    std::string f, gradient_norm, step; // "" if the manual does not show it
};

const std::vector<LogLine> manual = {
    {1, 4, "8.968026e+06", "1.338990e+05", "1.275337e-04"},
    {2, 5, "2.223223e+06", "1.835022e+04", "1.000000e+00"},
    {3, 6, "2.071674e+06", "2.874521e+03", ""},
    {4, 7, "2.066929e+06", "1.253213e+03", ""},
    {5, 8, "2.064897e+06", "1.409016e+03", ""},
    {6, 9, "2.050814e+06", "3.691128e+03", ""},
    {32, 46, "3.391364e+02", "1.188979e+02", ""},
    {33, 47, "4.085484e+01", "", ""},
    {34, 48, "2.229921e+00", "", ""},
    {35, 49, "1.162750e-02", "", ""},
    {36, 50, "4.912961e-06", "", ""},
};

} // namespace

CONFIGURED_TEST_CASE("The log of the manual is reproduced to every digit", "[large]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = extended_rosenbrock(1000000);
    Vector g(problem.start.size());
    CHECK(exponent_form(problem.evaluate(problem.start, g)) == "1.210000e+07");
    const double square = pairwise_sum(0, problem.size(), [&](int64_t i) { return g[i] * g[i]; });
    CHECK(exponent_form(std::sqrt(square)) == "1.646623e+05");

    Harness<TestType> harness(problem, 7);
    const Outcome outcome = harness.run();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_EPS);
    CHECK(outcome.iterations == 37);
    CHECK(outcome.evaluations == 51);
    REQUIRE(outcome.history.size() == 37);
    for (const LogLine &line : manual) {
        INFO("iteration " << line.iteration);
        const Iterate &iterate = outcome.history[static_cast<std::size_t>(line.iteration - 1)];
        CHECK(iterate.iteration == line.iteration);
        CHECK(iterate.evaluations == line.evaluations);
        CHECK(exponent_form(iterate.f) == line.f);
        if (!line.gradient_norm.empty()) CHECK(exponent_form(iterate.pg_norm2) == line.gradient_norm);
        if (!line.step.empty()) CHECK(exponent_form(iterate.step) == line.step);
    }
    // The manual's last line has five decimals; in exact arithmetic f is 6.752263e-10.
    CHECK(exponent_form(outcome.f, 5) == "6.75226e-10");
    CHECK(outcome.history.back().evaluations == 51);
}
