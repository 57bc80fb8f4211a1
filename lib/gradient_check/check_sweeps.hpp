// The sweeps of a gradient check, which are the operations whose cost is proportional to n. They store two vectors of n
// elements: a copy of the caller's x, and the gradient at the base point of the differences.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/cancellation.hpp"
#include "gradient_check/rules.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

class CheckSweeps {
  public:
    virtual ~CheckSweeps() = default;

    // Allocates memory and copies the caller's x.
    virtual void begin(const UserArrays &user, int threads, void *stream, CancellationToken &cancellation) = 0;
    // Writes x = base + t d, and returns sums over the displacement, with the stored gradient. It waits for the result.
    virtual MoveRecord move(const CheckDirection &direction, double gradient_size, double t) = 0;
    // Returns facts about the f and g that the caller has supplied. keep: whether this g becomes the stored gradient.
    // It waits for the result.
    virtual LookRecord look(bool keep) = 0;
    virtual void restore_x() = 0;
};

std::unique_ptr<CheckSweeps> make_check_sweeps(int backend, int64_t n, int bits, int device);
std::unique_ptr<CheckSweeps> make_cuda_check_sweeps(int64_t n, int bits, int device);

} // namespace cudaopt
