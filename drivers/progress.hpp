// One line on a terminal that says how far a long run has come.
#pragma once

#include "cuda_opt.hpp"

namespace driver {

class Progress {
  public:
    // wanted: whether nothing else shows the progress; without a terminal on stderr nothing is shown
    explicit Progress(bool wanted);
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // A few times a second at most, and not in the first second.
    void show(const cudaopt::Handle &s, double seconds);
    // Take the line away before something else is written.
    void clear();

  private:
    bool wanted_, shown_ = false;
    double next_ = 1;
};

} // namespace driver
