// The vectors of n elements that a backend stores, the same on host and device.
#pragma once

#include <type_traits>

#include "cuda_opt.h"
#include "dense/bfloat16.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// The vectors of a backend: m + 1 slots of S and as many of Y, stored as History, and x_base and the gradient there,
// stored in the caller's precision. Consecutive vectors are `pitch` elements apart. If History is the caller's
// precision, the gradient at x_base is stored in the column that will become y = g - g_base.
template <class Real, class History> struct WorkVectors {
    // True if g_base has a vector of its own.
    static constexpr bool apart = !std::is_same_v<Real, History>;
    static constexpr int64_t whole = apart ? 2 : 1; // number of vectors of type Real

    Real *first; // the vectors of type Real, followed by the columns
    int64_t pitch;
    int m;

    CUDA_OPT_HD History *columns() const { return reinterpret_cast<History *>(first + whole * pitch); }
    CUDA_OPT_HD History *s(int slot) const { return columns() + slot * pitch; }
    CUDA_OPT_HD History *y(int slot) const { return columns() + (static_cast<int64_t>(m) + 1 + slot) * pitch; }
    CUDA_OPT_HD Real *x_base() const { return first; }
    CUDA_OPT_HD Real *g_base(int slot) const {
        if constexpr (apart) return first + pitch;
        else return y(slot);
    }
    CUDA_OPT_HD int slot_of(int newest, int age) const { return (newest + m + 1 - age) % (m + 1); }

    static int64_t bytes(int m, int64_t pitch) {
        return (whole * static_cast<int64_t>(sizeof(Real)) +
                2 * (static_cast<int64_t>(m) + 1) * static_cast<int64_t>(sizeof(History))) *
               pitch;
    }
};

// The vectors of the saved iterate, or NULL if it is not requested.
template <class Real> struct AsideVectors { Real *x, *g; };

// The address of a vector that a checkpoint contains, and its size in bytes. It is one of the caller's or of the
// backend's vectors.
struct HeldPlace {
    void *at;
    int64_t bytes;
};
template <class Real, class History>
HeldPlace place_of(const HeldVector &which, int64_t n, const UserArrays &user, const WorkVectors<Real, History> &work,
                   const AsideVectors<Real> &aside, Real *diagonal) {
    const int64_t whole = n * static_cast<int64_t>(sizeof(Real)), stored = n * static_cast<int64_t>(sizeof(History));
    switch (which.kind) {
    case HeldVector::x: return {user.x, whole};
    case HeldVector::f: return {user.f, sizeof(double)};
    case HeldVector::g: return {user.g, whole};
    case HeldVector::s_column: return {work.s(which.slot), stored};
    case HeldVector::y_column: return {work.y(which.slot), stored};
    case HeldVector::x_base: return {work.x_base(), whole};
    case HeldVector::g_base: return {work.g_base(which.slot), whole};
    case HeldVector::aside_x: return {aside.x, whole};
    case HeldVector::aside_g: return {aside.g, whole};
    case HeldVector::diagonal: return {diagonal, whole};
    }
    return {};
}

// Throws if the size of the workspace of m pairs for n variables would overflow a 64-bit integer.
template <class Real> void check_size(int m, int64_t n) {
    if ((2.0 * m + 7) * static_cast<double>(n) * sizeof(Real) > 9e18)
        throw BackendFailure(CUDA_OPT_OUT_OF_MEMORY, "out of memory: a workspace of (2m + 7) n elements has more than "
                                                     "9e18 bytes");
}

} // namespace cudaopt
