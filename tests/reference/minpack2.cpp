// On the eight problems of MINPACK-2, the host backend, the CUDA backend and L-BFGS-B 3.0 have the same iterates for 20
// iterations, as far as rounding errors do not decide them, and the same final energy. Later iterates are chaotic, in
// some problems after 50 iterations and in all of them within 200. For the CUDA backend, f and g are evaluated on the
// device.
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>

#include "comparison.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt_test;
namespace testfuncs = cudaopt::testfuncs;

namespace {

constexpr int m = 5;
constexpr double same_way = 1e-9, same_end = 1e-10; // relative to f

struct Minpack2Case {
    std::shared_ptr<testfuncs::Problem> definition;
    Problem problem; // start and bounds of the definition, and its evaluation on one host thread
    std::size_t iterations = iterations_to_follow;
    double pgtol = 0; // so small that f is determined to less than same_end

    template <class Configuration> typename Harness<Configuration>::Evaluation evaluation() const {
        testfuncs::Place place;
        place.threads = 1;
        if (Configuration::backend == CUDA_OPT_BACKEND_CUDA) place.space = testfuncs::Place::Space::cuda;
        return [definition = definition, place](const auto *x, double *f, auto *g) {
            definition->evaluate(x, f, g, place);
        };
    }
};

// The problem with its standard start and its own bounds.
Minpack2Case standard(const std::string &name, int64_t n) {
    const std::shared_ptr<testfuncs::Problem> definition = testfuncs::make_problem(name, n);
    Vector start(static_cast<std::size_t>(definition->n())), lower = start, upper = start;
    definition->start(0, definition->n(), start.data());
    definition->lower(0, definition->n(), lower.data());
    definition->upper(0, definition->n(), upper.data());
    Minpack2Case with = {definition, {name + ", n = " + std::to_string(definition->n()), start, {}}};
    with.problem.evaluate = [evaluate = with.evaluation<HostDouble>()](const Vector &x, Vector &g) {
        double f;
        evaluate(x.data(), &f, g.data());
        return f;
    };
    if (definition->bounded()) {
        with.problem.lower = lower;
        with.problem.upper = upper;
    }
    return with;
}

Minpack2Case in_box(Minpack2Case with, double lower, double upper) {
    with.problem = in_box(with.problem, lower, upper);
    return with;
}

Minpack2Case first(std::size_t iterations, Minpack2Case with) {
    with.iterations = iterations;
    return with;
}

Minpack2Case to(double pgtol, Minpack2Case with) {
    with.pgtol = pgtol;
    return with;
}

double in_bounds(const Problem &problem, std::size_t i, double x) {
    return problem.lower.empty() ? x : std::min(problem.upper[i], std::max(problem.lower[i], x));
}

// Each component of the start is moved at random by up to 0.01.
Minpack2Case roughened(Minpack2Case with) {
    Uniform uniform(7);
    Problem &problem = with.problem;
    for (std::size_t i = 0; i < problem.start.size(); i++)
        problem.start[i] = in_bounds(problem, i, problem.start[i] + 0.01 * (2 * uniform() - 1));
    problem.name += ", rough start";
    return with;
}

// Each component of the start is moved by one unit in the last place up or down, or not at all.
Problem one_bit_away(Problem problem) {
    Uniform uniform(1);
    for (std::size_t i = 0; i < problem.start.size(); i++) {
        const double x = problem.start[i], choice = 3 * uniform();
        const double moved = choice < 1 ? x : std::nextafter(x, choice < 2 ? -INFINITY : INFINITY);
        problem.start[i] = in_bounds(problem, i, moved);
    }
    return problem;
}

// The starts of the bearing and of the minimal surface are smooth and contain only a few of the frequencies of the
// grid. Without bounds and for a quadratic f, the error of each iterate is a polynomial in the Hessian times the error
// of the start. The method makes this polynomial small at the frequencies that the error contains. At all other
// frequencies, which contain only rounding errors, the polynomial may be large. Rounding errors therefore grow, on 200
// x 200 points by about a factor of 10 per iteration. This is not specific to this library: the iterates of L-BFGS-B
// 3.0 change as well if its start moves by one bit. The growth increases with the number of frequencies, and thus with
// the grid. For this reason, these two problems are compared
// - for 20 iterations from the standard start on a small grid,
// - for 20 iterations on the large grid from a start that contains all frequencies,
// - on the large grid from the standard start for as many iterations as rounding errors permit.
// The start of torsion is on the upper bounds, where rounding errors can decide ties (docs/determinism.md); on these
// grids they do not. The cost of an evaluation of Lennard-Jones clusters is proportional to n^2. The second
// Ginzburg-Landau problem has 4 variables per point.
constexpr std::size_t granted_to_smooth_starts = 10;

std::vector<Minpack2Case> smooth_starts() {
    return {
        first(granted_to_smooth_starts, standard("bearing", 40000)),
        first(granted_to_smooth_starts, standard("minimal-surface", 40000)),
    };
}

std::vector<Minpack2Case> cases_to_follow() {
    std::vector<Minpack2Case> cases = {
        standard("torsion", 10000),
        standard("torsion", 40000),
        standard("bearing", 900),
        roughened(standard("bearing", 40000)),
        standard("minimal-surface", 900),
        roughened(standard("minimal-surface", 40000)),
        standard("optimal-design", 40000),
        standard("ginzburg-landau-1d", 40000),
        in_box(standard("ginzburg-landau-1d", 400), -1, 1),
        standard("lennard-jones-2d", 2000),
        standard("lennard-jones-3d", 2187),
        standard("combustion", 40000),
        standard("ginzburg-landau-2d", 40000),
    };
    for (const Minpack2Case &smooth : smooth_starts()) cases.push_back(smooth);
    return cases;
}

// The clusters have very many minima; they are so small here that rounding errors do not choose among them. The
// one-dimensional superconductor has only 100 points, because with more points its f is determined less accurately.
std::vector<Minpack2Case> cases_to_end() {
    return {
        to(1e-9, standard("torsion", 10000)),          to(1e-9, standard("bearing", 40000)),
        to(1e-8, standard("minimal-surface", 40000)),  to(1e-9, standard("optimal-design", 10000)),
        to(1e-6, standard("ginzburg-landau-1d", 100)), to(1e-6, in_box(standard("ginzburg-landau-1d", 400), -1, 1)),
        to(1e-8, standard("lennard-jones-2d", 98)),    to(1e-8, standard("lennard-jones-3d", 375)),
        to(1e-8, standard("combustion", 10000)),       to(1e-8, standard("ginzburg-landau-2d", 1600)),
    };
}

// These cases take 90 s with both solvers, most of it for the 30,000 iterations of the last case.
std::vector<Minpack2Case> slow_cases_to_end() {
    return {
        to(1e-9, standard("torsion", 40000)),
        to(1e-9, standard("optimal-design", 40000)),
        to(1e-8, standard("combustion", 40000)),
        to(1e-10, standard("ginzburg-landau-2d", 40000)),
    };
}

template <class Configuration>
Outcome solve_case(const Minpack2Case &with, int64_t most_iterations, bool approximate_cauchy = false,
                   bool robust = true) {
    Harness<Configuration> harness(with.problem, m);
    set_as_reference(harness, with.pgtol);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations).set_int(CUDA_OPT_THREADS, 1);
    harness.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, approximate_cauchy).set_int(CUDA_OPT_ROBUST, robust);
    const Outcome outcome = harness.with_evaluation(with.evaluation<Configuration>()).run();
    CHECK(outcome.outside == 0);
    return outcome;
}

template <class Configuration>
Outcome solve_to_the_end(const Minpack2Case &with, bool approximate_cauchy = false, bool robust = true) {
    const Outcome outcome = solve_case<Configuration>(with, 45000, approximate_cauchy, robust);
    // If the line search fails, f is as low as its rounding errors allow. The comparison checks that it is low enough.
    CHECK((outcome.task == CUDA_OPT_CONVERGED || outcome.task == CUDA_OPT_LINE_SEARCH_FAILED));
    return outcome;
}

double f_at_start(const Problem &problem) {
    Vector g(problem.start.size());
    return problem.evaluate(problem.start, g);
}

int64_t count_active(const Problem &problem, const Vector &x) {
    const std::vector<int> side = active_set(problem, x);
    return problem.size() - std::count(side.begin(), side.end(), 0);
}

// Formats a result for the messages of a failed test and for `test_reference -s`, which gives the table in
// docs/determinism.md.
std::string told(const char *who, double f, int64_t iterations) {
    char text[96];
    std::snprintf(text, sizeof text, "%s: f = %.15e after %lld iterations", who, f, static_cast<long long>(iterations));
    return text;
}

template <class Configuration> void check_the_same_end(const Minpack2Case &with) {
    const ReferenceOutcome theirs = solve_reference(with.problem, m, with.pgtol);
    // The comparison uses the path of version 3.0. With CUDA_OPT_ROBUST, a solve leaves stationary points that are not
    // minima, where rounding errors break a symmetry, and ends at a lower f.
    const Outcome ours = solve_to_the_end<Configuration>(with, false, false);
    const Outcome robust = solve_to_the_end<Configuration>(with);
    INFO(with.problem.name);
    CHECK(robust.f <= theirs.f + same_end * std::fabs(theirs.f));
    INFO(told("L-BFGS-B 3.0", theirs.f, theirs.iterations()));
    INFO(told("this library", ours.f, ours.iterations));
    CHECK(relative_difference(ours.f, theirs.f) <= same_end);
    CHECK(same_active_set(with.problem, ours, theirs.x, 10 * with.pgtol));
    CHECK((count_active(with.problem, ours.x) > 0) == !with.problem.lower.empty());
}

void check_the_same_end_from_one_bit_away(const Minpack2Case &with) {
    const ReferenceOutcome once = solve_reference(with.problem, m, with.pgtol);
    const ReferenceOutcome again = solve_reference(one_bit_away(with.problem), m, with.pgtol);
    INFO(with.problem.name);
    INFO(told("from the start", once.f, once.iterations()));
    INFO(told("from the moved start", again.f, again.iterations()));
    CHECK(relative_difference(again.f, once.f) <= same_end);
}

} // namespace

CONFIGURED_TEST_CASE("MINPACK-2: the first iterates match those of L-BFGS-B 3.0", "[reference]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Minpack2Case &with : cases_to_follow()) {
        INFO(with.problem.name);
        const int64_t most = static_cast<int64_t>(with.iterations);
        const ReferenceOutcome theirs = solve_reference(with.problem, m, 0, most);
        const ReferenceOutcome other = solve_reference(one_bit_away(with.problem), m, 0, most);
        CHECK(theirs.iterations() == most);
        const Outcome ours = solve_case<TestType>(with, most);
        check_the_same_way(values(theirs.history[0].f, ours.history), values(theirs.history), values(other.history),
                           same_way, with.iterations);
    }
}

CONFIGURED_TEST_CASE("MINPACK-2: the final energies match those of L-BFGS-B 3.0", "[reference]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Minpack2Case &with : cases_to_end()) check_the_same_end<TestType>(with);
}

CONFIGURED_TEST_CASE("MINPACK-2: the final energies of longer runs match those of L-BFGS-B 3.0", "[.slow]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Minpack2Case &with : slow_cases_to_end()) check_the_same_end<TestType>(with);
}

TEST_CASE("MINPACK-2: CUDA and host have the same iterates and energies with either Cauchy point", "[reference]") {
    if (skipped<CudaDouble>()) return;
    for (const bool approximate : {false, true}) {
        INFO("approximate Cauchy point: " << approximate);
        for (const Minpack2Case &with : cases_to_follow()) {
            INFO(with.problem.name);
            const int64_t most = static_cast<int64_t>(with.iterations);
            const double at_start = f_at_start(with.problem);
            Minpack2Case other = with;
            other.problem = one_bit_away(with.problem);
            const Outcome host = solve_case<HostDouble>(with, most, approximate);
            const Outcome host_moved = solve_case<HostDouble>(other, most, approximate);
            const Outcome cuda = solve_case<CudaDouble>(with, most, approximate);
            check_the_same_way(values(at_start, cuda.history), values(at_start, host.history),
                               values(f_at_start(other.problem), host_moved.history), same_way, with.iterations);
        }
        for (const Minpack2Case &with : cases_to_end()) {
            INFO(with.problem.name);
            // CUDA_OPT_ROBUST is off, because with it a solve leaves stationary points that are not minima along a path
            // that depends on rounding errors.
            const Outcome host = solve_to_the_end<HostDouble>(with, approximate, false);
            const Outcome cuda = solve_to_the_end<CudaDouble>(with, approximate, false);
            CHECK(relative_difference(cuda.f, host.f) <= same_end);
        }
    }
}

TEST_CASE("MINPACK-2: L-BFGS-B 3.0 repeats its energies if the start moves by one bit", "[.slow]") {
    for (const Minpack2Case &with : cases_to_end()) check_the_same_end_from_one_bit_away(with);
}

TEST_CASE("MINPACK-2: L-BFGS-B 3.0 repeats the energies of longer runs if the start moves by one bit", "[.slow]") {
    for (const Minpack2Case &with : slow_cases_to_end()) check_the_same_end_from_one_bit_away(with);
}
