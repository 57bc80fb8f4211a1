// A rank is one of several handles that solve one problem together. This structure describes the part of the variables
// that a rank stores: the variables i with first <= i < first + n. The whole problem has `of` variables.
#pragma once

#include <cstdint>

namespace cudaopt {

struct Part {
    int rank, ranks;
    int64_t first, n, of;

    int64_t end() const { return first + n; }
    bool holds(int64_t index) const { return first <= index && index < end(); }
};

// The values of the setting CUDA_OPT_F_PART, which states what the caller of a rank returns as f. whole: the whole f.
// rank: the contribution of the rank's variables. segments: one contribution for each segment, a fixed range of
// consecutive variables (sweeps/segments.hpp).
struct FPart {
    static constexpr int64_t rank = 0, segments = 1, whole = 2;
};

} // namespace cudaopt
