// Shows the progress of a long run as one line on a terminal.
#pragma once

#include "cuda_opt.hpp"

namespace driver {

class Progress {
  public:
    // wanted: false if other output already shows the progress. If stderr is not a terminal, nothing is shown.
    explicit Progress(bool wanted);
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // Updates the line that shows the progress, at most a few times per second, and not in the first second.
    void show(const cudaopt::Handle &s, double seconds);
    // Erases the line that shows the progress. Call this before other output is written.
    void clear();

  private:
    bool wanted_, shown_ = false;
    double next_ = 1;
};

} // namespace driver
