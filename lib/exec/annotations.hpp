// Annotations for functions that are compiled for both host and device.
#pragma once

#ifdef __CUDACC__
#define CUDA_OPT_HD __host__ __device__
// For large functions, whose code is not copied into each caller.
#define CUDA_OPT_HD_CALL __host__ __device__ __noinline__
#define CUDA_OPT_HD_INLINE __host__ __device__ __forceinline__
#else
#define CUDA_OPT_HD
#define CUDA_OPT_HD_CALL
// Such a function is compiled for the instruction set of each caller.
#define CUDA_OPT_HD_INLINE inline __attribute__((always_inline))
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

// A workaround for GCC bug 110702. It is placed before a loop that accesses one object with two strides. GCC 12 may
// compute such an address from a null base. It then regards the access as undefined and the function as pure, and
// removes calls of the function. An empty statement that may write to memory prevents this; it produces no instruction.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define CUDA_OPT_NOT_PURE asm("" ::: "memory");
#else
#define CUDA_OPT_NOT_PURE
#endif

// CUDA_OPT_ROLLED precedes a loop over variables that is not unrolled in device code, because long unrolled code
// suffers from instruction cache misses. CUDA_OPT_UNROLLED precedes a loop that is unrolled in device code by the given
// factor, a constant expression. CUDA_OPT_HOST_UNROLLED takes a literal. The host compiler unrolls that loop even with
// -O2, which users of batch.cuh may choose.
#ifdef __CUDA_ARCH__
#define CUDA_OPT_ROLLED _Pragma("unroll 1")
#define CUDA_OPT_UNROLLED(times) CUDA_OPT_PRAGMA(unroll times)
#else
// Loops over variables access vectors and correction pairs, which have different strides.
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
