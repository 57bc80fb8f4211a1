// The sweeps of a gradient check: everything that costs time proportional to n. Two vectors of n: the caller's x, and
// the gradient there.
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

    // Allocates, and keeps the caller's x.
    virtual void begin(const UserArrays &user, int threads, void *stream, CancellationToken &cancellation) = 0;
    // x = base + t d, and what the kept gradient says of it. Waits.
    virtual MoveRecord move(const CheckDirection &direction, double gradient_size, double t) = 0;
    // f and g as the caller has supplied them; keep: g is kept. Waits.
    virtual LookRecord look(bool keep) = 0;
    virtual void restore_x() = 0;
};

std::unique_ptr<CheckSweeps> make_check_sweeps(int backend, int64_t n, int bits, int device);
std::unique_ptr<CheckSweeps> make_cuda_check_sweeps(int64_t n, int bits, int device);

} // namespace cudaopt
