// The list of all test problems by name. A new family of functions needs one more line in problems().
#include "testfuncs/classical.hpp"
#include "testfuncs/minpack2.hpp"
#include "testfuncs/problem_of.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs {
namespace {

struct Entry {
    Facts facts;
    Dimension (*fit)(int64_t n, const Parameters &parameters);
    std::unique_ptr<Problem> (*make)(int64_t n, const Parameters &parameters);
};

template <class Family, class Function> Entry entry_of() {
    return {Function::facts(), Function::fit, [](int64_t n, const Parameters &parameters) {
                return std::unique_ptr<Problem>(new ProblemOf<Family>(Function(n, parameters)));
            }};
}

template <class... Function> void append(std::vector<Entry> &entries, const std::variant<Function...> *) {
    (entries.push_back(entry_of<std::variant<Function...>, Function>()), ...);
}

const std::vector<Entry> &problems() {
    static const std::vector<Entry> all = [] {
        std::vector<Entry> entries;
        append(entries, static_cast<const Classical *>(nullptr));
        append(entries, static_cast<const Minpack2 *>(nullptr));
        return entries;
    }();
    return all;
}

const Entry &find(const std::string &name) {
    std::string names;
    for (const Entry &entry : problems()) {
        if (entry.facts.name == name) return entry;
        names += (names.empty() ? "" : ", ") + entry.facts.name;
    }
    throw std::invalid_argument("there is no problem '" + name + "'; there are " + names);
}

} // namespace

std::vector<Facts> list_problems() {
    std::vector<Facts> facts;
    for (const Entry &entry : problems()) facts.push_back(entry.facts);
    return facts;
}

std::unique_ptr<Problem> make_problem(const std::string &name, int64_t n, const Parameters &parameters) {
    const Entry &entry = find(name);
    const auto refuse = [&](const std::string &why) { throw std::invalid_argument(name + ": " + why); };
    Parameters all;
    try {
        all = complete(entry.facts.parameters, parameters);
    } catch (const std::invalid_argument &refusal) {
        refuse(refusal.what());
    }
    const Dimension dimension = entry.fit(n, all);
    if (dimension.n == 0) refuse(dimension.refusal);
    return entry.make(dimension.n, all);
}

} // namespace cudaopt::testfuncs
