// The problems between two calls of setulb, the least recently used first. Which of them their callers have given up
// nobody can know: there is room for so many, and one that has to make room goes on with an empty memory should its
// caller come back.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "setulb/problem.hpp"

namespace cudaopt::drop_in {

class SavedProblems {
  public:
    SavedProblems();
    // The problem that the call's arrays name, at the task that they are at; or none. It is the taker's alone.
    std::unique_ptr<Problem> take(const Call &call);
    std::unique_ptr<Problem> take(int64_t ticket);
    // Problems whose workspace lies where this one does: a START there says that they are given up.
    std::vector<std::unique_ptr<Problem>> take_overlapping(const Call &call);
    std::unique_ptr<Problem> take_oldest();
    // Until the next call. Gives a new problem its ticket, and the arrays ticket and stamp.
    void save(std::unique_ptr<Problem> problem, const Call &call);

  private:
    template <class Condition> std::unique_ptr<Problem> take_first(const Condition &condition);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Problem>> problems_;
    std::size_t most_;
    int64_t next_ticket_;
};

// The process's own. It is emptied when the process ends.
SavedProblems &saved_problems();

} // namespace cudaopt::drop_in
