// The part of the variables that a rank stores: those with first <= i < first + n. The problem has `of` variables.
#pragma once

#include <cstdint>

namespace cudaopt {

struct Part {
    int rank, ranks;
    int64_t first, n, of;

    int64_t end() const { return first + n; }
    bool holds(int64_t index) const { return first <= index && index < end(); }
};

// Values of the setting CUDA_OPT_F_PART. It states whether the caller of a rank returns as f the whole f, the
// contribution of its variables, or one contribution per segment (sweeps/segments.hpp).
struct FPart {
    static constexpr int64_t rank = 0, segments = 1, whole = 2;
};

} // namespace cudaopt
