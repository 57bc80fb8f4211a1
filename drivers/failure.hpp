// The exception Failure, which ends a program with one line on stderr and an exit status.
#pragma once

#include "cuda_opt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace driver {

// The exit status of a solve that has not converged, and of other failures.
constexpr int exit_failed = 1;
constexpr int exit_usage = 2; // wrong arguments

struct Failure : std::runtime_error {
    Failure(int status, const std::string &line) : std::runtime_error(line), status(status) {}
    int status;
};

// Calls action(). If the library reports an error, `name` (an option or a file) is added to the message.
template <class Action> void named(const std::string &name, const Action &action) {
    try {
        action();
    } catch (const cudaopt::Error &failure) {
        throw cudaopt::Error(failure.code(), name + ": " + failure.what());
    }
}

// Opens /dev/null on each of the file descriptors 0, 1 and 2 that is closed when the program starts. Otherwise the next
// file that the program opens would become its standard output. Standard output is opened for reading only, so that a
// write to it fails.
inline void open_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        // open() returns the lowest free descriptor. This is `descriptor`, because all lower ones are open.
        if (fcntl(descriptor, F_GETFD) == -1)
            static_cast<void>(open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

// Throws Failure if something that was printed to standard output could not be written.
inline void check_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw Failure(exit_failed, std::string("cannot write to standard output: ") + std::strerror(errno));
}

// Calls run() and returns the exit status of the program: the value of run(), or the status of the failure that it
// threw. Output that is lost is a failure, too.
template <class Run> int guarded(const char *program, const Run &run) {
    open_standard_descriptors();
    const auto failed = [program](int status, const char *line) {
        std::fprintf(stderr, "%s: %s\n", program, line);
        return status;
    };
    try {
        const int status = run();
        check_output();
        return status;
    } catch (const Failure &failure) {
        return failed(failure.status, failure.what());
    } catch (const cudaopt::Error &failure) {
        return failed(failure.code() == CUDA_OPT_IMPROPER_INPUT ? exit_usage : exit_failed, failure.what());
    } catch (const std::bad_alloc &) {
        return failed(exit_failed, "out of memory");
    } catch (const std::exception &failure) {
        return failed(exit_failed, failure.what());
    }
}

} // namespace driver
