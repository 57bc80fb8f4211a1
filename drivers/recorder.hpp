// Records a run in the files that the user requested: a table with one row per iteration, and a plot at the end.
#pragma once

#include "history.hpp"
#include "options.hpp"
#include "output_file.hpp"

#include <optional>
#include <string>

namespace driver {

class Recorder {
  public:
    // Opens the output files, so that a file that cannot be written is reported before the solve starts.
    explicit Recorder(const Options &options);

    // Records the last accepted iterate if it is a new one. Call this after each call of the solver. evaluations,
    // seconds: the number of evaluations and the time used so far.
    void observe(const cudaopt::Handle &s, int64_t evaluations, double seconds);
    void draw(const std::string &title, const std::string &subtitle);

  private:
    std::optional<OutputFile> csv_, plot_;
    // The number of the last iteration that was recorded, or -1.
    int64_t last_ = -1;
    History history_; // for the plot only
};

} // namespace driver
