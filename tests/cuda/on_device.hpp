// What the tests do on a device by themselves: a caller's kernels, slow where that is wanted, and memory of their
// choice.
#pragma once

#include <cstdint>

namespace on_device {

int devices();
void use(int device);

// Memory of the current device, or managed memory.
void *allocate(int64_t bytes);
void *allocate_managed(int64_t bytes);
void release(void *memory);

// Keep the legacy default stream of the current device busy for so long, at most 4 s.
void spin(double seconds);
// Until all work of the current device is done.
void synchronize();

// f(x) = sum (1 + i % 7) (x_i - i / n)^2 / 2 and its gradient, on the legacy default stream.
template <class Real> void bowl(int64_t n, const Real *x, double *f, Real *g);
// The sum of squares at each point of a search's batch, on the legacy default stream.
void squares(int n, int64_t walks, int64_t batch, const double *points, double *values);

} // namespace on_device
