// Annotations for functions that are compiled for both host and device.
#pragma once

#ifdef __CUDACC__
#define CUDA_OPT_HD __host__ __device__
#define CUDA_OPT_HD_CALL __host__ __device__ __noinline__ // for large functions, which are not worth a copy per caller
#define CUDA_OPT_HD_INLINE __host__ __device__ __forceinline__
#else
#define CUDA_OPT_HD
#define CUDA_OPT_HD_CALL
#define CUDA_OPT_HD_INLINE inline __attribute__((always_inline)) // compiled for each caller's instruction set
#endif

namespace cudaopt {
#ifdef __CUDA_ARCH__
constexpr bool on_device = true;
#else
constexpr bool on_device = false;
#endif
} // namespace cudaopt

namespace cudaopt {
// Returns the value in a form that the compiler cannot analyse, so that it cannot move code of a branch that depends on
// the value across the point at which the threads of a warp reconverge.
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

// This is placed before a loop that accesses one object with two strides. GCC 12 may compute such an address from a
// null base, regard the access as undefined, regard the function as pure therefore, and remove its calls (GCC bug
// 110702). An empty statement that may write to memory prevents that; it produces no instruction.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define CUDA_OPT_NOT_PURE asm("" ::: "memory");
#else
#define CUDA_OPT_NOT_PURE
#endif

// CUDA_OPT_ROLLED precedes a loop over variables that device code does not unroll, because a long unrolled program
// suffers from instruction cache misses. CUDA_OPT_UNROLLED precedes a loop that device code unrolls by the given
// factor, a constant expression. CUDA_OPT_HOST_UNROLLED takes a literal, and the host compiler unrolls that loop even
// with -O2, which users of batch.cuh may choose.
#ifdef __CUDA_ARCH__
#define CUDA_OPT_ROLLED _Pragma("unroll 1")
#define CUDA_OPT_UNROLLED(times) CUDA_OPT_PRAGMA(unroll times)
#else
#define CUDA_OPT_ROLLED CUDA_OPT_NOT_PURE // vectors and pairs have different strides
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
