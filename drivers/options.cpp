#include "options.hpp"

#include "arguments.hpp"
#include "solver_settings.hpp"
#include "cuda_opt.h"
#include "testfuncs/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace driver {
namespace {

// The stopping tests as command-line options. Their defaults are those of set_as_in_manual().
constexpr Setting stopping_tests[] = {
    {"--eps", CUDA_OPT_EPS, "converged when ||Pg|| < eps * max(1, ||x||); 0: off [1e-5]"},
    {"--pgtol", CUDA_OPT_PGTOL, "converged when the largest |Pg_i| <= pgtol; 0: off [0]"},
    {"--factr", CUDA_OPT_FACTR, "converged when f falls by at most factr * 2.22e-16 * max(|f|, 1); 0: off [0]"},
    {"--f-target", CUDA_OPT_F_TARGET, "converged when f <= target; -inf: off [-inf]"},
};

constexpr Setting real_settings[] = {
    {"--gtol", CUDA_OPT_GTOL, "line search: curvature condition, 1e-4 < gtol < 1 [0.9]"},
    {"--ftol", CUDA_OPT_FTOL, "line search: sufficient decrease, 0 <= ftol < 1 [1e-4]"},
    {"--xtol", CUDA_OPT_XTOL, "line search: relative width of the interval at which it ends [2.2e-16]"},
    {"--stpmax", CUDA_OPT_STPMAX, "line search: largest step [1e20]"},
    {"--stpmin", CUDA_OPT_STPMIN, "line search: smallest step [1e-20]"},
    {"--max-seconds", CUDA_OPT_MAX_SECONDS, "stop after this number of seconds; 0: no limit [0]"},
};

constexpr Setting whole_settings[] = {
    {"--maxfev", CUDA_OPT_MAXFEV, "line search: largest number of evaluations [20]"},
    {"--max-iterations", CUDA_OPT_MAX_ITERATIONS, "stop after this number of iterations; 0: no limit [2000]"},
    {"--max-evaluations", CUDA_OPT_MAX_EVALUATIONS, "stop after this number of evaluations; 0: no limit [0]"},
    {"--max-cuts", CUDA_OPT_MAX_CUTS,
     "largest number of reductions of a step in a row because f or g is not finite [30]"},
    {"--history-bits", CUDA_OPT_HISTORY_BITS, "history precision in bits: 64, 32 or 16 [that of x]"},
    {"--product-bits", CUDA_OPT_PRODUCT_BITS,
     "precision of inner products in bits: 64, or 32 where that is faster [64]"},
};

void read_iprint(const std::string &text, Options &options) {
    const std::size_t comma = text.find(',');
    options.log_frequency = whole_number<int64_t>("--iprint", text.substr(0, comma));
    if (comma != std::string::npos) options.log_type = whole_number<int64_t>("--iprint", text.substr(comma + 1));
}

void check_checkpoints(const Options &options) {
    if (!options.every) return;
    if (*options.every < 1) refuse("--every", "must be at least 1, but is " + std::to_string(*options.every));
    if (options.checkpoint.empty()) refuse("--every", "needs the file of --checkpoint");
}

bool given(const Options &options, const std::string &name) {
    return std::any_of(options.settings.begin(), options.settings.end(),
                       [&](const auto &setting) { return setting.option == name; });
}

void check_tests(const Options &options) {
    for (const std::string test : {"--eps", "--pgtol", "--factr"})
        if (given(options, "--until-still") && given(options, test))
            refuse("--until-still", "is the only test, but there is " + test);
}

// The check of the gradient ends before the first iteration, so it writes and reads no files.
void check_gradient_alone(const Options &options) {
    if (!options.check_gradient) return;
    for (const auto &[option, file] :
         {std::pair("--csv", &options.csv), std::pair("--plot", &options.plot),
          std::pair("--checkpoint", &options.checkpoint), std::pair("--resume", &options.resume)})
        if (!file->empty()) refuse("--check-gradient", std::string("solves nothing, so ") + option + " has no effect");
}

// The settings are applied one by one, stpmax before stpmin, and the library rejects a setting after which stpmin >
// stpmax. If both are given, stpmin is therefore first set to 0, so that any stpmax is accepted.
void make_way_for_steps(Options &options) {
    if (given(options, "--stpmin") && given(options, "--stpmax"))
        options.settings.insert(options.settings.begin(), {"--stpmin", CUDA_OPT_STPMIN, 0.0});
}

// Reads one parameter of the test problem from a text of the form NAME=VALUE.
void read_parameter(const std::string &text, Options &options) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        refuse("--parameter", "must be NAME=VALUE, as in c=5, not '" + text + "'");
    const std::string name = text.substr(0, equals);
    if (!options.parameters.emplace(name, number("--parameter " + name, text.substr(equals + 1))).second)
        refuse("--parameter " + name, "is given twice");
}

// Returns the default value of a parameter as text, for example " = 5", or nothing if the problem chooses the value.
std::string standard_value(const cudaopt::testfuncs::Parameter &parameter) {
    return std::isnan(parameter.standard) ? "" : " = " + cudaopt::testfuncs::text_of(parameter.standard);
}

void print_problems() {
    for (const auto &facts : cudaopt::testfuncs::list_problems()) {
        std::printf("%s: %s, %s\n    f = %s\n    start %s\n    minimum %s\n", facts.name.c_str(), facts.title.c_str(),
                    facts.requirement.c_str(), facts.formula.c_str(), facts.start.c_str(), facts.minimum.c_str());
        for (const auto &parameter : facts.parameters)
            std::printf("    %s%s: %s\n", parameter.name.c_str(), standard_value(parameter).c_str(),
                        parameter.meaning.c_str());
        std::printf("    %s\n", facts.source.c_str());
    }
}

// Adds all options of the command line. Each has a function that converts its text.
class CommandLine {
  public:
    explicit CommandLine(Options &options) : options_(options) {
        about();
        problem();
        output();
        solver();
    }

    CLI::App &app() { return app_; }

  private:
    template <class Read>
    CLI::Option *add(const std::string &name, const char *type, const std::string &help, Read read) {
        return add_option(app_, name, type, help, read);
    }

    void about() {
        app_.description("Minimise a test problem of n variables by L-BFGS-B with m correction pairs; print the log.\n"
                         "Example: driver_program 1000000 7 --problem wood --lower 0 --plot wood.svg\n"
                         "Exit status: 0 converged, 1 not converged or failed, 2 wrong arguments.");
        add_answers(app_, "driver_program", "list the problems and exit", print_problems);
    }

    void problem() {
        Options &o = options_;
        add("n", "", "number of variables; a grid problem takes the nearest number that makes a grid",
            [&o](auto &name, auto &text) { o.n = whole_number<int64_t>(name, text); })
            ->required();
        const auto read_m = [&o](auto &name, auto &text) {
            if (o.m_given) refuse(name, "m is " + std::to_string(o.m) + " already, and now " + text);
            o.m = whole_number<int32_t>(name, text);
            if (o.m == 0) refuse(name, "the number of correction pairs m is 0, but has to be at least 1");
            o.m_given = true;
        };
        add("m", "", "number of correction pairs; 3 to 20 are usual", read_m);
        add("--m", "K", "the same as an option, as in the other programs [5]", read_m);
        add("--problem", "NAME", "problem to minimise, see --list [rosenbrock]",
            [&o](auto &, auto &text) { o.problem = text; });
        app_.add_option_function<std::vector<std::string>>(
                "--parameter",
                [&o](const std::vector<std::string> &texts) {
                    for (const std::string &text : texts) read_parameter(text, o);
                },
                "a constant of the problem, see --list; may be repeated")
            ->type_name("NAME=VALUE")
            ->allow_extra_args(false);
        for (const std::string side : {"nx", "ny"})
            add("--" + side, "K", "points of the grid of a grid problem in " + side.substr(1) + " [as n says]",
                [&o, side](auto &name, auto &text) {
                    if (!o.parameters.emplace(side, static_cast<double>(whole_number<int64_t>(name, text))).second)
                        refuse(name, "is given by --parameter, too");
                });
        add("--lower", "X", "lower bound of every variable, in place of the problem's own; -inf: none",
            [&o](auto &name, auto &text) { o.lower = number(name, text); });
        add("--upper", "X", "upper bound of every variable, in place of the problem's own; inf: none",
            [&o](auto &name, auto &text) { o.upper = number(name, text); });
        add("--backend", "NAME", "auto, cuda or host; auto: CUDA if there is a device [auto]",
            [&o](auto &, auto &text) { o.backend = backend_of(text); });
        add("--precision", "NAME", "precision of x and g: double or single; sums and f are double [double]",
            [&o](auto &, auto &text) { o.single = is_single(text); });
        app_.add_flag("--check-gradient", o.check_gradient,
                      "compare the gradient at the start with differences of f, and solve nothing");
    }

    void output() {
        Options &o = options_;
        add("--iprint", "f,t",
            "what the log contains [1,0]\n"
            "f: iterates 1, f + 1, 2f + 1, ... and the last; 0: first and last; -1: no log\n"
            "t: 0: one line per iterate; 1: also the first x and g; 2: also every x; 3: also every g",
            [&o](auto &, auto &text) { read_iprint(text, o); });
        // The option --log exists only for compatibility with earlier versions. Its only valid value is "manual".
        add("--log", "NAME", "", [](auto &name, auto &text) {
            if (text != "manual") refuse(name, "must be manual, the only log, not '" + text + "'");
        })->group("");
        add("--csv", "FILE", "write one row per iteration to this file", [&o](auto &, auto &text) { o.csv = text; });
        add("--plot", "FILE", "draw f, or f \u2212 lowest f, and ||Pg|| to this SVG file",
            [&o](auto &, auto &text) { o.plot = text; });
        add("--checkpoint", "FILE", "write checkpoints for --resume to this file, also after Ctrl-C",
            [&o](auto &, auto &text) { o.checkpoint = text; });
        add("--every", "K", "number of iterations between checkpoints [100]",
            [&o](auto &name, auto &text) { o.every = whole_number<int64_t>(name, text); });
        add("--resume", "FILE", "continue from this checkpoint of a run with the same problem, n, m and bounds",
            [&o](auto &, auto &text) { o.resume = text; });
    }

    void solver() {
        Options &o = options_;
        const char *const group = "Settings of the solver (Pg: projected gradient)";
        add_settings<double>(app_, stopping_tests, o.settings, group);
        add_settings<double>(app_, real_settings, o.settings, group);
        add_settings<int64_t>(app_, whole_settings, o.settings, group);
        app_.add_flag_callback(
                "--until-still",
                [&o] {
                    o.settings.push_back({"--until-still", CUDA_OPT_EPS, 0.0});
                    o.settings.push_back({"--until-still", CUDA_OPT_FACTR, still_factr});
                },
                still_help)
            ->group(group);
        add_initial_hessian(app_, o.settings)->group(group);
        app_.add_flag_callback(
                "--approximate-cauchy",
                [&o] {
                    o.settings.push_back({"--approximate-cauchy", CUDA_OPT_APPROXIMATE_CAUCHY, int64_t(1)});
                },
                "search the projected path up to its first breakpoint only")
            ->group(group);
        add("--threads", "K", "host threads for the solver and for f and g; 0: all processors [0]",
            [&o](auto &name, auto &text) {
                o.threads = whole_number<int>(name, text);
                o.settings.push_back({name, CUDA_OPT_THREADS, int64_t(o.threads)});
            })
            ->group(group);
    }

    Options &options_;
    CLI::App app_;
};

} // namespace

std::optional<Options> parse_options(int argc, char **argv) {
    Options options;
    CommandLine command_line(options);
    const auto check = [&] {
        require_name("--problem", "problem", options.problem, cudaopt::testfuncs::list_problems(),
                     [](const auto &facts) { return facts.name; });
        require_bounds(options.lower.value_or(-INFINITY), options.upper.value_or(INFINITY));
        check_gradient_alone(options);
        check_tests(options);
        make_way_for_steps(options);
        check_checkpoints(options);
        require_different_files(
            {{"--csv", options.csv}, {"--plot", options.plot}, {"--checkpoint", options.checkpoint}});
        // --resume and --checkpoint may name the same file, because a run may be continued repeatedly.
        require_different_files({{"--resume", options.resume}, {"--csv", options.csv}});
        require_different_files({{"--resume", options.resume}, {"--plot", options.plot}});
    };
    if (!parsed(command_line.app(), argc, argv, check)) return std::nullopt;
    return options;
}

} // namespace driver
