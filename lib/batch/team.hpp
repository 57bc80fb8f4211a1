// A team of lanes performs the sweeps of one small problem: one thread (here) or one warp (team.cuh). Each sum is
// formed by one lane in the order of the variables, so that results have the same bits for every size of the team.
//
// OneThread documents the interface. All lanes of a team must call each function together.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::batch {

// One thread, on host and device.
struct OneThread {
    static constexpr int width = 1;
    CUDA_OPT_HD int lane() const { return 0; }
    // A barrier: memory that the lanes wrote before it is visible to all of them after it.
    CUDA_OPT_HD void sync() const {}
    // The first lane calls f, which returns an int. Each lane receives the value and sees what the first lane has
    // written.
    template <class F> CUDA_OPT_HD_INLINE int of_first(const F &f) const { return f(); }
    // Joins the records of all lanes; each lane receives the result. The result must not depend on the order of
    // joining, which holds for counts, minima and maxima.
    template <class Record> CUDA_OPT_HD Record join(const Record &mine) const { return mine; }
    // Returns the sum of the lanes' values, for use in a functor, in each lane.
    CUDA_OPT_HD double sum(double mine) const { return mine; }
    // Appends the values of all lanes that have `yes` to the list, in the order of the lanes, and returns the new
    // length.
    CUDA_OPT_HD int append(bool yes, int value, int *list, int count) const {
        list[count] = value;
        return count + yes;
    }
};

} // namespace cudaopt::batch
