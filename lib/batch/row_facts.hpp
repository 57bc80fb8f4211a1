// What the sweeps of one small problem learn of its rows besides sums: records whose order does not matter, so that the
// lanes of a team join theirs.
#pragma once

#include "exec/accumulators.hpp"

namespace cudaopt::batch {

// The largest magnitude, and the least breakpoint; counts of rows.
struct RowFacts {
    Max largest{0};
    Min first_breakpoint;
    Count at_lower, at_upper, not_finite, free;
    CUDA_OPT_HD void join(const RowFacts &o) {
        largest.join(o.largest), first_breakpoint.join(o.first_breakpoint);
        at_lower.join(o.at_lower), at_upper.join(o.at_upper), not_finite.join(o.not_finite);
        free.join(o.free);
    }
};

} // namespace cudaopt::batch
