// The interface between a batch by reverse communication and its backend, host or CUDA. Each call processes all
// problems that have not ended, up to their next evaluations. machine_on.hpp implements it for both backends.
#pragma once

#include <memory>

#include "batch/next_trial.hpp"
#include "exec/cancellation.hpp"

namespace cudaopt {

// The caller's arrays in the backend's memory space. f has `count` elements, the others `count` rows of n elements.
struct BatchArrays {
    void *x = nullptr;
    double *f = nullptr;
    void *g = nullptr;
    // The bounds: one row for all problems or for each. If they are NULL, lower_all and upper_all are the bounds.
    const void *lower = nullptr, *upper = nullptr;
    bool bounds_for_each = false;
    double lower_all = -infinity, upper_all = infinity;
    // The diagonal that the caller supplies: one row for all problems, or one row for each problem. NULL: none.
    const void *diagonal = nullptr;
    bool diagonal_for_each = false;

    bool may_have_bounds() const { return lower || upper || lower_all != -infinity || upper_all != infinity; }
};

struct BatchShape {
    batch::Shape one;
    int64_t count;
    int threads; // number of host threads
    bool packed; // whether row k of x, f and g belongs to the k-th active problem, and not to problem k
};

// The purpose of a launch. begin: all problems advance to their first evaluation. resume: the active problems advance
// to their next one. stop_waiting, end_of_time: they end at once, by the caller or by the time limit during a wait.
enum class Purpose { begin, resume, stop_waiting, end_of_time };

class BatchMachine {
  public:
    virtual ~BatchMachine() = default;
    // Called first in each solve. The first call allocates all memory, and later calls allocate nothing.
    virtual void allocate(const BatchShape &shape, void *stream, CancellationToken &cancellation) = 0;
    virtual int64_t workspace_bytes() const = 0;

    // Advances the problems, and returns how many wait for an evaluation. If `stop` is true, they end instead. With the
    // last two purposes x, f and g become those of the best iterates, without a wait for the device.
    virtual int64_t advance(const BatchArrays &arrays, const Settings &settings, Purpose purpose, bool stop,
                            double seconds) = 0;
    // Returns the indices of the active problems in ascending order, in the memory space of the backend.
    virtual const int64_t *active() const = 0;

    // The next functions copy to host memory: the return codes of all problems; of the Results of all problems, the
    // member of 8 bytes at this offset; and the record of one problem, from which its message is formed.
    virtual void read_codes(int32_t *to) = 0;
    virtual void read(int64_t offset, void *to) = 0;
    virtual Iteration record(int64_t problem) = 0;
};

// Returns the host implementation. If bounds is false, one for problems without bounds, or NULL if there is none.
template <class Real> std::unique_ptr<BatchMachine> make_host_batch(batch::Shape shape, bool bounds);
template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch(batch::Shape shape, int64_t count, bool bounds);

} // namespace cudaopt
