#include "problem_set.hpp"

#include <cctype>
#include <cstdint>
#include <memory>

#include "testfuncs/problem.hpp"
#include "tests/problems/larger.hpp"

namespace cudaopt::bench {

namespace {

using cudaopt_problems::Problem;
using cudaopt_problems::Problems;
using cudaopt_problems::Vector;

// In its own bounds, if it has any, divided by the slope at its start.
Problem of_minpack2(const std::string &name, int64_t about) {
    const std::shared_ptr<testfuncs::Problem> made = testfuncs::make_problem(name, about);
    const int64_t n = made->n();
    Problem problem;
    problem.name = cudaopt_problems::sized(name, static_cast<int>(n));
    problem.source = made->facts().source + ": " + made->facts().title;
    problem.start = problem.lower = problem.upper = Vector(static_cast<std::size_t>(n));
    made->start(0, n, problem.start.data());
    made->lower(0, n, problem.lower.data());
    made->upper(0, n, problem.upper.data());
    problem.evaluate = [made](const Vector &x, Vector &g) {
        double f;
        testfuncs::Place one_thread;
        one_thread.threads = 1;
        made->evaluate(x.data(), &f, g.data(), one_thread);
        return f;
    };
    return cudaopt_problems::with_unit_slope(std::move(problem));
}

bool begins_with(const std::string &text, const std::string &part) { return text.compare(0, part.size(), part) == 0; }

// A problem's name without what its variants add.
std::string family_of(std::string name) {
    for (const char *suffix : {"-start", "-half", "-thirds", "-box", "-units", "-times", "-below", "-blocks",
                               "-limited", "-sparse", "-hs38"})
        name = name.substr(0, name.find(suffix));
    const std::size_t size = name.rfind("-n");
    if (size != std::string::npos && size + 2 < name.size() && std::isdigit(name[size + 2]))
        name = name.substr(0, size);
    for (const std::string prefix : {"chained-", "extended-"})
        if (begins_with(name, prefix)) name = name.substr(prefix.size());
    for (const std::string family : {"nist-misra", "nist-lanczos", "dixmaan", "line-", "obstacle", "torsion",
                                     "powell-singular", "hatfld", "quart"})
        if (begins_with(name, family)) return family;
    return name;
}

} // namespace

const Problems &metric_problems() {
    static const Problems all = [] {
        Problems problems = cudaopt_problems::all_problems();
        append(problems, cudaopt_problems::larger_problems());
        for (const int64_t n : {400, 2500})
            for (const char *name :
                 {"torsion", "bearing", "minimal-surface", "optimal-design", "combustion", "ginzburg-landau-2d"})
                problems.push_back(of_minpack2(name, n));
        for (const int64_t n : {50, 200}) problems.push_back(of_minpack2("ginzburg-landau-1d", n));
        for (const int64_t n : {60, 150}) problems.push_back(of_minpack2("lennard-jones-3d", n));
        return problems;
    }();
    return all;
}

std::string group_of(const Problem &problem) {
    const auto from = [&](const char *source) { return problem.source.find(source) != std::string::npos; };
    if (from("MINPACK-2")) return "MINPACK-2";
    if (problem.n() > 100 || begins_with(problem.name, "logistic")) return "larger";
    if (from("NIST")) return "NIST";
    if (from("More, Garbow, Hillstrom")) return "More-Garbow-Hillstrom";
    return "other small ones";
}

bool kept_aside(const std::string &name) {
    uint32_t hash = 2166136261; // FNV-1a
    for (const char c : family_of(name)) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 16777619;
    }
    return (hash >> 8) % 3 == 0;
}

} // namespace cudaopt::bench
