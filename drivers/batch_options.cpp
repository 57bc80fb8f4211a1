#include "batch_options.hpp"

#include "arguments.hpp"
#include "solver_settings.hpp"
#include "testfuncs/search/functions.hpp"

#include <cmath>
#include <cstdio>

namespace driver {
namespace {

namespace functions = cudaopt::testfuncs::search;

// The stopping tests as command-line options. Their defaults are those of the library.
constexpr Setting stopping_tests[] = {
    {"--eps", CUDA_OPT_EPS, "converged when ||Pg|| < eps * max(1, ||x||); 0: off [0]"},
    {"--pgtol", CUDA_OPT_PGTOL, "converged when the largest |Pg_i| <= pgtol; 0: only if Pg = 0 [1e-5]"},
    {"--factr", CUDA_OPT_FACTR,
     "converged when f falls by at most factr * 2.22e-16 * max(|f|, 1) and the relative gradient is small; "
     "0: off [1e7]"},
    {"--f-target", CUDA_OPT_F_TARGET, "converged when f <= target; -inf: off [-inf]"},
};

constexpr Setting real_settings[] = {
    {"--max-seconds", CUDA_OPT_MAX_SECONDS, "stop all problems after this number of seconds; 0: no limit [0]"},
};

constexpr Setting whole_settings[] = {
    {"--max-iterations", CUDA_OPT_MAX_ITERATIONS, "stop a problem after this number of iterations; 0: no limit [2000]"},
    {"--max-evaluations", CUDA_OPT_MAX_EVALUATIONS, "stop a problem after this number of evaluations; 0: no limit [0]"},
};

void print_functions() {
    for (const functions::Function &function : functions::all_functions()) {
        if (!functions::has_gradient(function)) continue;
        const functions::Facts facts = functions::facts_of(function);
        std::printf("%s: %s, on [%g, %g]^n\n    f = %s\n    minimum 0 at (%g, ..., %g)\n", facts.name.c_str(),
                    facts.title.c_str(), facts.lower, facts.upper, facts.formula.c_str(), facts.minimiser,
                    facts.minimiser);
    }
}

void check(const BatchProgramOptions &o) {
    require_name("--function", "function", o.function, functions::all_functions(),
                 [](const auto &function) { return functions::facts_of(function).name; });
    const functions::Function function = functions::function_by_name(o.function);
    if (!functions::has_gradient(function)) refuse("--function", o.function + " has no gradient to follow");
    const functions::Facts facts = functions::facts_of(function);
    require_bounds(o.lower.value_or(facts.lower), o.upper.value_or(facts.upper));
    require_not_negative("--threads", o.threads);
}

void add_batch(CLI::App &app, BatchProgramOptions &o) {
    add_option(app, "count", "", "number of problems", [&o](auto &name, auto &text) {
        o.count = whole_number<int64_t>(name, text);
    })->required();
    add_option(app, "n", "", "number of variables of each problem", [&o](auto &name, auto &text) {
        o.n = whole_number<int64_t>(name, text);
    })->required();
    const auto read_m = [&o](auto &name, auto &text) {
        if (o.m_given) refuse(name, "m is " + std::to_string(o.m) + " already, and now " + text);
        o.m = whole_number<int32_t>(name, text);
        if (o.m == 0) refuse(name, "the number of correction pairs m is 0, but has to be at least 1");
        o.m_given = true;
    };
    add_option(app, "m", "", "number of correction pairs; 3 to 20 are usual", read_m);
    add_option(app, "--m", "K", "the same as an option, as in the other programs [5]", read_m);
    add_option(app, "--function", "NAME", "function to minimise, see --list [rosenbrock]",
               [&o](auto &, auto &text) { o.function = text; });
    add_option(app, "--lower", "X", "lower bound of every variable; -inf: none [the function's own]",
               [&o](auto &name, auto &text) { o.lower = number(name, text); });
    add_option(app, "--upper", "X", "upper bound of every variable; inf: none [the function's own]",
               [&o](auto &name, auto &text) { o.upper = number(name, text); });
    add_option(app, "--seed", "K", "seed of the random starts [0]",
               [&o](auto &name, auto &text) { o.seed = whole_number<uint64_t>(name, text); });
    add_option(app, "--backend", "NAME", "auto, cuda or host; auto: CUDA if there is a device [auto]",
               [&o](auto &, auto &text) { o.backend = backend_of(text); });
    add_option(app, "--precision", "NAME", "precision of x and g: double or single; sums and f are double [double]",
               [&o](auto &, auto &text) { o.single = is_single(text); });
    add_option(app, "--threads", "K", "host threads, which share the problems; 0: all processors [0]",
               [&o](auto &name, auto &text) {
                   o.threads = whole_number<int>(name, text);
                   o.settings.push_back({name, CUDA_OPT_THREADS, int64_t{o.threads}});
               });
    add_initial_hessian(app, o.settings);
}

void add_output(CLI::App &app, BatchProgramOptions &o) {
    add_option(app, "--iprint", "F", "log every F-th round of evaluations; 0: the first and the last; -1: no log [0]",
               [&o](auto &name, auto &text) { o.log_frequency = whole_number<int64_t>(name, text); });
    add_option(app, "--csv", "FILE", "write one row per problem to this file",
               [&o](auto &, auto &text) { o.csv = text; });
}

} // namespace

std::optional<BatchProgramOptions> parse_batch_options(int argc, char **argv) {
    BatchProgramOptions options;
    CLI::App app("Minimise a function of n variables from many random starts at once, each by L-BFGS-B.\n"
                 "Example: batch_program 10000 20 5 --lower -2 --upper 2\n"
                 "Exit status: 0 all have converged, 1 not all have, or failed, 2 wrong arguments.");
    add_answers(app, "batch_program", "list the functions and exit", print_functions);
    add_batch(app, options);
    add_settings<double>(app, stopping_tests, options.settings);
    add_settings<double>(app, real_settings, options.settings);
    add_settings<int64_t>(app, whole_settings, options.settings);
    add_output(app, options);
    if (!parsed(app, argc, argv, [&] { check(options); })) return std::nullopt;
    return options;
}

} // namespace driver
