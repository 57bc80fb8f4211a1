// The problems that are saved between two calls of setulb, ordered from the least to the most recently used. The
// library cannot know which of them the caller has abandoned, so their number is limited. If a problem is removed to
// make room and its caller calls again, the solve continues with an empty history.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "setulb/problem.hpp"

namespace cudaopt::drop_in {

class SavedProblems {
  public:
    SavedProblems();
    // Removes and returns the problem that matches the ticket and stamp in the call's arrays, or NULL. The caller then
    // owns it.
    std::unique_ptr<Problem> take(const Call &call);
    std::unique_ptr<Problem> take(int64_t ticket);
    // Removes and returns all problems whose workspace overlaps that of the call. Called at a START, which shows that
    // those problems are abandoned.
    std::vector<std::unique_ptr<Problem>> take_overlapping(const Call &call);
    std::unique_ptr<Problem> take_oldest();
    // Saves a problem until the next call. It assigns a ticket (an identifying number) to a new problem, and writes the
    // ticket and the stamp (the number of calls) to the caller's arrays.
    void save(std::unique_ptr<Problem> problem, const Call &call);

  private:
    template <class Condition> std::unique_ptr<Problem> take_first(const Condition &condition);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Problem>> problems_;
    std::size_t most_;
    int64_t next_ticket_;
};

// The saved problems of this process. They are destroyed when the process exits.
SavedProblems &saved_problems();

} // namespace cudaopt::drop_in
