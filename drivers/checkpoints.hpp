// The checkpoints of a run: every so many iterations, and where Ctrl-C ends it.
#pragma once

#include "cuda_opt.hpp"
#include "interrupt.hpp"
#include "options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// The bytes of a file, as far as they may be a checkpoint of such a solve: what comes after, of /dev/zero without end,
// is left where it is. Throws Failure where it cannot be read
std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s);

class Checkpoints {
  public:
    // One that cannot be written is known before the work begins.
    explicit Checkpoints(const Options &options);

    // To be called after each call of the solver, before its task is done. Where there are checkpoints, Ctrl-C has to
    // be found here, not by the solver: from the checkpoint of a solve that was stopped nothing goes on.
    // Throws Failure where it cannot be written; the last one still stands
    void observe(cudaopt::Handle &s, int task, const Interrupt &interrupt);
    bool wanted() const { return !path_.empty(); }

  private:
    void write(const std::vector<unsigned char> &checkpoint) const;

    const std::string path_, beside_;
    const int64_t every_;
    int64_t last_ = -1; // the iteration of the last one; -1: the first call has not been made
};

} // namespace driver
