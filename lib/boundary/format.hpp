// Formats text with a decimal point, whatever the locale of the process or the thread is. Programs parse the logs and
// messages and rely on this.
#pragma once

#include <locale.h>

#include <cstdarg>
#include <cstdio>

namespace cudaopt {

// Switches the calling thread to the locale "C" during its lifetime. The C library provides that locale without an
// allocation.
class PointLocale {
  public:
    PointLocale() : before_(uselocale(newlocale(LC_ALL_MASK, "C", locale_t{}))) {}
    ~PointLocale() { uselocale(before_); }
    PointLocale(const PointLocale &) = delete;
    PointLocale &operator=(const PointLocale &) = delete;

  private:
    const locale_t before_;
};

// The following functions work like vsnprintf(), snprintf() and printf(), but always use a decimal point.
inline int format(char *to, std::size_t size, const char *pattern, va_list arguments) {
    const PointLocale point;
    return std::vsnprintf(to, size, pattern, arguments);
}
__attribute__((format(printf, 3, 4))) inline int format(char *to, std::size_t size, const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    const int length = format(to, size, pattern, arguments);
    va_end(arguments);
    return length;
}
__attribute__((format(printf, 1, 2))) inline int print(const char *pattern, ...) {
    const PointLocale point;
    va_list arguments;
    va_start(arguments, pattern);
    const int length = std::vprintf(pattern, arguments);
    va_end(arguments);
    return length;
}

} // namespace cudaopt
