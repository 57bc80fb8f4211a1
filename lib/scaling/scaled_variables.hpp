// A solve in scaled variables z = x / s, where s_i > 0 is the typical size of x_i. The sweeps work on z, on the
// gradient s g with respect to z, on the bounds divided by s and on the caller's diagonal divided by s^2. The caller
// sees only x and g.
//
// This requires the following vectors of n elements: z and s g; one vector for each side of the box that has an array,
// or that has one finite value other than 0 while s is an array; and one vector for the caller's diagonal.
#pragma once

#include "exec/cancellation.hpp"
#include "scaling/rules.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// The conversions of all vectors by one backend. Failures of the backend are thrown as BackendFailure.
class ScaledVariables {
  public:
    virtual ~ScaledVariables() = default;

    // Allocates the vectors that the caller's arrays require, and returns the arrays on which the backend works: z, s g
    // and so on. f is in the caller's array. It must be called first in each solve.
    virtual const UserArrays &bind(const UserArrays &user, const Resources &resources) = 0;
    virtual int64_t workspace_bytes() const = 0;

    // Checks s, l and u and, if with_x is true, x. If all are usable, it computes l / s and u / s from the bounds and,
    // if with_x is true, z from x. It waits for the result of the check.
    virtual ScaleRecord scale_start(bool with_x) = 0;
    // The next functions compute s g from g, and D / s^2 from the caller's diagonal D. Each function accesses three
    // vectors of n elements.
    virtual void scale_gradient() = 0;
    virtual void scale_diagonal() = 0;
    // The next functions compute x from z, and g from s g. Each accesses three vectors of n elements; the first also
    // accesses up to four vectors of bounds. The sweeps do not read x and g.
    virtual void unscale_x() = 0;
    virtual void remove_infinite_slopes() = 0; // from the caller's g (RemoveInfiniteSlope)
    virtual void unscale_gradient() = 0;
    // Copies s to host memory as n doubles. It waits for the result.
    virtual void read_scales(double *to) = 0;
};

} // namespace cudaopt
