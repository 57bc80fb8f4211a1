// These macros annotate functions that are compiled for both the host and the device.
#pragma once

#ifdef __CUDACC__
#define CUDA_OPT_HD __host__ __device__
// CUDA_OPT_HD_CALL marks large functions, which must not be inlined into each caller.
#define CUDA_OPT_HD_CALL __host__ __device__ __noinline__
#define CUDA_OPT_HD_INLINE __host__ __device__ __forceinline__
#else
#define CUDA_OPT_HD
#define CUDA_OPT_HD_CALL
// CUDA_OPT_HD_INLINE marks functions that are always inlined. They are thus compiled for the instruction set of each
// caller. Where there is only one instruction set, a source file may define it as `inline`.
#ifndef CUDA_OPT_HD_INLINE
#define CUDA_OPT_HD_INLINE inline __attribute__((always_inline))
#endif
#endif

namespace cudaopt {
#ifdef __CUDA_ARCH__
constexpr bool on_device = true;
#else
constexpr bool on_device = false;
#endif

// Returns the value, and hides from the device compiler how it was computed. If a branch depends on the returned value,
// the compiler cannot move code of the branch past the point after it at which the threads of the warp reconverge.
template <class Value> CUDA_OPT_HD_INLINE Value opaque_value(Value value) {
#ifdef __CUDA_ARCH__
    int opaque = static_cast<int>(value);
    asm volatile("" : "+r"(opaque));
    return static_cast<Value>(opaque);
#else
    return value;
#endif
}
} // namespace cudaopt

// CUDA_OPT_NOT_PURE is a workaround for GCC bug 110702. It is placed before a loop that accesses one object with two
// strides. For such a loop, GCC 12 may compute an address from a null pointer. GCC then regards the access as undefined
// and the function as pure, and it removes calls of the function. The empty asm statement claims to write to memory,
// which prevents this. It produces no instruction.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define CUDA_OPT_NOT_PURE asm("" ::: "memory");
#else
#define CUDA_OPT_NOT_PURE
#endif

// CUDA_OPT_ROLLED precedes a loop over variables that is not unrolled in device code, because long unrolled code causes
// instruction cache misses. CUDA_OPT_UNROLLED precedes a loop that device code unrolls by the given factor, a constant
// expression. CUDA_OPT_HOST_UNROLLED takes an integer literal as the factor. The host compiler then unrolls the loop
// even with -O2, which users of batch.cuh may choose.
#ifdef __CUDA_ARCH__
#define CUDA_OPT_ROLLED _Pragma("unroll 1")
#define CUDA_OPT_UNROLLED(times) CUDA_OPT_PRAGMA(unroll times)
#else
// Loops over the variables access vectors and correction pairs with different strides. They therefore need the
// workaround CUDA_OPT_NOT_PURE as well.
#define CUDA_OPT_ROLLED CUDA_OPT_NOT_PURE
#define CUDA_OPT_UNROLLED(times)
#endif
#if defined(__CUDACC__)
#define CUDA_OPT_HOST_UNROLLED(times)
#elif defined(__clang__)
#define CUDA_OPT_HOST_UNROLLED(times) CUDA_OPT_PRAGMA(unroll times)
#else
#define CUDA_OPT_HOST_UNROLLED(times) CUDA_OPT_PRAGMA(GCC unroll times)
#endif
#define CUDA_OPT_PRAGMA(text) _Pragma(#text)
