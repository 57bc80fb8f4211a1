#pragma once

#include <cstdint>
#include <cstdlib>

namespace cudaopt_test {

// Returns the seed for a test that uses `own` by default. The environment variable CUDA_OPT_TEST_SEED, a nonnegative
// integer, selects other random numbers for all tests. Without it, or with 0, the result is `own`.
inline uint64_t seed(uint64_t own) {
    static const char *const variable = std::getenv("CUDA_OPT_TEST_SEED");
    static const uint64_t shift = variable ? 1000003 * std::strtoull(variable, nullptr, 10) : 0;
    return own + shift;
}

} // namespace cudaopt_test
