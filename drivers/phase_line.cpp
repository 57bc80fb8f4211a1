#include "phase_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace driver {

PhaseLine::PhaseLine() {
    if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { run(); });
}

PhaseLine::~PhaseLine() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        end_ = true;
    }
    ended_.notify_one();
    if (thread_.joinable()) thread_.join();
    clear();
}

void PhaseLine::show(const std::string &phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (phase_.empty()) due_ = Clock::now() + std::chrono::milliseconds(500);
    phase_ = phase;
}

void PhaseLine::clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (written_) std::fputs("\r\033[K", stderr);
    written_ = false;
    phase_.clear();
}

void PhaseLine::run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [this] { return end_; })) {
        if (phase_.empty() || Clock::now() < due_) continue;
        const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        std::fprintf(stderr, "\r\033[K%s  %.0f s ", phase_.c_str(), seconds);
        written_ = true;
    }
}

} // namespace driver
