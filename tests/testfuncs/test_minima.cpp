// The minima of MINPACK-2's problems, by the library from the standard start in the problem's own bounds,
// against values that others computed: they vouch for the definitions as a whole.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"
#include "evaluation.hpp"

#include <cstdio>
#include <utility>

using namespace cudaopt::testfuncs;
using cudaopt_test::CudaDouble;
using cudaopt_test::Harness;
using cudaopt_test::HostDouble;
using cudaopt_test::skipped;

namespace {

struct Minimum {
    double f;
    int64_t active;
};

// With eight correction pairs, on one thread where it is the host's, until ||P g||_inf <= pgtol.
template <class Configuration> Minimum minimise(const std::string &name, int64_t n, double pgtol) {
    const auto problem = make_problem(name, n);
    cudaopt_test::Problem with_bounds = {name, start_of(*problem), {}};
    if (problem->bounded()) {
        with_bounds.lower.resize(problem->n());
        with_bounds.upper.resize(problem->n());
        problem->lower(0, problem->n(), with_bounds.lower.data());
        problem->upper(0, problem->n(), with_bounds.upper.data());
    }
    Place place;
    place.threads = 1;
    if (Configuration::backend == CUDA_OPT_BACKEND_CUDA) place.space = Place::Space::cuda;

    Harness<Configuration> harness(with_bounds, 8);
    harness.with_evaluation([&](const double *x, double *f, double *g) { problem->evaluate(x, f, g, place); });
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 6000).set_int(CUDA_OPT_THREADS, 1);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, pgtol);
    const auto outcome = harness.run();
    if (outcome.task != CUDA_OPT_LINE_SEARCH_FAILED) // where f is as low as its rounding errors allow
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
    return {outcome.f, harness.get_int(CUDA_OPT_LOWER_COUNT) + harness.get_int(CUDA_OPT_UPPER_COUNT)};
}

// f lies at most n pgtol^2 / (2 lambda) above the minimum, where lambda is the least eigenvalue of the Hessian. For
// torsion it is 2 pi^2 h^2 = 20 h^2, and for no problem it is below h^2, which is about 1 / n. The published values are
// rounded to 13 digits. No multiplier of an active bound is below 1e-6, and free variables are farther than 2e-8 from
// their bounds, so that rounding errors do not change the number of active variables.
template <class Configuration> void check(const std::string &name, int64_t n, double f, double pgtol, int64_t active) {
    CAPTURE(name, n);
    const Minimum found = minimise<Configuration>(name, n, pgtol);
    const double size = static_cast<double>(n);
    CHECK(std::fabs(found.f - f) <= 1e-13 + size * size * pgtol * pgtol / 2);
    CHECK(found.active == active);
}

const std::pair<std::string, double> on_200_by_200[] = {{"torsion", -0.4184686643306},
                                                        {"bearing", -0.1805975448480},
                                                        {"minimal-surface", 1.4213532224842},
                                                        {"optimal-design", -0.0113812990272},
                                                        {"combustion", -5.6114485119052}};

} // namespace

CONFIGURED_TEST_CASE("The minimum of torsion on small grids is the published one", "", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    check<TestType>("torsion", 1600, -0.417865756732326, 1e-10, 488);
    check<TestType>("torsion", 10000, -0.418391026664265, 1e-10, 2984);
}

CONFIGURED_TEST_CASE("The minima with 40000 variables are the published ones", "", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const auto &[name, f] : on_200_by_200) {
        const int64_t active = name == "torsion" ? 11888 : name == "bearing" ? 12918 : 0;
        check<TestType>(name, 40000, f, name == "torsion" ? 1e-9 : 1e-8, active);
    }
}

TEST_CASE("The facts of a problem name its minimum on 200 x 200 points") {
    for (const Facts &facts : list_problems()) {
        const auto known = std::find_if(std::begin(on_200_by_200), std::end(on_200_by_200),
                                        [&](const auto &one) { return one.first == facts.name; });
        if (known == std::end(on_200_by_200)) continue;
        char value[32];
        std::snprintf(value, sizeof value, "%.8f", known->second);
        CHECK(facts.minimum.rfind(value, 0) == 0);
        CHECK(facts.minimum.find("on 200 x 200 points") != std::string::npos);
    }
}

CONFIGURED_TEST_CASE("The minimum of torsion with 160000 variables is the published one", "[.slow]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    check<TestType>("torsion", 160000, -0.4184883039833, 1e-10, 47392);
}
