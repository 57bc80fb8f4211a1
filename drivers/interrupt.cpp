#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace driver {
namespace {

// A signal handler has no arguments of its own: the one place where the program keeps globals.
std::atomic<cuda_opt *> interrupted{nullptr};
std::atomic<bool> asked{false};

void request_stop(int signal) {
    std::signal(signal, SIG_DFL);
    asked = true;
    if (cuda_opt *const s = interrupted.load()) cuda_opt_request_stop(s);
}

} // namespace

Interrupt::Interrupt(cuda_opt *s) {
    interrupted = s;
    asked = false;
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
}

Interrupt::~Interrupt() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    interrupted = nullptr;
}

bool Interrupt::requested() const { return asked; }

} // namespace driver
