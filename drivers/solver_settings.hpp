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

// Returns the value of CUDA_OPT_INITIAL_HESSIAN for the text of the option --metric.
inline int64_t metric_of(const std::string &name) {
    if (name == "one") return CUDA_OPT_INITIAL_HESSIAN_SCALAR;
    if (name == "learned") return CUDA_OPT_INITIAL_HESSIAN_LEARNED;
    refuse("--metric", "must be one or learned, not '" + name + "'");
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
