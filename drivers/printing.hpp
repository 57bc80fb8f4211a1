// Functions that write lines of a log. They throw Failure if a line cannot be written.
#pragma once

#include "failure.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace driver {

[[gnu::format(printf, 1, 2)]] inline void print(const char *format, ...) {
    va_list values;
    va_start(values, format);
    const int written = std::vprintf(format, values);
    va_end(values);
    if (written < 0 || std::fflush(stdout) != 0)
        throw Failure(exit_failed, std::string("cannot write to standard output: ") + std::strerror(errno));
}

} // namespace driver
