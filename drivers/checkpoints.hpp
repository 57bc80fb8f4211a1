// Writes the checkpoints of a run: at a given interval of iterations, and when Ctrl-C ends it.
#pragma once

#include "cuda_opt.hpp"
#include "interrupt.hpp"
#include "options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// Returns the bytes of a file up to the size of a checkpoint of such a solve, so that an endless file such as /dev/zero
// is not read completely. Throws Failure if it cannot be read.
std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s);

class Checkpoints {
  public:
    // Fails before the solve starts if the file cannot be written.
    explicit Checkpoints(const Options &options);

    // Must be called after each call of the solver, before its task is done. The checkpoint of a solve that has ended
    // cannot be continued. Therefore Ctrl-C has to be detected here, not by the solver, and a checkpoint is written if
    // the next call may end at a limit, which requires CUDA_OPT_REPORT_ITERATES. seconds: time since the solve began.
    // Throws Failure if a checkpoint cannot be written; the previous one remains valid.
    void observe(cudaopt::Handle &s, int task, const Interrupt &interrupt, double seconds);
    bool wanted() const { return !path_.empty(); }

  private:
    bool may_end_at_limit(const cudaopt::Handle &s, int task, double seconds);
    void write(const std::vector<unsigned char> &checkpoint) const;

    const std::string path_; // with symbolic links resolved
    const int64_t every_;
    int64_t last_ = -1; // the iteration of the last one; -1: the first call has not been made
    double seconds_before_ = 0, longest_call_ = 0; // time of the last call of observe(); longest interval between two
};

} // namespace driver
