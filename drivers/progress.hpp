// Shows the progress of a long run in one line on a terminal.
#pragma once

#include "cuda_opt.hpp"

namespace driver {

class Progress {
  public:
    // wanted: whether to show the progress, because no other output shows it. If stderr is not a terminal, nothing is
    // shown.
    explicit Progress(bool wanted);
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // Updates the line at most a few times per second, and not in the first second.
    void show(const cudaopt::Handle &s, double seconds);
    // Erases the line. It must be called before other output is written.
    void clear();

  private:
    bool wanted_, shown_ = false;
    double next_ = 1;
};

} // namespace driver
