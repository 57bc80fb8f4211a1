#include "fortran_text.hpp"

#include <cmath>
#include <cstdlib>

#include "boundary/format.hpp"

namespace cudaopt::drop_in {

namespace {

std::string right(int width, const std::string &text) {
    const auto size = static_cast<std::size_t>(width);
    return text.size() > size ? std::string(size, '*') : std::string(size - text.size(), ' ') + text;
}

template <class... Values> std::string formatted(const char *pattern, Values... values) {
    char text[64];
    format(text, sizeof text, pattern, values...);
    return text;
}

std::string not_finite(double value) { return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity"; }

} // namespace

std::string integer(int width, long long value) { return right(width, std::to_string(value)); }

std::string scientific(int width, int digits, double value, char letter) {
    if (!std::isfinite(value)) return right(width, not_finite(value));
    std::string text = formatted("%.*e", digits, value);
    const std::size_t exponent = text.find('e');
    // If the exponent has three digits, Fortran omits the letter before the exponent.
    if (text.size() - exponent > 4) text.erase(exponent, 1);
    else text[exponent] = letter;
    return right(width, text);
}

std::string listed(int value) { return right(12, std::to_string(value)); }

std::string listed(double value) {
    constexpr int width = 25, digits = 17, after = 5; // the format 1P,G25.16E3
    if (!std::isfinite(value)) return ' ' + right(width, not_finite(value));
    std::string text = formatted("%.*e", digits - 1, value);
    const std::size_t exponent = text.find('e');
    const int power = std::atoi(text.c_str() + exponent + 1);
    if (value == 0 || (power >= -1 && power < digits)) {
        const int decimals = value == 0 ? digits - 1 : digits - 1 - power;
        return ' ' + right(width - after, formatted("%#.*f", decimals, value)) + std::string(after, ' ');
    }
    return ' ' + right(width, text.substr(0, exponent) + formatted("E%+04d", power));
}

} // namespace cudaopt::drop_in
