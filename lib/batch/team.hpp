// Who does the sweeps of one small problem: a team of lanes. The order of each sum is that of the rows, whoever forms
// it, so that a result has the same bits for every size of the team.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::batch {

// One thread alone, on host and device.
struct OneThread {
    static constexpr int width = 1;
    CUDA_OPT_HD int lane() const { return 0; }
    // What the lanes have written to memory is there for all of them.
    CUDA_OPT_HD void sync() const {}
    // What f returns to the first lane, an int; each lane gets it, and what the first lane has written before.
    template <class F> CUDA_OPT_HD_INLINE int of_first(const F &f) const { return f(); }
    // The records of all lanes, joined; each lane gets the result. For those whose order does not matter: counts, least
    // and largest values.
    template <class Record> CUDA_OPT_HD Record join(const Record &mine) const { return mine; }
    // The sum of the lanes' values, for the functions of a batch; each lane gets it.
    CUDA_OPT_HD double sum(double mine) const { return mine; }
    // The lanes' values, where `yes`, go to the list's end in the order of the lanes. Returns how many there are then.
    CUDA_OPT_HD int append(bool yes, int value, int *list, int count) const {
        list[count] = value;
        return count + yes;
    }
};

} // namespace cudaopt::batch
