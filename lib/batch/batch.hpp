// Solves many small problems at once by reverse communication: all active problems request their evaluations together.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "batch/machine.hpp"
#include "boundary/message.hpp"

namespace cudaopt {

// A batch has three implementations and uses one of them, chosen when a solve begins. Only this one allocates memory.
// `plain` serves problems whose initial Hessian is a multiple of the identity. `unbounded` is faster for such problems
// if they have no bounds, and may be NULL. `in_metric` serves problems with a diagonal initial Hessian.
struct BatchMachines {
    std::unique_ptr<BatchMachine> plain, unbounded, in_metric;
};

class Batch {
  public:
    Batch(int n_, int64_t count_, int m_, BatchMachines machines);

    const int n, m;
    const int64_t count;
    Message message;
    Settings settings;
    BatchArrays arrays;
    int64_t packed = 0;
    void *stream = nullptr; // the CUDA stream; not used on the host
    std::atomic<bool> stop_requested{false};

    bool started() const { return phase_ != Phase::start; }
    // Returns whether results can be read: the first call has allocated the memory for the problems.
    bool has_problems() const { return has_problems_; }
    int64_t active() const { return active_; }
    const int64_t *list() const { return machine_->active(); }
    int64_t workspace_bytes() const {
        return machines_.plain->workspace_bytes() + machines_.in_metric->workspace_bytes() +
               (machines_.unbounded ? machines_.unbounded->workspace_bytes() : 0);
    }

    int resume();
    void reset();

    // These functions require has_problems(), wait for the device, and throw BackendFailure if it fails.
    void read_codes(int64_t *to);
    void read(int64_t offset, void *to) { machine_->read(offset, to); }
    const char *describe(int64_t problem);

  private:
    enum class Phase { start, going, ended };
    using Clock = CancellationToken::Clock;

    int call();
    int end();
    int give_up();

    const BatchMachines machines_;
    BatchMachine *machine_ = nullptr; // the implementation in use, chosen when a solve begins
    Message event_message_;
    Phase phase_ = Phase::start;
    bool has_problems_ = false;
    Clock::time_point first_call_{};
    CancellationToken cancellation_{stop_requested};
    int64_t active_ = 0, rounds_ = 0;
    std::vector<int32_t> codes_;
};

} // namespace cudaopt
