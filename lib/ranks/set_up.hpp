// This header declares the configuration of a rank, the "set-up", and the check that the configurations of all ranks
// agree.
#pragma once

#include "cuda_opt/ranks.h"
#include "lbfgsb/settings.hpp"
#include "ranks/packets.hpp"

namespace cudaopt {

// A rank is one of several handles that solve one problem together. This structure describes the part of the variables
// that a rank stores: the variables i with first <= i < first + n. The whole problem has `of` variables.
struct Part {
    int rank, ranks;
    int64_t first, n, of;

    int64_t end() const { return first + n; }
    bool holds(int64_t index) const { return first <= index && index < end(); }
};

// The number of settings that must agree on all ranks.
constexpr int count_shared_settings() {
    int count = static_cast<int>(sizeof real_settings / sizeof *real_settings);
    for (const IntSetting &row : int_settings) count += (row.rules & all_ranks) != 0;
    return count;
}
constexpr int shared_settings = count_shared_settings();

struct SetUp : Part {
    int64_t m, bits, pairs;
    int64_t f_part;      // The value of the setting CUDA_OPT_F_PART.
    int64_t by_segments; // True if the rank's part of the variables consists of whole segments (sweeps/segments.hpp).
    int64_t form_free_changes; // True if the backend can perform requests with PanelRequest::free_changes.
    double settings[shared_settings];
};

void list_shared_settings(const Settings &settings, double *values);
uint64_t hash_of_shared_settings(const Settings &settings);

// Checks that the configurations of all ranks agree and that their parts cover all variables. If not, the function sets
// the message, the same on all ranks, and returns a negative code; otherwise it returns 0.
int compare_set_ups(Packets &packets, int ranks, Message &message);

} // namespace cudaopt
