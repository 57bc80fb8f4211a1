// What the sweeps of one small problem learn of its rows besides sums: records whose order does not matter, so that the
// lanes of a team join theirs.
#pragma once

#include "exec/accumulators.hpp"

namespace cudaopt::batch {

// The largest magnitude, and a count of rows; within bounds the least breakpoint, and other counts.
template <bool bounds> struct RowFacts {
    Max largest{0};
    Count not_finite;
    CUDA_OPT_HD void join(const RowFacts &o) { largest.join(o.largest), not_finite.join(o.not_finite); }
};
template <> struct RowFacts<true> : RowFacts<false> {
    Min first_breakpoint;
    Count at_lower, at_upper, free;
    CUDA_OPT_HD void join(const RowFacts &o) {
        RowFacts<false>::join(o);
        first_breakpoint.join(o.first_breakpoint);
        at_lower.join(o.at_lower), at_upper.join(o.at_upper), free.join(o.free);
    }
};

} // namespace cudaopt::batch
