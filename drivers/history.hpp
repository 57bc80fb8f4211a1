// The accepted iterates of a solve, as the library reports them, with the cost so far.
#pragma once

#include "cuda_opt.hpp"

#include <cstdint>
#include <vector>

namespace driver {

struct Iterate {
    int64_t iteration, evaluations;
    double f, pg_norm2, pg_norm_inf, step;
    int64_t free, at_lower, at_upper;
    // The time in seconds since the start of the solve.
    double seconds;
};

// Returns data about the last accepted iterate and the cost so far. The start has the iteration number 0.
inline Iterate current_iterate(const cudaopt::Handle &s, int64_t evaluations, double seconds) {
    return {s.get_int(CUDA_OPT_ITERATIONS),   evaluations,
            s.get_real(CUDA_OPT_F),           s.get_real(CUDA_OPT_PG_NORM2),
            s.get_real(CUDA_OPT_PG_NORM_INF), s.get_real(CUDA_OPT_STEP),
            s.get_int(CUDA_OPT_FREE_COUNT),   s.get_int(CUDA_OPT_LOWER_COUNT),
            s.get_int(CUDA_OPT_UPPER_COUNT),  seconds};
}

using History = std::vector<Iterate>;

} // namespace driver
