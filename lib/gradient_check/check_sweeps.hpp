// The sweeps of a gradient check, which are the operations whose cost is proportional to n. They store two vectors of n
// elements: a copy of the caller's x, and the gradient at the base point. The base point is x moved a little into the
// interior of the box, and the differences of f are taken around it.
#pragma once

#include "exec/cancellation.hpp"
#include "gradient_check/rules.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

class CheckSweeps {
  public:
    virtual ~CheckSweeps() = default;

    // Allocates memory and copies the caller's x.
    virtual void begin(const UserArrays &user, const Resources &resources) = 0;
    // Writes x = base + t d. Returns sums over the variables: of the displacements D_i = x_i - base_i, of their
    // products g_i D_i with the stored gradient g, and of the squares of these products (MoveRecord). The function
    // waits for the result.
    virtual MoveRecord move(const CheckDirection &direction, double t) = 0;
    // Reads the f and g that the caller has supplied. Returns f, the largest |g_i|, the largest difference from a
    // component of the stored gradient, and counts of components (LookRecord). If keep is true, this g then becomes the
    // stored gradient. The function waits for the result.
    virtual LookRecord look(bool keep) = 0;
    virtual void restore_x() = 0;
};

} // namespace cudaopt
