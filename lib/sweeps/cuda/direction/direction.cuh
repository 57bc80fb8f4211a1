// This header implements sweep 2 on the GPU. It computes the direction and the first trial point of the line search.
#pragma once

#include "sweeps/cuda/support/launch_place.cuh"
#include "sweeps/cuda/support/map_pieces.cuh"

namespace cudaopt {

// Sweep 2 has two blocks per multiprocessor, because 16-byte loads in flight need many registers.
constexpr int direction_resident = 2;

// The coefficients q of the direction (DirectionRequest) are passed as a kernel parameter. If they do not fit there,
// they are in device memory.
struct Coefficients {
    static constexpr int capacity = 64;
    const double *in_memory; // NULL: use by_value
    double by_value[capacity];
    __device__ double operator[](int i) const { return in_memory ? in_memory[i] : by_value[i]; }
};

// In sweep 2, a thread loads pairs_at_once correction pairs before it uses the first one. The number of registers
// limits it.
template <class Real, class History> constexpr int pairs_at_once = std::is_same_v<Real, History> ? 3 : 8;

// Returns one variable's displacement a g + w'q to the subspace minimiser, before the projection onto the bounds. The
// vector w contains the variable's elements of the columns of Y and S. The arguments from_y and from_s are the parts of
// w'q from Y and from S. If the columns are weighted by a diagonal, a g + from_y is multiplied by the weight h.
__device__ inline double subspace_move(const DirectionRequest &request, double h, double g, double from_y,
                                       double from_s) {
    const double in_h = request.gradient_coefficient * g + from_y;
    return (request.panel.weighted ? h * in_h : in_h) + from_s;
}

// Computes the displacement that the function above returns, for `variables` neighbouring variables, beginning with i.
// The function loads several pairs before it uses the first. Thus enough loads are in flight to hide their latency. In
// the masks `zeros`, bit k is set if the column of the pair of age k is 0 in this tile and need not be loaded.
template <bool looks_for_zeros, class Real, class History, int variables>
__device__ void subspace_move(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
                              const Coefficients &q, [[maybe_unused]] const ZeroColumns &zeros, int64_t i,
                              const Elements<Real, variables> &g, const double (&h)[variables],
                              double (&move)[variables]) {
    using Loaded = Elements<History, variables>;
    constexpr int at_once = pairs_at_once<Real, History>;
    const PanelRequest &p = request.panel;
    double from_y[variables] = {}, from_s[variables] = {};
    const auto load = [&](const History *column, int which, int age) {
        if (looks_for_zeros && zeros.of[which] >> age & 1) return Loaded{};
        return Loaded::load(column + i);
    };
    // Older pairs are in the slots before this one, modulo m + 1.
    int slot = p.newest_slot;
    for (int age = 0; age < p.pairs; age += at_once) {
        Loaded y[at_once], s[at_once];
#pragma unroll
        for (int e = 0; e < at_once; e++)
            if (age + e < p.pairs) {
                y[e] = load(v.y(slot), zeros_of_y, age + e);
                s[e] = load(v.s(slot), zeros_of_s, age + e);
                slot = slot == 0 ? v.m : slot - 1;
            }
#pragma unroll
        for (int e = 0; e < at_once; e++)
            if (age + e < p.pairs) {
                const double q_y = q[panel::y_column(age + e)], q_s = q[panel::s_column(age + e)];
                // If y of the newest pair has not been stored yet (fresh), its column still contains g_base, the
                // gradient before the step, and y = g - g_base.
                const bool fresh = !v.apart && e == 0 && age == 0 && p.fresh;
#pragma unroll
                for (int k = 0; k < variables; k++) {
                    from_y[k] += q_y * (fresh ? static_cast<double>(g.v[k] - y[e].v[k]) : y[e][k]);
                    from_s[k] += q_s * s[e][k];
                }
            }
    }
#pragma unroll
    for (int k = 0; k < variables; k++) move[k] = subspace_move(request, h[k], g[k], from_y[k], from_s[k]);
}

// Calls rule(request). In the usual request, variables are neither scaled nor truncated and the threshold is 0. The
// rule then receives these values as compile-time constants. No branch diverges, and the compiler can interleave the
// work on neighbouring variables.
template <class Rule> __device__ void as_requested(const DirectionRequest &request, const Rule &rule) {
    if (request.panel.weighted || request.truncate || request.panel.threshold > 0) return rule(request);
    DirectionRequest usual = request;
    usual.panel.weighted = usual.truncate = false;
    usual.panel.threshold = 0;
    rule(usual);
}

// TakeDirection is the rule (functor) of sweep 2. It reads or writes 2 p + 9 vectors of n elements, where p is the
// number of pairs. A thread processes `variables_` neighbouring variables. If this is more than one, all vectors must
// be aligned to 16 bytes. In that case the rule can also skip zero tiles (zero_tiles.cuh), provided that the history is
// stored in the precision of x.
template <class Real, class History, int variables_, bool looks_for_zeros> struct TakeDirection {
    static constexpr int variables = variables_, tile_variables = variables_of_warp<Real, History>,
                         lanes_of_tile = tile_variables / variables;
    static_assert(!looks_for_zeros || (variables > 1 && lanes_of_tile <= 32));
    static_assert(panel::columns(ZeroTiles::most_pairs) <= Coefficients::capacity);
    DeviceVectors<Real, History> v;
    DirectionRequest request;
    Coefficients q;
    TrialArrays<Real, History> to;

    __device__ void operator()(int64_t group, DirectionRecord &record) const {
        const int64_t i = group * variables;
        if (i + variables <= v.n) {
            take<variables>(i, record);
        } else {
            for (int64_t k = i; k < v.n; k++) take<1>(k, record);
        }
    }

    // Prefetches the bits that mark the zero columns of the tile, before the other data of these variables are loaded.
    __device__ void look_ahead([[maybe_unused]] int64_t group) const {
        if constexpr (looks_for_zeros) v.zero_tiles.look_ahead(group * variables / tile_variables);
    }

    template <int count> __device__ void take(int64_t i, DirectionRecord &record) const {
        using Loaded = Elements<Real, count>;
        using Stored = Elements<History, count>;
        const Loaded x = Loaded::load(v.x + i), gradient = Loaded::load(v.g + i);
        double g[count], h[count], l[count], u[count], move[count];
        Loaded lower, upper;
        if (v.box.l) lower = Loaded::load(v.box.l + i);
        if (v.box.u) upper = Loaded::load(v.box.u + i);
        Loaded old_gradient;
        if (!v.apart && to.y_fresh) old_gradient = Loaded::load(v.g_base(request.panel.newest_slot) + i);
#pragma unroll
        for (int k = 0; k < count; k++) h[k] = 1;
        if (request.panel.weighted) Loaded::load(v.diagonal + i).convert(h);
        ZeroColumns known;
        if constexpr (looks_for_zeros) known = v.zero_tiles.columns(i / tile_variables);
        subspace_move<looks_for_zeros>(v, request, q, v.zero_tiles.by_age(known, request.panel), i, gradient, h, move);
        gradient.convert(g);
#pragma unroll
        for (int k = 0; k < count; k++) l[k] = v.box.lower_all, u[k] = v.box.upper_all;
        if (v.box.l) lower.convert(l);
        if (v.box.u) upper.convert(u);

        Loaded stepped;
        Stored d, y{};
        as_requested(request, [&](const DirectionRequest &requested) {
#pragma unroll
            for (int k = 0; k < count; k++) {
                const auto trial =
                    take_trial<Real, History>({x[k], g[k], l[k], u[k]}, requested, h[k], move[k], record);
                d.v[k] = trial.d;
                stepped.v[k] = trial.x;
                if (!v.apart && to.y_fresh) y.v[k] = gradient_change<History>(gradient.v[k], old_gradient.v[k]);
            }
        });
        if (!v.apart && to.y_fresh) y.store(to.y_fresh + i);
        if constexpr (looks_for_zeros && count == variables) note_zeros(i, known, y, d);
        d.store(to.d + i);
        gradient.store(to.g_base + i);
        x.store(to.x_base + i);
        stepped.store(to.x + i);
    }

    // Records in the bitmap which of the columns that this sweep stores are 0 in the tile. All lanes of a tile reach
    // this point together, except in a tile that extends past the last variable. Nothing is recorded for such a tile.
    __device__ void note_zeros(int64_t i, const ZeroColumns &known, const Elements<History, variables> &y,
                               const Elements<History, variables> &d) const {
        const int64_t tile = i / tile_variables;
        if ((tile + 1) * tile_variables > v.n) return;
        const int lane = threadIdx.x % 32;
        const unsigned together = ~0u >> (32 - lanes_of_tile) << lane / lanes_of_tile * lanes_of_tile;
        const bool zero_d = !__any_sync(together, d.any_not_zero()), zero_y = !__any_sync(together, y.any_not_zero());
        ZeroColumns now = v.zero_tiles.with_direction(known, request.spare_slot, zero_d);
        if (to.y_fresh) now = v.zero_tiles.with_y(now, request.panel.newest_slot, zero_y);
        if (lane % lanes_of_tile == 0) v.zero_tiles.note(tile, known, now);
    }
};

template <class Real, class History> struct FindTruncation {
    DeviceVectors<Real, History> v;
    DirectionRequest request;
    Coefficients q;
    __device__ void operator()(int64_t i, Min &alpha) const {
        const BoxedVariable at = v.variable(i);
        const double h[1] = {request.panel.weighted ? static_cast<double>(v.diagonal[i]) : 1.0};
        double move[1];
        const auto g = Elements<Real, 1>::load(v.g + i);
        subspace_move<false>(v, request, q, {}, i, g, h, move);
        alpha.add(truncation_of_variable(at, request, h[0], move[0]));
    }
};

} // namespace cudaopt
