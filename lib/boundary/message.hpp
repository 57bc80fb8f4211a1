// One sentence in a fixed buffer: what happened, with its numbers. No allocation, so that it also serves when memory
// is what is lacking.
#pragma once

#include <cstdarg>

#include "boundary/format.hpp"

namespace cudaopt {

class Message {
  public:
    void set(const char *pattern, ...) __attribute__((format(printf, 2, 3))) {
        va_list arguments;
        va_start(arguments, pattern);
        cudaopt::format(text_, sizeof text_, pattern, arguments);
        va_end(arguments);
    }
    const char *text() const { return text_; }

  private:
    char text_[512] = "nothing has happened yet";
};

} // namespace cudaopt
