// Functions that all programs share for their command lines. They convert the text of arguments, and reject an invalid
// argument with one line of text.
#pragma once

#include "cuda_opt.h"
#include "failure.hpp"
#include "nearest.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace driver {

// Throws the exception for an invalid argument, with the argument's name and the reason.
[[noreturn]] inline void refuse(const std::string &name, const std::string &why) {
    throw CLI::ValidationError(name, why);
}

inline double number(const std::string &name, const std::string &text) {
    double value;
    char rest;
    if (std::sscanf(text.c_str(), "%lf%c", &value, &rest) != 1) refuse(name, "must be a number, not '" + text + "'");
    return value;
}

// Converts the text of an argument to an integer. Forms such as 1e6 are accepted.
template <class Whole> Whole whole_number(const std::string &name, const std::string &text) {
    long double value;
    char rest;
    if (std::sscanf(text.c_str(), "%Lf%c", &value, &rest) != 1 || value != std::floor(value))
        refuse(name, "must be a whole number, not '" + text + "'");
    if (std::is_unsigned_v<Whole> && value < 0) refuse(name, "must not be negative, but is " + text);
    using Limits = std::numeric_limits<Whole>;
    if (value > static_cast<long double>(Limits::max()))
        refuse(name, text + " is above " + std::to_string(Limits::max()));
    if (value < static_cast<long double>(Limits::min()))
        refuse(name, text + " is below " + std::to_string(Limits::min()));
    return static_cast<Whole>(value);
}

inline int backend_of(const std::string &name) {
    if (name == "auto") return CUDA_OPT_BACKEND_AUTO;
    if (name == "cuda") return CUDA_OPT_BACKEND_CUDA;
    if (name == "host") return CUDA_OPT_BACKEND_HOST;
    refuse("--backend", "must be auto, cuda or host, not '" + name + "'");
}

inline bool is_single(const std::string &name) {
    if (name != "single" && name != "double") refuse("--precision", "must be double or single, not '" + name + "'");
    return name == "single";
}

inline std::string in_words(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

// The value of FACTR that the option --until-still sets. The solve then ends when an iteration decreases f by at most
// 1e-64 max(|f|, 1).
constexpr double still_factr = 1e-64 / std::numeric_limits<double>::epsilon();
constexpr const char *still_help =
    "end when f no longer falls by more than 1e-64 * max(|f|, 1), and by no other test: the test of the paper of 2014";

// Rejects a text that is not the name of an element of the list, which --list prints.
template <class List, class NameOf>
void require_name(const std::string &option, const std::string &kind, const std::string &text, const List &list,
                  const NameOf &name_of) {
    std::vector<std::string> names;
    for (const auto &element : list) names.push_back(name_of(element));
    if (std::find(names.begin(), names.end(), text) == names.end())
        throw Failure(exit_usage, option + ": there is no " + kind + " '" + text + "'; the nearest is " +
                                      nearest(text, names) + " (see --list)");
}

// Rejects bounds of all variables between which there is no number.
inline void require_bounds(double lower, double upper) {
    if (std::isnan(lower) || lower == INFINITY) refuse("--lower", "must be a number or -inf, not " + in_words(lower));
    if (std::isnan(upper) || upper == -INFINITY) refuse("--upper", "must be a number or inf, not " + in_words(upper));
    if (lower > upper) refuse("--lower", in_words(lower) + " is above --upper " + in_words(upper));
}

// Rejects an argument that is negative or NaN.
inline void require_not_negative(const std::string &name, double value) {
    if (!(value >= 0)) refuse(name, "must not be negative, but is " + in_words(value));
}

// Adds an option to the command line. read(name, text) converts the text of its argument.
template <class Read>
CLI::Option *add_option(CLI::App &app, const std::string &name, const char *type, const std::string &help, Read read) {
    return app
        .add_option_function<std::string>(
            name,
            [=](const std::string &text) {
                if (text.empty() && std::string(type) == "FILE") refuse(name, "must be the name of a file, not ''");
                read(name, text);
            },
            help)
        ->type_name(type);
}

// Adds an option that also has a former name. The former name works as before, but the help does not list it. A command
// line that contains both names is rejected.
template <class Read>
CLI::Option *add_option(CLI::App &app, const std::string &name, const std::string &former, const char *type,
                        const std::string &help, Read read) {
    const CLI::Option *const by_former_name = add_option(app, former, type, "", read)->group("");
    return add_option(app, name, type, help, [=](auto &option, auto &text) {
        if (by_former_name->count() > 0) refuse(option, "is the present name of " + former + ", and both are given");
        read(option, text);
    });
}

// Rejects two options that name the same output file, because the file would contain only what was written last.
// Options without a file, and special files such as /dev/null, are ignored.
inline void require_different_files(const std::vector<std::pair<std::string, std::string>> &files) {
    namespace fs = std::filesystem;
    std::error_code none;
    const auto same = [&](const fs::path &one, const fs::path &other) {
        if (fs::exists(one, none) && !fs::is_regular_file(one, none)) return false;
        return fs::equivalent(one, other, none) ||
               fs::weakly_canonical(fs::absolute(one), none) == fs::weakly_canonical(fs::absolute(other), none);
    };
    for (auto one = files.begin(); one != files.end(); one++)
        for (auto other = files.begin(); other != one; other++)
            if (!one->second.empty() && !other->second.empty() && same(one->second, other->second))
                refuse(one->first, "'" + one->second + "' is the file of " + other->first + ", too");
}

// Adds the options --help, --version and --list, which every program has. list() prints the available functions.
template <class List>
void add_answers(CLI::App &app, const std::string &program, const std::string &list_help, List list) {
    app.name(program);
    app.set_help_flag("-h,--help", "print this help and exit");
    app.set_version_flag("--version", program + " of cuda_opt " + cuda_opt_version(), "print the version and exit");
    app.add_flag_callback(
           "--list",
           [=] {
               list();
               throw CLI::Success();
           },
           list_help)
        ->trigger_on_parse();
}

// Rejects an option that does not exist, and suggests the nearest one.
[[noreturn]] inline void refuse_unknown(const CLI::App &app, const std::string &name) {
    std::vector<std::string> names;
    for (const CLI::Option *const option : app.get_options())
        for (const std::string &known : option->get_lnames())
            if (!option->get_group().empty()) names.push_back("--" + known);
    const std::string bare = name.substr(name.find_last_of('-', 1) + 1);
    const bool positional = app.get_option_no_throw(bare) && !app.get_option_no_throw("--" + bare);
    throw CLI::ValidationError(
        "there is no option " + name +
        (positional ? "; write the value of " + bare + " alone" : "; the nearest is " + nearest(name, names)));
}

// Rejects an unknown option, a missing or superfluous value, and an option that is given twice. Without this check,
// CLI11 would read the value of an unknown option as a positional argument, and an option after another one as its
// value.
inline void check_options(const CLI::App &app, const std::vector<std::string> &words) {
    std::vector<const CLI::Option *> given;
    for (auto word = words.begin(); word != words.end() && *word != "--"; word++) {
        if (word->size() < 2 || word->front() != '-' || std::strchr(".0123456789", (*word)[1])) continue;
        const std::size_t equals = word->find('=');
        const std::string name = word->substr(0, equals);
        const CLI::Option *const option = app.get_option_no_throw(name);
        if (!option) refuse_unknown(app, name);
        // These options end the program, so that the rest of the command line does not matter.
        if (option == app.get_help_ptr() || option == app.get_version_ptr() || name == "--list") return;
        if (option->get_items_expected_max() == 0) {
            if (equals != std::string::npos)
                refuse(name, "takes no value, but is given '" + word->substr(equals + 1) + "'");
            continue;
        }
        if (option->get_items_expected_max() == 1 && std::count(given.begin(), given.end(), option))
            refuse(name, "is given twice");
        given.push_back(option);
        const std::string needs = "needs a value, " + option->get_type_name();
        if (equals + 1 == word->size() || (equals == std::string::npos && word + 1 == words.end())) refuse(name, needs);
        if (equals == std::string::npos && (++word)->rfind("--", 0) == 0)
            refuse(name, needs + ", but is followed by " + *word);
    }
}

// Reads the command line, and then checks all arguments together. Returns false if --help, --list or --version was
// given and has been handled. Throws Failure with one line of text if the arguments are invalid.
template <class Check> bool parsed(CLI::App &app, int argc, char **argv, const Check &check) {
    try {
        check_options(app, {argv + 1, argv + argc});
        app.parse(argc, argv);
        check();
        return true;
    } catch (const CLI::ParseError &end) {
        const std::string text = end.what();
        if (end.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
            throw Failure(exit_usage, text.substr(0, text.find('\n')) + " (see --help)");
        app.exit(end);
        check_output();
        return false;
    }
}

} // namespace driver
