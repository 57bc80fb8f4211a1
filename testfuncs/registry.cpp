/* The problems by name. A new family is one more line in problems(). */
#include "testfuncs/classical.hpp"
#include "testfuncs/problem_of.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs {
namespace {

struct Entry {
    Facts facts;
    Dimension (*fit)(std::int64_t n);
    std::unique_ptr<Problem> (*make)(std::int64_t n, const Parameters &parameters);
};

template <class Family, class Function> Entry entry_of()
{
    return {Function::facts(), Function::fit, [](std::int64_t n, const Parameters &parameters) {
                return std::unique_ptr<Problem>(new ProblemOf<Family>(Function(n, parameters)));
            }};
}

template <class... Function> void append(std::vector<Entry> &entries, const std::variant<Function...> *)
{
    (entries.push_back(entry_of<std::variant<Function...>, Function>()), ...);
}

const std::vector<Entry> &problems()
{
    static const std::vector<Entry> all = [] {
        std::vector<Entry> entries;
        append(entries, static_cast<const Classical *>(nullptr));
        return entries;
    }();
    return all;
}

const Entry &find(const std::string &name)
{
    std::string names;
    for (const Entry &entry : problems()) {
        if (entry.facts.name == name)
            return entry;
        names += (names.empty() ? "" : ", ") + entry.facts.name;
    }
    throw std::invalid_argument("there is no problem '" + name + "'; there are " + names);
}

/** The problem's parameters: those given, else its defaults. */
Parameters complete(const Facts &facts, const Parameters &given)
{
    Parameters all = facts.parameters;
    for (const auto &[name, value] : given) {
        if (all.find(name) == all.end())
            throw std::invalid_argument(facts.name + " has no parameter '" + name + "'");
        all[name] = value;
    }
    return all;
}

} // namespace

std::vector<Facts> list_problems()
{
    std::vector<Facts> facts;
    for (const Entry &entry : problems())
        facts.push_back(entry.facts);
    return facts;
}

std::unique_ptr<Problem> make_problem(const std::string &name, std::int64_t n, const Parameters &parameters)
{
    const Entry &entry = find(name);
    const Dimension dimension = entry.fit(n);
    if (dimension.n == 0)
        throw std::invalid_argument(name + ": " + dimension.refusal);
    return entry.make(dimension.n, complete(entry.facts, parameters));
}

} // namespace cudaopt::testfuncs
