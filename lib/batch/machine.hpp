// What a batch asks of the machine: each call is one pass over the problems that have not ended.
#pragma once

#include <memory>

#include "batch/next_trial.hpp"
#include "exec/patience.hpp"

namespace cudaopt {

// The caller's arrays, in the machine's memory space: count rows of n, but for f, of count.
struct BatchArrays {
    void *x = nullptr;
    double *f = nullptr;
    void *g = nullptr;
    // NULL: lower_all, upper_all. A row for all problems, or a row each.
    const void *lower = nullptr, *upper = nullptr;
    bool bounds_for_each = false;
    double lower_all = -infinity, upper_all = infinity;
    const void *diagonal = nullptr; // likewise, of the caller's metric
    bool diagonal_for_each = false;

    bool may_have_bounds() const { return lower || upper || lower_all != -infinity || upper_all != infinity; }
};

struct BatchShape {
    batch::Shape one;
    int64_t count;
    int threads; // host
    bool packed; // the rows of x and g, and f, are those of the active problems, in their order
};

// A result of each problem: eight bytes of its Results, and where they stand in it.
struct BatchResult {
    int64_t offset;
};

class BatchMachine {
  public:
    virtual ~BatchMachine() = default;
    // Comes first in each solve. Allocates whatever is lacking; afterwards nothing is allocated.
    virtual void allocate(const BatchShape &shape, void *stream, Patience &patience) = 0;
    virtual int64_t workspace_bytes() const = 0;

    // All problems to their first evaluation. Returns how many wait for one. `stop` ends them there.
    virtual int64_t begin(const BatchArrays &arrays, const Settings &settings, bool stop) = 0;
    // The active ones, whose f and g have come, to their next; likewise.
    virtual int64_t go_on(const BatchArrays &arrays, const Settings &settings, bool stop, double seconds) = 0;
    // x, f and g become each problem's best iterate, without a wait.
    virtual void give_up(const BatchArrays &arrays, const Settings &settings, bool stop_requested, double seconds) = 0;
    // Indices of the active problems, ascending, in the machine's memory space.
    virtual const int64_t *active() const = 0;

    // To host memory, for all problems; an event of one of them.
    virtual void read_codes(int32_t *to) = 0;
    virtual void read(const BatchResult &which, void *to) = 0;
    virtual Event event(int64_t problem) = 0;
};

// bounds: whether there may be any. NULL: one for problems without them would be none but that for those with them.
template <class Real> std::unique_ptr<BatchMachine> make_host_batch(batch::Shape shape, bool bounds);
template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch(batch::Shape shape, int64_t count, bool bounds);

} // namespace cudaopt
