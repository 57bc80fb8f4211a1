#include "ranks/set_up.hpp"

#include "boundary/checksum.hpp"

namespace cudaopt {

namespace {

// Calls use(name, value) for each setting that must agree on all ranks. The values are converted to double. Different
// integers beyond 2^53 may become equal by the conversion, but such values do not occur in practice.
template <class Use> void each_shared_setting(const Settings &settings, const Use &use) {
    for (const IntSetting &row : int_settings)
        if (row.rules & all_ranks)
            use(row.name, static_cast<double>(row.flag ? settings.*row.flag : settings.*row.value));
    for (const RealSetting &row : real_settings) use(row.name, settings.*row.value);
}

} // namespace

void list_shared_settings(const Settings &settings, double *values) {
    // The addition of 0 changes -0 to 0, so that both have the same checksum.
    each_shared_setting(settings, [&](const char *, double value) { *values++ = value + 0.0; });
}

uint64_t hash_of_shared_settings(const Settings &settings) {
    double values[shared_settings];
    list_shared_settings(settings, values);
    return checksum(values, sizeof values);
}

int compare_set_ups(Packets &packets, int ranks, Message &message) {
    const SetUp &first = *packets.payload_of<SetUp>(0);
    const auto differs = [&](int rank, const char *what, auto other, auto of_first) {
        return message.refuse_input("rank %d has %s %.17g, but rank 0 has %.17g: it has to be the same on all ranks",
                                    rank, what, static_cast<double>(other), static_cast<double>(of_first));
    };
    int64_t next = 0; // The index of the first variable that no part has covered yet.
    for (int rank = 0; rank < ranks; rank++) {
        const SetUp &other = *packets.payload_of<SetUp>(rank);
        if (other.ranks != first.ranks) return differs(rank, "a number of ranks of", other.ranks, first.ranks);
        if (other.of != first.of) return differs(rank, "n =", other.of, first.of);
        if (other.m != first.m) return differs(rank, "m =", other.m, first.m);
        if (other.bits != first.bits) return differs(rank, "a precision, in bits, of", other.bits, first.bits);
        if (other.pairs != first.pairs)
            return differs(rank, "a number of pairs kept by cuda_opt_warm_start of", other.pairs, first.pairs);
        for (int k = 0; k < shared_settings; k++)
            if (other.settings[k] != first.settings[k]) {
                char name[32] = "";
                int next = 0;
                each_shared_setting({}, [&](const char *of_row, double) {
                    if (next++ == k) std::snprintf(name, sizeof name, "CUDA_OPT_%s", of_row);
                });
                return differs(rank, name, other.settings[k], first.settings[k]);
            }
        if (other.first != next)
            return message.refuse_input("the parts of the ranks are not contiguous: that of rank %d begins at variable "
                                        "%lld, but those of the ranks before it end at %lld",
                                        rank, shown(other.first), shown(next));
        next += other.n;
    }
    if (next != first.of)
        return message.refuse_input("the parts of the %d ranks have %lld variables in all, but n is %lld", ranks,
                                    shown(next), shown(first.of));
    if (first.f_part != CUDA_OPT_F_OF_SEGMENTS) return 0;
    for (int rank = 0; rank < ranks; rank++)
        if (!packets.payload_of<SetUp>(rank)->by_segments)
            return message.refuse_input("CUDA_OPT_F_PART is CUDA_OPT_F_OF_SEGMENTS, but the part of rank %d does not "
                                        "begin and end at segments, as given by cuda_opt_segment()",
                                        rank);
    return 0;
}

} // namespace cudaopt
