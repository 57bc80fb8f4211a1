// A message of one sentence in a buffer of fixed size. It allocates nothing, so that it can also report exhausted
// memory.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <exception>

#include "cuda_opt.h"
#include "boundary/format.hpp"

namespace cudaopt {

// Converts a number to the type that the format %lld requires.
inline long long shown(int64_t number) { return number; }

class Message {
  public:
    void set(const char *pattern, ...) __attribute__((format(printf, 2, 3))) {
        va_list arguments;
        va_start(arguments, pattern);
        cudaopt::format(text_, sizeof text_, pattern, arguments);
        va_end(arguments);
    }
    // The next two functions set the text and return CUDA_OPT_MISUSE or CUDA_OPT_IMPROPER_INPUT.
    int refuse_call(const char *pattern, ...) __attribute__((format(printf, 2, 3))) {
        va_list arguments;
        va_start(arguments, pattern);
        cudaopt::format(text_, sizeof text_, pattern, arguments);
        va_end(arguments);
        return CUDA_OPT_MISUSE;
    }
    int refuse_input(const char *pattern, ...) __attribute__((format(printf, 2, 3))) {
        va_list arguments;
        va_start(arguments, pattern);
        cudaopt::format(text_, sizeof text_, pattern, arguments);
        va_end(arguments);
        return CUDA_OPT_IMPROPER_INPUT;
    }
    const char *text() const { return text_; }

  private:
    char text_[512] = "no call with this handle has returned a message yet";
};

// An exception for failures of the system, such as exhausted memory or CUDA errors. The message is an array inside the
// object, because an exception that reports exhausted memory cannot allocate any.
class BackendFailure : public std::exception {
  public:
    BackendFailure(int code_, const char *what) noexcept : code(code_) { message_.set("%s", what); }
    const char *what() const noexcept override { return message_.text(); }
    int code;

  private:
    Message message_;
};

} // namespace cudaopt
