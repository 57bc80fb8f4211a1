#include "interrupt.hpp"

#include "failure.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace driver {
namespace {

// The solver that Ctrl-C stops, and whether Ctrl-C has been pressed. These variables are global because a signal
// handler receives no arguments. The program has no other global variables than those of its signal handlers.
std::atomic<cuda_opt *> interrupted{nullptr};
std::atomic<bool> asked{false};
std::atomic<const char *> line_to_write{nullptr};

// Writes a line to the terminal by write(), one of the few functions that a signal handler may call.
void write_line(const char *line) {
    // This escape sequence erases the line of the terminal that shows the progress.
    constexpr char erase[] = "\r\033[K";
    if (isatty(STDERR_FILENO)) static_cast<void>(!write(STDERR_FILENO, erase, sizeof erase - 1));
    static_cast<void>(!write(STDERR_FILENO, line, std::strlen(line)));
}

// Requests the signal SIGALRM after this time in milliseconds. 0 cancels the request.
void set_alarm(int milliseconds) {
    const itimerval timer = {{0, 0}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

// The handler of SIGALRM. It writes the reminder, but only if stderr is a terminal.
void write_reminder(int) {
    const char *const line = line_to_write.load();
    if (line && isatty(STDERR_FILENO)) write_line(line);
}

void request_stop(int signal) {
    std::signal(signal, SIG_DFL);
    asked = true;
    if (cuda_opt *const s = interrupted.load()) cuda_opt_request_stop(s);
    if (line_to_write.load()) set_alarm(700);
}

void end_program(int) {
    if (const char *const line = line_to_write.load()) write_line(line);
    _exit(exit_failed);
}

void handle_signals(void (*handler)(int)) {
    std::signal(SIGINT, handler);
    std::signal(SIGTERM, handler);
}

} // namespace

Interrupt::Interrupt(cuda_opt *s, const char *reminder) {
    interrupted = s;
    asked = false;
    line_to_write = reminder;
    std::signal(SIGALRM, write_reminder);
    handle_signals(request_stop);
}

Interrupt::~Interrupt() {
    handle_signals(SIG_DFL);
    set_alarm(0);
    interrupted = nullptr;
    line_to_write = nullptr;
}

bool Interrupt::requested() const { return asked; }

EarlyInterrupt::EarlyInterrupt(const char *line) {
    line_to_write = line;
    handle_signals(end_program);
}

EarlyInterrupt::~EarlyInterrupt() {
    handle_signals(SIG_DFL);
    line_to_write = nullptr;
}

} // namespace driver
