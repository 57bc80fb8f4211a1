// A solve in scaled variables z = x / s, where s_i > 0 is the typical size of x_i: the sweeps work on z, on s g, on
// bounds divided by s and on the caller's diagonal divided by s^2, and the caller sees x and g.
//
// Vectors of n elements: z and s g; one for each side of the box that has an array, or one finite number other than 0
// while s is an array; one for the caller's diagonal.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/cancellation.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

struct ScaleReport {
    int64_t bad;       // first index whose scale is not positive and finite; n: none
    int64_t too_large; // first index whose x, l or u overflows when divided by the scale; n: none
};

// Failures of the machine are thrown as BackendFailure.
class ScaledVariables {
  public:
    virtual ~ScaledVariables() = default;

    // Allocate the vectors that the caller's arrays need. Comes first in each solve.
    virtual void allocate(const UserArrays &user, int threads, void *stream, CancellationToken &cancellation) = 0;
    // The arrays that the sweeps work on: z, s g and so on; f is the caller's.
    virtual const UserArrays &arrays() const = 0;
    virtual int64_t workspace_bytes() const = 0;

    // Read s, x, l and u, x only where it is wanted. Waits.
    virtual ScaleReport check(bool with_x) = 0;
    // z from x; l / s and u / s; s g from g; D / s^2 from D. 3 n-vectors each.
    virtual void scale_x() = 0;
    virtual void scale_bounds() = 0;
    virtual void scale_gradient() = 0;
    virtual void scale_diagonal() = 0;
    // x from z, 3 n-vectors and up to 4 of bounds; g from s g, 3 n-vectors. x and g change nothing that the sweeps
    // read.
    virtual void unscale_x() = 0;
    virtual void unscale_gradient() = 0;
    // s as n doubles, on the host. Waits.
    virtual void read_scales(double *to) = 0;
};

// backend: CUDA_OPT_BACKEND_HOST or _CUDA; bits: of the caller's vectors; device: MemorySpace::device().
std::unique_ptr<ScaledVariables> make_scaled_variables(int backend, int64_t n, int bits, int device);
std::unique_ptr<ScaledVariables> make_host_scaled_variables(int64_t n, int bits);
std::unique_ptr<ScaledVariables> make_cuda_scaled_variables(int64_t n, int bits, int device);

} // namespace cudaopt
