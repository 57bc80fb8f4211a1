// What a rank holds: variables [first, first + n) of all.
#pragma once

#include <cstdint>

namespace cudaopt {

struct Part {
    int rank, ranks;
    int64_t first, n, of;

    int64_t end() const { return first + n; }
    bool holds(int64_t index) const { return first <= index && index < end(); }
};

// What the caller gives as f: the values of the setting CUDA_OPT_F_PART.
struct FPart {
    static constexpr int64_t rank = 0, segments = 1, whole = 2;
};

} // namespace cudaopt
