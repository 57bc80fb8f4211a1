// The n-vectors that a backend holds, the same on host and device.
#pragma once

#include "cuda_opt.h"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// m + 1 slots of S, as many of Y, x_base; from one to the next a pitch of elements.
template <class Real> struct WorkVectors {
    Real *slots;
    int64_t pitch;
    int m;

    static constexpr int64_t count(int m) { return 2 * static_cast<int64_t>(m) + 3; }
    CUDA_OPT_HD Real *s(int slot) const { return slots + slot * pitch; }
    CUDA_OPT_HD Real *y(int slot) const { return slots + (static_cast<int64_t>(m) + 1 + slot) * pitch; }
    CUDA_OPT_HD Real *x_base() const { return slots + (2 * static_cast<int64_t>(m) + 2) * pitch; }
    CUDA_OPT_HD int slot_of(int newest, int age) const { return (newest + m + 1 - age) % (m + 1); }
};

// An iterate that is put aside; NULL where it is not wanted.
template <class Real> struct AsideVectors { Real *x, *g; };

// Where a vector of a checkpoint stands: one of the caller's, or of the backend's.
template <class Real>
void *place_of(const HeldVector &which, const UserArrays &user, const WorkVectors<Real> &work,
               const AsideVectors<Real> &aside) {
    switch (which.kind) {
    case HeldVector::x: return user.x;
    case HeldVector::f: return user.f;
    case HeldVector::g: return user.g;
    case HeldVector::s_column: return work.s(which.slot);
    case HeldVector::y_column: return work.y(which.slot);
    case HeldVector::x_base: return work.x_base();
    case HeldVector::aside_x: return aside.x;
    case HeldVector::aside_g: return aside.g;
    }
    return nullptr;
}

// A workspace of m pairs for n variables has to be within what 64 bits can count.
template <class Real> void check_size(int m, int64_t n) {
    if ((2.0 * m + 5) * static_cast<double>(n) * sizeof(Real) > 9e18)
        throw BackendFailure(CUDA_OPT_OUT_OF_MEMORY, "out of memory: a workspace of (2m + 5) n elements has more than "
                                                     "9e18 bytes");
}

} // namespace cudaopt
