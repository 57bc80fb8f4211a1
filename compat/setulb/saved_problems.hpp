// This header declares the collection of problems that are saved between two calls of setulb, ordered from the least to
// the most recently used. The library cannot know which of them the caller has abandoned, so their number is limited.
// When the limit is reached, the least recently used problem is removed. If its caller calls setulb again, the solve
// continues with an empty history.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "problem.hpp"

namespace cudaopt::drop_in {

class SavedProblems {
  public:
    SavedProblems();
    // Removes and returns the problem with the ticket and the stamp in the caller's arrays, or returns NULL if there is
    // none. The caller of take() then owns the problem.
    std::unique_ptr<Problem> take(const Call &call);
    std::unique_ptr<Problem> take(int64_t ticket);
    // Removes and returns the oldest problem whose workspace overlaps the workspace of this call. The function is
    // called when a solve starts: the caller has then abandoned those problems.
    std::unique_ptr<Problem> take_overlapping(const Call &call);
    std::unique_ptr<Problem> take_oldest();
    // Saves a problem until the next call of setulb. A new problem receives a ticket, which identifies it. The function
    // writes the ticket and the stamp, the number of calls, to the caller's arrays.
    void save(std::unique_ptr<Problem> problem, const Call &call);

  private:
    template <class Condition> std::unique_ptr<Problem> take_first(const Condition &condition);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Problem>> problems_;
    std::size_t most_;
    int64_t next_ticket_;
};

// Returns the saved problems of this process. They are destroyed when the process exits.
SavedProblems &saved_problems();

} // namespace cudaopt::drop_in
