#include "multiply_rate.hpp"

#include <algorithm>

#include "stopwatch.hpp"
#include "sweeps/host/instruction_sets.hpp"

namespace cudaopt::bench {

namespace {

constexpr int chains = 10, turns = 2000000; // independent chains, enough to hide the latency

template <class Vector> CUDA_OPT_INLINE double chains_of(double factor, double term) {
    const Vector zero = {}, factors = zero + factor, terms = zero + term;
    Vector values[chains];
    for (int k = 0; k < chains; k++) values[k] = zero + k;
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < chains; k++) values[k] = values[k] * factors + terms;
    Vector sum = zero;
    for (int k = 0; k < chains; k++) sum += values[k];
    return sum[0];
}

CUDA_OPT_EACH_INSTRUCTION_SET double run_chains(double factor, double term) { return chains_of<Lanes>(factor, term); }

} // namespace

double multiply_add_rate() {
    volatile double factor = 0.5, result = 0;
    double least = 1e9;
    for (int repeat = 0; repeat < 21; repeat++) {
        const Stopwatch watch;
        result = result + run_chains(factor, 1);
        least = std::min(least, watch.seconds());
    }
    return 2.0 * chains * turns * lanes / least;
}

} // namespace cudaopt::bench
