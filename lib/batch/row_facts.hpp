// Counts, minima and maxima over the variables of one small problem, which the sweep of the inner products collects
// besides its sums. Their results do not depend on the order of the variables. Therefore each lane (thread) of a team
// collects them for some of the variables, and the records of all lanes are then combined into one.
#pragma once

#include "exec/accumulators.hpp"

namespace cudaopt::batch {

// Records the largest |(P g)_i|, where P g is the projected gradient, and the number of components of g that are not
// finite. With bounds it also records the least breakpoint and the numbers of variables that are at their bounds and
// free.
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
