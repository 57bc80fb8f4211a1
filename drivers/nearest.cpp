#include "nearest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

namespace driver {
namespace {

// Returns the edit distance from the text to the name (Wagner and Fischer, Journal of the ACM 21 (1974) 168), in which
// a letter that the text lacks costs 1, and a wrong or superfluous one costs `wrong`.
int distance(const std::string &text, const std::string &name) {
    constexpr int wrong = 4;
    const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
    // Element j is the distance of the letters of the text so far to the first j letters of the name.
    std::vector<int> to(name.size() + 1);
    std::iota(to.begin(), to.end(), 0);
    for (const char letter : text) {
        int diagonal = to[0];
        to[0] += wrong;
        for (std::size_t j = 0; j < name.size(); j++) {
            const int replaced = diagonal + (lower(letter) == lower(name[j]) ? 0 : wrong);
            diagonal = to[j + 1];
            to[j + 1] = std::min({replaced, to[j] + 1, diagonal + wrong});
        }
    }
    return to.back();
}

} // namespace

std::string nearest(const std::string &text, const std::vector<std::string> &names) {
    const auto least = std::min_element(names.begin(), names.end(), [&](const auto &one, const auto &other) {
        return distance(text, one) < distance(text, other);
    });
    return least == names.end() ? "" : *least;
}

} // namespace driver
