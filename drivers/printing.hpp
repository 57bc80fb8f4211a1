// Functions that write lines of a log. They throw Failure if a line cannot be written.
#pragma once

#include "failure.hpp"

#include <cstdarg>
#include <cstdio>

namespace driver {

[[gnu::format(printf, 1, 2)]] inline void print(const char *format, ...) {
    va_list values;
    va_start(values, format);
    std::vprintf(format, values);
    va_end(values);
    check_output();
}

} // namespace driver
