// Device work of the tests themselves: the caller's kernels, which can be made slow, and memory of a chosen kind.
#pragma once

#include <cstdint>

namespace on_device {

int devices();
void use(int device);

// Allocate memory of the current device, or managed memory.
void *allocate(int64_t bytes);
void *allocate_managed(int64_t bytes);
void release(void *memory);

// Keeps the legacy default stream of the current device busy for this time or until let_go(), at most for 60 s.
void hold(double seconds = 60);
void let_go();
// Returns whether the legacy default stream has work that has not ended.
bool is_busy();
// Waits until all work of the current device is done.
void synchronize();

// Computes f(x) = sum (1 + i % 7) (x_i - i / n)^2 / 2 and its gradient on the legacy default stream.
template <class Real> void bowl(int64_t n, const Real *x, double *f, Real *g);
// Computes the sum of squares at each point of a batch of a pattern search, on the legacy default stream.
void squares(int n, int64_t walks, int64_t batch, const double *points, double *values);

} // namespace on_device
