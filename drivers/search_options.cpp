#include "search_options.hpp"

#include "arguments.hpp"
#include "testfuncs/search/functions.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace driver {
namespace {

namespace functions = cudaopt::testfuncs::search;

void print_functions() {
    for (const functions::Function &function : functions::all_functions()) {
        const functions::Facts facts = functions::facts_of(function);
        std::printf("%s: %s, on [%g, %g]^n\n    f = %s\n    minimum 0 at (%g, ..., %g)%s\n", facts.name.c_str(),
                    facts.title.c_str(), facts.lower, facts.upper, facts.formula.c_str(), facts.minimiser,
                    facts.minimiser, functions::has_gradient(function) ? "" : "; no gradient");
    }
}

cudaopt::AtSmallestStep at_smallest_step(const std::string &name) {
    if (name == "restart") return cudaopt::AtSmallestStep::restart_step;
    if (name == "stop") return cudaopt::AtSmallestStep::stop;
    if (name == "new-point") return cudaopt::AtSmallestStep::new_point;
    refuse("--at-smallest-step", "must be restart, stop or new-point, not '" + name + "'");
}

void check(const SearchProgramOptions &o) {
    require_name("--function", "function", o.function, functions::all_functions(),
                 [](const auto &function) { return functions::facts_of(function).name; });
    const functions::Function function = functions::function_by_name(o.function);
    if (o.n < 1 || o.n > std::numeric_limits<int>::max())
        refuse("n", "must be from 1 to 2147483647, not " + std::to_string(o.n));
    for (const auto &[option, bound] : {std::pair("--lower", o.lower), std::pair("--upper", o.upper)})
        if (bound && !std::isfinite(*bound)) refuse(option, "must be finite, not " + in_words(*bound));
    const functions::Facts facts = functions::facts_of(function);
    require_bounds(o.lower.value_or(facts.lower), o.upper.value_or(facts.upper));
    require_not_negative("--polish", static_cast<double>(o.polish));
    if (o.polish > 0 && !functions::has_gradient(function))
        refuse("--polish", o.function + " has no gradient to follow");
    require_not_negative("--max-seconds", o.search.max_seconds);
    require_not_negative("--threads", o.search.threads);
    require_different_files({{"--csv", o.csv}, {"--plot", o.plot}, {"--point", o.point}});
}

void add_search(CLI::App &app, SearchProgramOptions &o) {
    add_option(app, "n", "", "number of variables", [&o](auto &name, auto &text) {
        o.n = whole_number<int64_t>(name, text);
    })->required();
    add_option(app, "walks", "", "number of walks", [&o](auto &name, auto &text) {
        o.search.walks = whole_number<int64_t>(name, text);
    })->required();
    add_option(app, "--function", "NAME", "function to minimise, see --list [ackley]",
               [&o](auto &, auto &text) { o.function = text; });
    add_option(app, "--lower", "X", "lower bound of every variable [the function's own]",
               [&o](auto &name, auto &text) { o.lower = number(name, text); });
    add_option(app, "--upper", "X", "upper bound of every variable [the function's own]",
               [&o](auto &name, auto &text) { o.upper = number(name, text); });
    add_option(app, "--max-iterations", "--iterations", "K", "largest number of iterations of each walk [20]",
               [&o](auto &name, auto &text) { o.search.iterations = whole_number<int64_t>(name, text); });
    add_option(app, "--max-seconds", "--time-limit", "X",
               "stop after the iteration that exceeds this number of seconds; 0: no limit [0]",
               [&o](auto &name, auto &text) { o.search.max_seconds = number(name, text); });
    add_option(app, "--seed", "K", "seed of the random starts [0]",
               [&o](auto &name, auto &text) { o.search.seed = whole_number<uint64_t>(name, text); });
    add_option(app, "--step", "X", "first step of every variable [a twentieth of its range]",
               [&o](auto &name, auto &text) { o.step = number(name, text); });
    add_option(app, "--halvings", "K", "number of times that the first step is halved to give the smallest one [16]",
               [&o](auto &name, auto &text) { o.search.halvings = whole_number<int>(name, text); });
    add_option(app, "--at-smallest-step", "NAME",
               "restart: continue with the first step; stop: end the walk; new-point: start again from a new\n"
               "random point [restart]",
               [&o](auto &, auto &text) { o.search.at_smallest = at_smallest_step(text); });
    add_option(app, "--rounds", "K",
               "start all walks again from new points after every K iterations, and keep the best point of each;\n"
               "a time limit takes effect at the end of a round; 0: never [0]",
               [&o](auto &name, auto &text) { o.search.round_iterations = whole_number<int64_t>(name, text); });
    add_option(app, "--polish", "P", "continue from the best points of P walks by L-BFGS-B on the host [0]",
               [&o](auto &name, auto &text) { o.polish = whole_number<int64_t>(name, text); });
    add_option(app, "--backend", "NAME", "auto, cuda or host; auto: CUDA if there is a device [auto]",
               [&o](auto &, auto &text) { o.backend = backend_of(text); });
    add_option(app, "--precision", "NAME", "precision of the search: double or single; --polish is in double [double]",
               [&o](auto &, auto &text) { o.single = is_single(text); });
    add_option(app, "--threads", "K", "host threads; 0: all processors [0]",
               [&o](auto &name, auto &text) { o.search.threads = whole_number<int>(name, text); });
}

void add_output(CLI::App &app, SearchProgramOptions &o) {
    add_option(app, "--iprint", "F", "log every F-th iteration; 0: the first and the last; -1: no log [1]",
               [&o](auto &name, auto &text) { o.log_frequency = whole_number<int64_t>(name, text); });
    add_option(app, "--csv", "FILE", "write one row per iteration to this file",
               [&o](auto &, auto &text) { o.csv = text; });
    add_option(app, "--plot", "FILE", "draw the best value against iterations and evaluations to this SVG file",
               [&o](auto &, auto &text) { o.plot = text; });
    add_option(app, "--point", "FILE", "write the best point to this file, one variable per line",
               [&o](auto &, auto &text) { o.point = text; });
}

} // namespace

std::optional<SearchProgramOptions> parse_search_options(int argc, char **argv) {
    SearchProgramOptions options;
    CLI::App app("Minimise a function of n variables in a box, without its gradient, by many pattern searches.\n"
                 "Example: search_program 30 15360 --function rastrigin --max-iterations 100 --polish 10\n"
                 "Exit status: 0 searched, 1 interrupted or failed, 2 wrong arguments.");
    add_answers(app, "search_program", "list the functions and exit", print_functions);
    add_search(app, options);
    add_output(app, options);
    if (!parsed(app, argc, argv, [&] { check(options); })) return std::nullopt;
    return options;
}

} // namespace driver
