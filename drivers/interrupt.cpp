#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace driver {
namespace {

// A signal handler has no arguments of its own: the one place where the program keeps a global.
std::atomic<cuda_opt *> interrupted{nullptr};

void request_stop(int signal)
{
    std::signal(signal, SIG_DFL);
    cuda_opt_request_stop(interrupted.load());
}

} // namespace

Interrupt::Interrupt(cuda_opt *s)
{
    interrupted = s;
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
}

Interrupt::~Interrupt()
{
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    interrupted = nullptr;
}

} // namespace driver
