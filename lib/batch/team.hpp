// A team performs the sweeps of one small problem, which are the operations on all its variables. It is one thread
// (here) or one warp (team.cuh), and its threads are called lanes. Each sum is formed by one lane in the order of the
// variables, so that results are bitwise the same for every size of the team.
//
// OneThread documents the interface. All lanes of a team must call each function together.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::batch {

struct OneThread {
    static constexpr int width = 1;
    CUDA_OPT_HD int lane() const { return 0; }
    // Synchronises the lanes. Data that a lane wrote to memory before this call is visible to all lanes after it.
    CUDA_OPT_HD void sync() const {}
    // Calls f in the first lane. Each lane receives its result, and sees what the first lane has written to memory.
    template <class F> CUDA_OPT_HD_INLINE int of_first(const F &f) const { return f(); }
    // Joins the records of all lanes, in any order, which must not matter. Each lane receives the result.
    template <class Record> CUDA_OPT_HD Record join(const Record &mine) const { return mine; }
    // Returns in each lane the sum of the lanes' values. Functors of the user call it.
    CUDA_OPT_HD double sum(double mine) const { return mine; }
    // Appends the values of all lanes whose `yes` is true, in the order of the lanes. Returns the new length.
    CUDA_OPT_HD int append(bool yes, int value, int *list, int count) const {
        list[count] = value;
        return count + yes;
    }
};

} // namespace cudaopt::batch
