// Records a run in the files that the user requested: one row per iteration, and a plot at the end.
#pragma once

#include "history.hpp"
#include "options.hpp"
#include "output_file.hpp"

#include <optional>
#include <string>

namespace driver {

class Recorder {
  public:
    // Opens the files, so that a file that cannot be written is reported before the solve starts.
    explicit Recorder(const Options &options);

    // Must be called after each call of the solver. It records the last accepted iterate if it is a new one.
    // evaluations, seconds: the number of evaluations and the time used so far
    void observe(const cudaopt::Handle &s, int64_t evaluations, double seconds);
    void draw(const std::string &title, const std::string &subtitle);

  private:
    std::optional<OutputFile> csv_, plot_;
    int64_t last_ = -1; // the last iteration that was recorded
    History history_;   // used only for the plot
};

} // namespace driver
