// Formatted text with a decimal point, whatever locale the process or the thread has set: logs and sentences are read
// by programs.
#pragma once

#include <locale.h>

#include <cstdarg>
#include <cstdio>

namespace cudaopt {

// While it lives, the calling thread formats as in the locale "C". The C library has that one without allocating.
class PointLocale {
  public:
    PointLocale() : before_(uselocale(newlocale(LC_ALL_MASK, "C", locale_t{}))) {}
    ~PointLocale() { uselocale(before_); }
    PointLocale(const PointLocale &) = delete;
    PointLocale &operator=(const PointLocale &) = delete;

  private:
    const locale_t before_;
};

// As vsnprintf(), snprintf() and printf().
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
