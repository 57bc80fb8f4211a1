// An exception for failures of the system, such as exhausted memory or CUDA errors. The message is an array inside the
// object, because an exception that reports exhausted memory cannot allocate any.
#pragma once

#include <exception>

#include "boundary/message.hpp"

namespace cudaopt {

class BackendFailure : public std::exception {
  public:
    BackendFailure(int code_, const char *what) noexcept : code(code_) { message_.set("%s", what); }
    const char *what() const noexcept override { return message_.text(); }
    int code;

  private:
    Message message_;
};

} // namespace cudaopt
