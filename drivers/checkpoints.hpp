// Writes the checkpoints of a run: at a given interval of iterations, and when Ctrl-C ends it.
#pragma once

#include "cuda_opt.hpp"
#include "interrupt.hpp"
#include "options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// Returns the contents of a file, but no more bytes than the largest checkpoint of such a solve has. An endless file
// such as /dev/zero is therefore not read completely. Throws Failure if the file cannot be read.
std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s);

class Checkpoints {
  public:
    // Throws Failure before the solve starts if the file cannot be written.
    explicit Checkpoints(const Options &options);

    // Must be called after each call of the solver, before its task is done. It writes a checkpoint at the given
    // interval, and in two cases in which the solve is about to end, because the checkpoint of a solve that has ended
    // cannot be continued. One is Ctrl-C, which therefore has to be detected here and not by the solver. The other is
    // that the next call may end at a limit, which requires CUDA_OPT_REPORT_ITERATES. seconds: time since the solve
    // began. Throws Failure if a checkpoint cannot be written; the previous one remains valid.
    void observe(cudaopt::Handle &s, int task, const Interrupt &interrupt, double seconds);
    bool wanted() const { return !path_.empty(); }

  private:
    bool may_end_at_limit(const cudaopt::Handle &s, int task, double seconds);
    void write(const std::vector<unsigned char> &checkpoint) const;

    const std::string path_; // with symbolic links resolved
    const int64_t every_;
    int64_t last_ = -1; // the iteration of the last checkpoint; -1: the first call has not been made
    // The time of the last call of observe(), and the longest time between two calls.
    double seconds_before_ = 0, longest_call_ = 0;
};

} // namespace driver
