#include "options.hpp"

#include "cuda_opt.h"
#include "failure.hpp"
#include "testfuncs/problem.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>

namespace driver {
namespace {

struct RealSetting {
    const char *name;
    std::int32_t key;
    const char *help;
};

constexpr RealSetting real_settings[] = {
    {"--eps", CUDA_OPT_EPS, "converged when ||Pg|| < eps max(1, ||x||); 0: off [1e-5]"},
    {"--pgtol", CUDA_OPT_PGTOL, "converged when the largest |Pg_i| <= pgtol; 0: off [0]"},
    {"--factr", CUDA_OPT_FACTR, "converged when f decreases by less than factr 2.2e-16 max(|f|, 1); 0: off [0]"},
    {"--f-target", CUDA_OPT_F_TARGET, "converged when f <= target [-inf: off]"},
    {"--gtol", CUDA_OPT_GTOL, "line search: curvature condition, 1e-4 < gtol < 1 [0.9]"},
    {"--ftol", CUDA_OPT_FTOL, "line search: sufficient decrease, 0 <= ftol < 1 [1e-4]"},
    {"--xtol", CUDA_OPT_XTOL, "line search: relative width of its last interval [1e-16]"},
    {"--stpmin", CUDA_OPT_STPMIN, "line search: smallest step [1e-20]"},
    {"--stpmax", CUDA_OPT_STPMAX, "line search: largest step [1e20]"},
    {"--max-seconds", CUDA_OPT_MAX_SECONDS, "stop after so much time; 0: no limit [0]"},
};

constexpr RealSetting whole_settings[] = {
    {"--maxfev", CUDA_OPT_MAXFEV, "line search: most evaluations of one search [20]"},
    {"--max-iterations", CUDA_OPT_MAX_ITERATIONS, "stop after so many iterations; 0: no limit [2000]"},
    {"--max-evaluations", CUDA_OPT_MAX_EVALUATIONS, "stop after so many evaluations; 0: no limit [0]"},
    {"--max-cuts", CUDA_OPT_MAX_CUTS, "most cuts of a step in a row where f or g is not finite [30]"},
};

void print_problems()
{
    for (const auto &facts : cudaopt::testfuncs::list_problems())
        std::printf("%s: %s, %s\n    f = %s\n    start %s\n    %s\n", facts.name.c_str(), facts.title.c_str(),
                    facts.requirement.c_str(), facts.formula.c_str(), facts.start.c_str(), facts.source.c_str());
}

int backend_of(const std::string &name)
{
    if (name == "auto")
        return CUDA_OPT_BACKEND_AUTO;
    if (name == "cuda")
        return CUDA_OPT_BACKEND_CUDA;
    if (name == "host")
        return CUDA_OPT_BACKEND_HOST;
    throw CLI::ValidationError("--backend", "must be auto, cuda or host, not '" + name + "'");
}

bool is_single(const std::string &name)
{
    if (name != "single" && name != "double")
        throw CLI::ValidationError("--precision", "must be double or single, not '" + name + "'");
    return name == "single";
}

void read_iprint(const std::string &text, Options &options)
{
    long long frequency, type = 0;
    char comma = ',', rest;
    const int read = std::sscanf(text.c_str(), "%lld%c%lld%c", &frequency, &comma, &type, &rest);
    if ((read != 1 && read != 3) || comma != ',')
        throw CLI::ValidationError("--iprint", "must be f,t, two whole numbers as in 1,0, not '" + text + "'");
    options.log_frequency = frequency;
    options.log_type = type;
}

void add_settings(CLI::App &app, Options &options)
{
    const std::string group = "Settings of the solver [and their defaults]";
    for (const RealSetting &setting : real_settings)
        app.add_option_function<double>(
               setting.name,
               [&options, key = setting.key](const double &value) { options.settings.push_back({key, value}); },
               setting.help)
            ->type_name("X")
            ->group(group);
    for (const RealSetting &setting : whole_settings)
        app.add_option_function<std::int64_t>(
               setting.name,
               [&options, key = setting.key](const std::int64_t &value) { options.settings.push_back({key, value}); },
               setting.help)
            ->type_name("K")
            ->group(group);
    app.add_flag_callback(
           "--approximate-cauchy",
           [&options] { options.settings.push_back({CUDA_OPT_APPROXIMATE_CAUCHY, std::int64_t(1)}); },
           "search the projected path up to its first breakpoint only")
        ->group(group);
    app.add_option_function<int>(
           "--threads",
           [&options](const int &threads) {
               options.threads = threads;
               options.settings.push_back({CUDA_OPT_THREADS, std::int64_t(threads)});
           },
           "threads of the host, for the solver and for f and g; 0: all of the machine's [0]")
        ->type_name("K")
        ->group(group);
}

void check_bounds(const Options &options)
{
    const double lower = options.lower.value_or(-INFINITY), upper = options.upper.value_or(INFINITY);
    if (std::isnan(lower) || lower == INFINITY)
        throw CLI::ValidationError("--lower", "must be a number or -inf");
    if (std::isnan(upper) || upper == -INFINITY)
        throw CLI::ValidationError("--upper", "must be a number or inf");
    if (lower > upper)
        throw CLI::ValidationError("--lower", "is above --upper");
}

std::string first_line(const std::string &text)
{
    return text.substr(0, text.find('\n'));
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv)
{
    Options options;
    CLI::App app("Minimise a test problem of n variables by L-BFGS-B with m correction pairs, and print the log.\n"
                 "Exit status: 0 converged, 1 not converged or failed, 2 wrong arguments.",
                 "driver_program");
    app.set_help_flag("-h,--help", "print this help and exit");
    app.set_version_flag("--version", std::string("driver_program of cuda_opt ") + cuda_opt_version());
    app.add_flag_callback(
           "--list",
           [] {
               print_problems();
               throw CLI::Success();
           },
           "list the problems and exit")
        ->trigger_on_parse();

    app.add_option("n", options.n, "number of variables")->required()->type_name("");
    app.add_option("m", options.m, "number of correction pairs kept; 3 to 20 are usual")->required()->type_name("");
    app.add_option("--problem", options.problem, "problem to minimise, see --list [rosenbrock]")->type_name("NAME");
    app.add_option("--lower", options.lower, "lower bound of every variable")->type_name("X");
    app.add_option("--upper", options.upper, "upper bound of every variable")->type_name("X");
    app.add_option_function<std::string>(
           "--backend", [&options](const std::string &name) { options.backend = backend_of(name); },
           "auto, cuda or host; auto: CUDA where there is a device [auto]")
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--precision", [&options](const std::string &name) { options.single = is_single(name); },
           "double or single: of x and g; sums and f are double [double]")
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--iprint", [&options](const std::string &text) { read_iprint(text, options); },
           "the log. f: every f-th iterate; 0: first and last; -1: no log. t: 0 a line an iterate; 1 and the first "
           "x and g; 2 and every x; 3 and every x and g [1,0]")
        ->type_name("f,t");
    app.add_option("--csv", options.csv, "write one row an iteration to this file")->type_name("FILE");
    app.add_option("--plot", options.plot, "draw f and ||Pg|| against iterations to this SVG file")->type_name("FILE");
    add_settings(app, options);

    try {
        app.parse(argc, argv);
        check_bounds(options);
    } catch (const CLI::ParseError &end) {
        if (end.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
            throw Failure(exit_usage, first_line(end.what()) + " (see --help)");
        app.exit(end);
        return std::nullopt;
    }
    return options;
}

} // namespace driver
