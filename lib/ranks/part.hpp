// The part of the variables that a rank stores: [first, first + n) of `of` variables in all.
#pragma once

#include <cstdint>

namespace cudaopt {

struct Part {
    int rank, ranks;
    int64_t first, n, of;

    int64_t end() const { return first + n; }
    bool holds(int64_t index) const { return first <= index && index < end(); }
};

// Values of the setting CUDA_OPT_F_PART, which states what the caller returns as f.
struct FPart {
    static constexpr int64_t rank = 0, segments = 1, whole = 2;
};

} // namespace cudaopt
