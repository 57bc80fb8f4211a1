// PairRule combines the rules (functors on single variables) that read or write the columns of a pair, so that they
// share one kernel. The branch that selects the rule is uniform over all threads. Its cost is small compared with that
// of reading and writing the vectors.
#pragma once

#include "sweeps/cuda/support/device_variables.cuh"

namespace cudaopt {

template <class Real, class History> struct PairRule {
    // PairRule applies the rule whose output array is not NULL.
    TakeStep<Real, History> take_step{};
    FinishPair<Real, History> finish_pair{};
    LearnDiagonal<Real, History> learn_diagonal{};

    __device__ void operator()(int64_t i) const {
        if (take_step.x) take_step(i);
        else if (finish_pair.y) finish_pair(i);
        else learn_diagonal(i);
    }
};

} // namespace cudaopt
