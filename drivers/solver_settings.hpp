// Command-line options for the solver's settings, and settings that all programs share.
#pragma once

#include "arguments.hpp"
#include "options.hpp"

#include <string>
#include <type_traits>
#include <vector>

namespace driver {

struct Setting {
    const char *name;
    int32_t key;
    const char *help;
};

// Returns the value of CUDA_OPT_INITIAL_HESSIAN for the text of `option`, where "one" is a former name of "scalar".
inline int64_t initial_hessian_of(const std::string &option, const std::string &text) {
    if (text == "scalar" || text == "one") return CUDA_OPT_INITIAL_HESSIAN_SCALAR;
    if (text == "learned") return CUDA_OPT_INITIAL_HESSIAN_LEARNED;
    refuse(option, "must be scalar or learned, not '" + text + "'");
}

// Adds the option --initial-hessian. Returns it, so that the caller can put it into a group of the help.
inline CLI::Option *add_initial_hessian(CLI::App &app, std::vector<GivenSetting> &given) {
    return add_option(app, "--initial-hessian", "--metric", "NAME",
                      "scalar, a multiple of the identity as in the manual and in version 3.0, or\n"
                      "learned, a diagonal that often saves evaluations [scalar]",
                      [&given](auto &name, auto &text) {
                          given.push_back({name, CUDA_OPT_INITIAL_HESSIAN, initial_hessian_of(name, text)});
                      });
}

// Adds an option to the command line for each setting in `list`. Number is the type of the settings, double or int64_t.
// group: the group in the help text; NULL: the group of all options.
template <class Number, class List>
void add_settings(CLI::App &app, const List &list, std::vector<GivenSetting> &given, const char *group = nullptr) {
    constexpr bool whole = std::is_integral_v<Number>;
    for (const Setting &setting : list) {
        CLI::Option *const option = add_option(app, setting.name, whole ? "K" : "X", setting.help,
                                               [&given, key = setting.key](auto &name, auto &text) {
                                                   if constexpr (whole)
                                                       given.push_back({name, key, whole_number<Number>(name, text)});
                                                   else given.push_back({name, key, number(name, text)});
                                               });
        if (group) option->group(group);
    }
}

} // namespace driver
