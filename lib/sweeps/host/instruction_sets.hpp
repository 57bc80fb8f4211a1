// One copy of a function for each instruction set worth having, by what the processor can do and not by its maker; the
// loader picks at start. What such a function calls has to be inlined, or it is compiled for the baseline. Not under
// ThreadSanitizer: it would watch the functions that pick, which run before it is there.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define CUDA_OPT_EACH_INSTRUCTION_SET
#elif defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#define CUDA_OPT_EACH_INSTRUCTION_SET __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CUDA_OPT_EACH_INSTRUCTION_SET
#endif

namespace cudaopt {

constexpr int lanes = 4;
typedef double Lanes __attribute__((vector_size(32), aligned(32)));
typedef long Indices __attribute__((vector_size(32)));

inline __attribute__((always_inline)) Lanes at(const double *values, int r) { return *(const Lanes *)(values + r); }
inline __attribute__((always_inline)) void put(double *values, int r, Lanes v) { *(Lanes *)(values + r) = v; }

} // namespace cudaopt
