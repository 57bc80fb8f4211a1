/* A reason to end the program: one line on stderr and an exit status. */
#pragma once

#include <stdexcept>
#include <string>

namespace driver {

constexpr int exit_failed = 1; ///< not converged, or something did not work
constexpr int exit_usage = 2;  ///< wrong arguments

struct Failure : std::runtime_error {
    Failure(int status, const std::string &line) : std::runtime_error(line), status(status) {}
    int status;
};

} // namespace driver
