/* The accepted iterates, as the library reports them. */
#pragma once

#include "handle.hpp"

#include <cstdint>
#include <vector>

namespace driver {

struct Iterate {
    std::int64_t iteration, evaluations;
    double f, pg_norm2, pg_norm_inf, step;
    std::int64_t free, at_lower, at_upper;
    double seconds; ///< wall time since the start
};

/** The last accepted iterate, with what it cost so far; iteration 0 is the start. */
inline Iterate current_iterate(const Handle &s, std::int64_t evaluations, double seconds)
{
    return {s.integer(CUDA_OPT_ITERATIONS),
            evaluations,
            s.real(CUDA_OPT_F),
            s.real(CUDA_OPT_PG_NORM2),
            s.real(CUDA_OPT_PG_NORM_INF),
            s.real(CUDA_OPT_STEP),
            s.integer(CUDA_OPT_FREE_COUNT),
            s.integer(CUDA_OPT_LOWER_COUNT),
            s.integer(CUDA_OPT_UPPER_COUNT),
            seconds};
}

using History = std::vector<Iterate>;

} // namespace driver
