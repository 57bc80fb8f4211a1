// This header describes the vectors of n elements that a backend stores. Host and device use the same layout.
#pragma once

#include <type_traits>

#include "cuda_opt.h"
#include "dense/bfloat16.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// WorkVectors contains m + 1 columns of S and m + 1 columns of Y, stored as History. It also contains x_base and the
// gradient g_base at x_base, stored in the caller's precision Real. Consecutive vectors are `pitch` elements apart. If
// History is Real, g_base is stored in the column in which y = g - g_base will be stored.
template <class Real, class History> struct WorkVectors {
    // True if g_base has its own vector, because y = g - g_base is stored in another type than g_base.
    static constexpr bool apart = !std::is_same_v<Real, History>;
    static constexpr int64_t whole = apart ? 2 : 1; // the number of vectors of type Real

    Real *first; // the vectors of type Real, which the columns of S and Y follow
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

// AsideVectors points to the saved iterate and its gradient. The pointers are NULL if saving was not requested.
template <class Real> struct AsideVectors { Real *x, *g; };

// HeldPlace is the address and the size in bytes of a vector that a checkpoint contains. The vector belongs to the
// caller or to the backend.
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

// Throws if the size in bytes of the workspace for n variables and m correction pairs would overflow a 64-bit integer.
template <class Real> void check_size(int m, int64_t n) {
    if ((2.0 * m + 7) * static_cast<double>(n) * sizeof(Real) > 9e18)
        throw BackendFailure(CUDA_OPT_OUT_OF_MEMORY, "out of memory: a workspace of (2m + 7) n elements has more than "
                                                     "9e18 bytes");
}

} // namespace cudaopt
