// CUDA_OPT_EACH_INSTRUCTION_SET compiles a function once for each useful instruction set. When the program is loaded,
// one version is selected by the features of the processor, whatever its manufacturer. The functions that it calls must
// be inlined, because they would otherwise be compiled for the baseline instruction set. The macro has no effect with
// ThreadSanitizer. ThreadSanitizer would instrument the functions that select the version, although they run before it
// is initialised.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define CUDA_OPT_EACH_INSTRUCTION_SET __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CUDA_OPT_EACH_INSTRUCTION_SET
#endif
#define CUDA_OPT_INLINE inline __attribute__((always_inline))

namespace cudaopt {

constexpr int lanes = 4;
typedef double Lanes __attribute__((vector_size(32), aligned(32)));
typedef double UnalignedLanes __attribute__((vector_size(32), aligned(8)));
typedef long Indices __attribute__((vector_size(32)));

CUDA_OPT_INLINE Lanes at(const double *values, int r) { return *(const Lanes *)(values + r); }
CUDA_OPT_INLINE void put(double *values, int r, Lanes v) { *(Lanes *)(values + r) = v; }

// Returns a b + c, for numbers or vectors, rounded once if the processor has fused multiply-adds. This requires
// -ffp-contract=fast, with which only the files of inner products and sums of columns are compiled (lib/meson.build).
// In these files, c is never a product and no other sum has a product as a term, so that the compiler has no choice.
template <class Number> CUDA_OPT_INLINE Number fused(Number a, Number b, Number c) { return a * b + c; }

CUDA_OPT_INLINE double sum_over_lanes(Lanes v) { return (v[0] + v[2]) + (v[1] + v[3]); }
// Returns which of the variables r, r + 1, ... are among the first `variables` ones.
CUDA_OPT_INLINE Indices lanes_before(int variables, int r) {
    return Indices{r, r + 1, r + 2, r + 3} < static_cast<long>(variables);
}

} // namespace cudaopt
