#include "saved_problems.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>

namespace cudaopt::drop_in {

SavedProblems::SavedProblems()
    // Tickets are the numbers of saved problems. The first ticket is the time in nanoseconds, because the caller's
    // arrays may come from another process, whose tickets must differ from those of this process.
    : next_ticket_(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)) {
    const char *value = std::getenv("CUDA_OPT_SETULB_KEEP");
    const long most = value ? std::strtol(value, nullptr, 10) : 0;
    most_ = most > 0 ? static_cast<std::size_t>(most) : 1024;
}

template <class Condition> std::unique_ptr<Problem> SavedProblems::take_first(const Condition &condition) {
    const std::lock_guard lock(mutex_);
    for (auto at = problems_.begin(); at != problems_.end(); at++)
        if (condition(**at)) {
            std::unique_ptr<Problem> problem = std::move(*at);
            problems_.erase(at);
            return problem;
        }
    return nullptr;
}

std::unique_ptr<Problem> SavedProblems::take(const Call &call) {
    // The sizes are compared as well as the ticket, because the caller may have copied the ticket from the isave of
    // another problem.
    return take_first([&](const Problem &p) {
        return p.ticket == call.ticket() && p.stamp == call[stamp] && p.of_size(call.n, call.m);
    });
}

std::unique_ptr<Problem> SavedProblems::take(int64_t ticket) {
    return take_first([&](const Problem &p) { return p.ticket == ticket; });
}

std::unique_ptr<Problem> SavedProblems::take_overlapping(const Call &call) {
    const std::less<> before;
    const double *begin = call.wa, *end = call.wa + call.workspace();
    return take_first([&](const Problem &p) { return before(p.wa, end) && before(begin, p.wa_end); });
}

std::unique_ptr<Problem> SavedProblems::take_oldest() {
    return take_first([](const Problem &) { return true; });
}

void SavedProblems::save(std::unique_ptr<Problem> problem, const Call &call) {
    std::unique_lock lock(mutex_);
    if (problem->ticket == 0) problem->ticket = next_ticket_++;
    // The stamp, the number of calls, is incremented as an unsigned number, whose overflow is defined.
    problem->stamp = static_cast<int>(static_cast<unsigned>(problem->stamp) + 1);
    problem->wa = call.wa;
    problem->wa_end = call.wa + call.workspace();
    call.set_ticket(problem->ticket);
    call[stamp] = problem->stamp;
    problems_.push_back(std::move(problem));
    const bool full = problems_.size() > most_;
    lock.unlock(); // before the oldest problem is destroyed
    if (full) take_oldest();
}

SavedProblems &saved_problems() {
    static SavedProblems all;
    return all;
}

} // namespace cudaopt::drop_in
