// Writes the checkpoints of a run: after every k-th iteration, and when Ctrl-C ends the run.
#pragma once

#include "cuda_opt.hpp"
#include "interrupt.hpp"
#include "options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// Returns the contents of a checkpoint file. The largest possible checkpoint of a solve with the dimension and the
// number of correction pairs of s limits the number of bytes that are read, so that an endless file such as /dev/zero
// does no harm. Throws Failure if the file cannot be read.
std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s);

class Checkpoints {
  public:
    // Throws Failure, before the solve starts, if the checkpoint file cannot be written.
    explicit Checkpoints(const Options &options);

    // Writes a checkpoint if one is due. Call this after each call of the solver, before its task is done.
    //
    // A checkpoint is due at the given interval of iterations. It is also due when the solve is about to end, because
    // the checkpoint of a solve that has ended cannot be continued. The solve is about to end in two cases:
    // - Ctrl-C was pressed. Therefore this function, and not the solver, checks for Ctrl-C.
    // - The next call of the solver may end at a limit. This requires CUDA_OPT_REPORT_ITERATES.
    //
    // seconds: time since the solve began. Throws Failure if a checkpoint cannot be written; the previous one remains
    // valid.
    void observe(cudaopt::Handle &s, int task, const Interrupt &interrupt, double seconds);
    bool wanted() const { return !path_.empty(); }

  private:
    bool may_end_at_limit(const cudaopt::Handle &s, int task, double seconds);
    void write(const std::vector<unsigned char> &checkpoint) const;

    // The path of the checkpoint file, after all symbolic links are resolved.
    const std::string path_;
    const int64_t every_;
    // The iteration of the last checkpoint, or -1 before the first call of observe().
    int64_t last_ = -1;
    // The time at the last call of observe(), and the longest time between two such calls, in seconds.
    double seconds_before_ = 0, longest_call_ = 0;
};

} // namespace driver
