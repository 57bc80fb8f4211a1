// MINPACK-2's eight problems: host, CUDA and L-BFGS-B 3.0 go the same way for 20 iterations, and come to the same
// energy. Later iterates are chaotic, some after 50 iterations, all within 200. CUDA evaluates f and g on the device.
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
    Problem problem; // the definition's start, bounds and, on one thread of the host, its evaluation
    std::size_t iterations = iterations_to_follow;
    double pgtol = 0; // so small that f is settled to less than same_end

    template <class Configuration> typename Harness<Configuration>::Evaluation evaluation() const {
        testfuncs::Place place;
        place.threads = 1;
        if (Configuration::backend == CUDA_OPT_BACKEND_CUDA) place.space = testfuncs::Place::Space::cuda;
        return [definition = definition, place](const auto *x, double *f, auto *g) {
            definition->evaluate(x, f, g, place);
        };
    }
};

// From the standard start, in the problem's own bounds.
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

// Every component of the start moved at random by up to 0.01.
Minpack2Case roughened(Minpack2Case with) {
    Uniform uniform(7);
    Problem &problem = with.problem;
    for (std::size_t i = 0; i < problem.start.size(); i++)
        problem.start[i] = in_bounds(problem, i, problem.start[i] + 0.01 * (2 * uniform() - 1));
    problem.name += ", rough start";
    return with;
}

// Every component of the start one unit in the last place up, down, or where it was.
Problem one_bit_away(Problem problem) {
    Uniform uniform(1);
    for (std::size_t i = 0; i < problem.start.size(); i++) {
        const double x = problem.start[i], choice = 3 * uniform();
        const double moved = choice < 1 ? x : std::nextafter(x, choice < 2 ? -INFINITY : INFINITY);
        problem.start[i] = in_bounds(problem, i, moved);
    }
    return problem;
}

// The starts of the bearing and of the minimal surface are smooth: of the frequencies of the grid they hold a few. Each
// iterate is, but for the bounds and for what is not quadratic, the start's error under a polynomial in the Hessian,
// which the method makes small on what frequencies there are; on all others, which hold rounding errors alone, it may
// become as large as it likes. So rounding grows, on 200 x 200 points about tenfold an iteration, and not only ours:
// L-BFGS-B 3.0 leaves its own way when its start moves by one bit. The larger the grid, the more frequencies are
// without a guard. Hence these two are followed
// - for 20 iterations from the standard start on a small grid,
// - for 20 iterations on the large grid from a start in which every frequency is to be found,
// - for as many iterations on the large grid from the standard start as rounding grants.
// Torsion's start is on the upper bounds, where ties can be decided by rounding (docs/determinism.md); on these grids
// they are not. Lennard-Jones clusters cost n^2. Ginzburg and Landau's second problem has 4 variables a point.
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

// Of the clusters, which have very many minima, such as are small enough for rounding not to choose among them. Of the
// one-dimensional superconductor, whose f settles the less the more points there are, a hundred points.
std::vector<Minpack2Case> cases_to_end() {
    return {
        to(1e-9, standard("torsion", 10000)),          to(1e-9, standard("bearing", 40000)),
        to(1e-8, standard("minimal-surface", 40000)),  to(1e-9, standard("optimal-design", 10000)),
        to(1e-6, standard("ginzburg-landau-1d", 100)), to(1e-6, in_box(standard("ginzburg-landau-1d", 400), -1, 1)),
        to(1e-8, standard("lennard-jones-2d", 98)),    to(1e-8, standard("lennard-jones-3d", 375)),
        to(1e-8, standard("combustion", 10000)),       to(1e-8, standard("ginzburg-landau-2d", 1600)),
    };
}

// A minute and a half for both solvers, most of it for the 30,000 iterations of the last.
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
    // A failed search: f is as low as its rounding errors allow. That it is low enough, the comparison shows.
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

// For the reader of a failure, or of `test_reference -s`, from where docs/determinism.md has its table.
std::string told(const char *who, double f, int64_t iterations) {
    char text[96];
    std::snprintf(text, sizeof text, "%s: f = %.15e after %lld iterations", who, f, static_cast<long long>(iterations));
    return text;
}

template <class Configuration> void check_the_same_end(const Minpack2Case &with) {
    const ReferenceOutcome theirs = solve_reference(with.problem, m, with.pgtol);
    // Version 3.0's path to its end: the other way leaves stationary points that are no minima, where rounding breaks
    // a symmetry, and ends lower.
    const Outcome ours = solve_to_the_end<Configuration>(with, false, false);
    const Outcome robust = solve_to_the_end<Configuration>(with);
    INFO(with.problem.name);
    CHECK(robust.f <= theirs.f + same_end * std::fabs(theirs.f));
    INFO(told("L-BFGS-B 3.0", theirs.f, theirs.iterations()));
    INFO(told("this library", ours.f, ours.iterations));
    CHECK(relative_difference(ours.f, theirs.f) <= same_end);
    CHECK(count_active(with.problem, ours.x) == count_active(with.problem, theirs.x));
    CHECK((count_active(with.problem, ours.x) > 0) == !with.problem.lower.empty());
}

void check_the_same_end_from_one_bit_away(const Minpack2Case &with) {
    const ReferenceOutcome once = solve_reference(with.problem, m, with.pgtol);
    const ReferenceOutcome again = solve_reference(one_bit_away(with.problem), m, with.pgtol);
    INFO(with.problem.name);
    INFO(told("once", once.f, once.iterations()));
    INFO(told("again", again.f, again.iterations()));
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
        CHECK(theirs.iterations() == most);
        const Outcome ours = solve_case<TestType>(with, most);
        check_the_same_way(values(theirs.history[0].f, ours.history), values(theirs.history), same_way,
                           with.iterations);
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
            const Outcome host = solve_case<HostDouble>(with, most, approximate);
            const Outcome cuda = solve_case<CudaDouble>(with, most, approximate);
            check_the_same_way(values(at_start, cuda.history), values(at_start, host.history), same_way,
                               with.iterations);
        }
        for (const Minpack2Case &with : cases_to_end()) {
            INFO(with.problem.name);
            // Without ROBUST, which leaves stationary points that are no minima by a way that rounding chooses.
            const Outcome host = solve_to_the_end<HostDouble>(with, approximate, false);
            const Outcome cuda = solve_to_the_end<CudaDouble>(with, approximate, false);
            CHECK(relative_difference(cuda.f, host.f) <= same_end);
        }
    }
}

// What does not reproduce itself when its start moves by one bit could not be asked of anyone else.
TEST_CASE("MINPACK-2: L-BFGS-B 3.0 repeats its iterates and energies if the start moves by one bit", "[reference]") {
    for (const Minpack2Case &with : cases_to_follow()) {
        INFO(with.problem.name);
        const int64_t most = static_cast<int64_t>(with.iterations);
        const ReferenceOutcome once = solve_reference(with.problem, m, 0, most);
        const ReferenceOutcome again = solve_reference(one_bit_away(with.problem), m, 0, most);
        check_the_same_way(values(again.history), values(once.history), same_way, with.iterations);
    }
    for (const Minpack2Case &with : cases_to_end()) check_the_same_end_from_one_bit_away(with);
}

TEST_CASE("MINPACK-2: L-BFGS-B 3.0 repeats the energies of longer runs if the start moves by one bit", "[.slow]") {
    for (const Minpack2Case &with : slow_cases_to_end()) check_the_same_end_from_one_bit_away(with);
}

// Why the standard starts of these two are not followed for 20 iterations on the large grid.
TEST_CASE("MINPACK-2: rounding errors grow from smooth starts in L-BFGS-B 3.0 too", "[reference]") {
    for (const Minpack2Case &smooth : smooth_starts()) {
        INFO(smooth.problem.name);
        const ReferenceOutcome once = solve_reference(smooth.problem, m, 0, iterations_to_follow);
        const ReferenceOutcome again = solve_reference(one_bit_away(smooth.problem), m, 0, iterations_to_follow);
        CHECK(relative_difference(again.f, once.f) > 10 * same_way);
    }
}
