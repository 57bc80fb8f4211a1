// Follows a run for the files that the user asked for: a row an iteration, a picture at the end.
#pragma once

#include "history.hpp"
#include "options.hpp"
#include "output_file.hpp"

#include <optional>
#include <string>

namespace driver {

class Recorder {
  public:
    // Opens the files: one that cannot be written is known before the work begins.
    explicit Recorder(const Options &options);

    // To be called after each call of the solver: notes the last accepted iterate, where it is a new one.
    // evaluations, seconds: spent so far
    void observe(const cudaopt::Handle &s, int64_t evaluations, double seconds);
    void draw(const std::string &title, const std::string &subtitle);

  private:
    std::optional<OutputFile> csv_, plot_;
    int64_t last_ = -1; // the last iteration noted
    History history_;   // kept for the picture alone
};

} // namespace driver
