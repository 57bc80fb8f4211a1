// A team of lanes performs the sweeps of one small problem: one thread (here) or one warp (team.cuh). Each sum is
// formed by one lane in the order of the variables, so that results have the same bits for every size of the team.
//
// OneThread documents the interface; all lanes of a team call each function together.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::batch {

// One thread, on host and device.
struct OneThread {
    static constexpr int width = 1;
    CUDA_OPT_HD int lane() const { return 0; }
    // A barrier: memory that the lanes wrote before it is visible to all of them after it.
    CUDA_OPT_HD void sync() const {}
    // The first lane calls f, which returns an int. Each lane receives it, and sees what the first lane wrote in f.
    template <class F> CUDA_OPT_HD_INLINE int of_first(const F &f) const { return f(); }
    // Joins the records of all lanes; each lane receives the result. It must not depend on the order, as that of
    // counts, minima and maxima.
    template <class Record> CUDA_OPT_HD Record join(const Record &mine) const { return mine; }
    // The sum of the lanes' values, for use in a functor; each lane receives it.
    CUDA_OPT_HD double sum(double mine) const { return mine; }
    // Appends the values of those lanes that have `yes` to the list, in the order of the lanes. Returns the new count.
    CUDA_OPT_HD int append(bool yes, int value, int *list, int count) const {
        list[count] = value;
        return count + yes;
    }
};

} // namespace cudaopt::batch
