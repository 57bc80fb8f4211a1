// The minima of MINPACK-2's problems, by the library on the host from the standard start in the problem's own bounds,
// against values that others computed: they vouch for the definitions as a whole.
#include <catch2/catch.hpp>

#include "cuda_opt.h"
#include "evaluation.hpp"

#include <stdexcept>

using namespace cudaopt::testfuncs;

namespace {

struct Minimum {
    double f;
    std::int64_t active;
};

/// With eight correction pairs, one thread, down to the rounding errors of f.
Minimum minimise(const std::string &name, std::int64_t n)
{
    const auto problem = make_problem(name, n);
    cuda_opt *s = nullptr;
    int code = cuda_opt_create(&s, problem->n(), 8, CUDA_OPT_BACKEND_HOST);
    const auto expect_success = [&](int returned) {
        if (returned < 0)
            throw std::runtime_error(cuda_opt_message(s));
    };
    expect_success(code);
    Vector x = start_of(*problem), g(x.size()), lower(x.size()), upper(x.size());
    problem->lower(0, problem->n(), lower.data());
    problem->upper(0, problem->n(), upper.data());
    if (problem->bounded())
        expect_success(cuda_opt_set_bounds(s, lower.data(), upper.data()));
    expect_success(cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 6000));
    expect_success(cuda_opt_set_int(s, CUDA_OPT_THREADS, 1));
    expect_success(cuda_opt_set_real(s, CUDA_OPT_EPS, 0));
    expect_success(cuda_opt_set_real(s, CUDA_OPT_PGTOL, 1e-10));
    double f;
    Place place;
    place.threads = 1;
    while ((code = cuda_opt_solve(s, x.data(), &f, g.data())) > 0)
        problem->evaluate(x.data(), &f, g.data(), place);
    if (code != CUDA_OPT_LINE_SEARCH_FAILED) // where f is as low as its rounding errors allow
        expect_success(code);
    std::int64_t at_lower, at_upper;
    cuda_opt_get_int(s, CUDA_OPT_LOWER_COUNT, &at_lower);
    cuda_opt_get_int(s, CUDA_OPT_UPPER_COUNT, &at_upper);
    cuda_opt_destroy(&s);
    return {f, at_lower + at_upper};
}

void check(const std::string &name, std::int64_t n, double f, double tolerance, std::int64_t active)
{
    CAPTURE(name, n);
    const Minimum found = minimise(name, n);
    CHECK(std::fabs(found.f - f) <= tolerance);
    CHECK(found.active == active);
}

} // namespace

TEST_CASE("minima: torsion on small grids")
{
    check("torsion", 1600, -0.417865756732326, 1e-14, 488);
    check("torsion", 10000, -0.418391026664265, 1e-14, 2984);
}

TEST_CASE("minima: 40,000 variables")
{
    check("torsion", 40000, -0.4184686643306, 1e-13, 11888);
    check("bearing", 40000, -0.1805975448480, 1e-13, 12918);
    check("minimal-surface", 40000, 1.4213532224842, 1e-13, 0);
    check("optimal-design", 40000, -0.0113812990272, 1e-13, 0);
    check("combustion", 40000, -5.6114485119052, 2e-13, 0);
}

TEST_CASE("minima: torsion with 160,000 variables", "[.slow]")
{
    check("torsion", 160000, -0.4184883039833, 1e-13, 47392);
}
