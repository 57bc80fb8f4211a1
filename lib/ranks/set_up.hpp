// The configuration ("set-up") of each rank, and the check that the configurations of all ranks agree.
#pragma once

#include "lbfgsb/settings.hpp"
#include "ranks/packets.hpp"
#include "ranks/part.hpp"

namespace cudaopt {

constexpr int shared_settings = 27; // settings that must agree on all ranks

struct SetUp {
    int64_t ranks, first, n, of, m, bits, pairs;
    int64_t f_part;      // the setting CUDA_OPT_F_PART
    int64_t by_segments; // whether the rank's part of the variables consists of whole segments (sweeps/segments.hpp)
    double settings[shared_settings];
};

void list_shared_settings(const Settings &settings, double *values);
uint64_t hash_of_shared_settings(const Settings &settings);

// Checks that the configurations of all ranks agree and that their parts cover all variables. Returns 0, or a code with
// a message that is the same on all ranks.
int compare_set_ups(Packets &packets, int ranks, Message &message);

} // namespace cudaopt
