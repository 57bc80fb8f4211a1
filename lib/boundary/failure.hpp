// What is thrown when the machine, not the mathematics, fails. It carries its sentence in itself: a failure that is a
// lack of memory could not ask for any.
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
