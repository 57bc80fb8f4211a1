#include "testfuncs/search/functions.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace cudaopt::testfuncs::search {
namespace {

template <class... F> std::vector<Function> each_of(const std::variant<F...> *) { return {F()...}; }

} // namespace

const std::vector<Function> &all_functions() {
    static const std::vector<Function> all = each_of(static_cast<const Function *>(nullptr));
    return all;
}

Facts facts_of(const Function &function) {
    return std::visit([](const auto &f) { return f.facts(); }, function);
}

Function function_by_name(const std::string &name) {
    std::string names;
    for (const Function &function : all_functions()) {
        const std::string its = facts_of(function).name;
        if (its == name) return function;
        names += (names.empty() ? "" : ", ") + its;
    }
    throw std::invalid_argument("there is no function '" + name + "'; there are " + names);
}

bool has_gradient(const Function &function) {
    return std::visit([](const auto &f) { return gradient_of<std::decay_t<decltype(f)>>; }, function);
}

double evaluate(const Function &function, const double *x, int n, double *g) {
    return std::visit(
        [&](const auto &f) {
            if constexpr (gradient_of<std::decay_t<decltype(f)>>) {
                if (g) f.gradient(x, n, g);
            } else if (g) {
                throw std::invalid_argument(f.facts().name + ": it has no gradient");
            }
            return f(x, n);
        },
        function);
}

} // namespace cudaopt::testfuncs::search
