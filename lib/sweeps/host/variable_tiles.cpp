#include "sweeps/host/variable_tiles.hpp"

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/box.hpp"
#include "lbfgsb/panel.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

namespace {

typedef float Singles __attribute__((vector_size(16)));
typedef uint32_t Words __attribute__((vector_size(16)));

// Returns v rounded to the precision in which the column is stored.
CUDA_OPT_INLINE Singles rounded(Lanes v, const float *) { return __builtin_convertvector(v, Singles); }
CUDA_OPT_INLINE Singles rounded(Lanes v, const bfloat16 *) {
    const Words wide = (Words) __builtin_convertvector(v, Singles);
    return (Singles)((wide + 0x7fffu + (wide >> 16 & 1)) & 0xffff0000u);
}

// Returns which of the variables r, r + 1, ... are free with the threshold 0.
CUDA_OPT_INLINE Indices moves(const TileVariables &tile, int r) {
    return breakpoint(at(tile.x, r), at(tile.h, r) * at(tile.g, r), at(tile.l, r), at(tile.u, r)) > 0;
}

// Computes d = trial - x, rounded to the storage type. Rounding must not move a trial point off its bound, but
// variables that reach a bound in this step are rare. The loop therefore only detects them, and the function returns
// false if rounding makes any variable miss its bound.
template <class Stored>
CUDA_OPT_INLINE bool round_difference(const TileVariables &tile, const double *trial, int variables, Stored *column,
                                      double *d) {
    const Lanes zero = {}, largest = zero + largest_number<Stored>;
    Indices missed = {};
    for (int r = 0; r < variables; r += lanes) {
        const Lanes x = at(tile.x, r), to = at(trial, r), l = at(tile.l, r), u = at(tile.u, r);
        const Lanes exact = clamp_to_box(to - x, -largest, largest);
        const Lanes stored = __builtin_convertvector(rounded(exact, column), Lanes);
        missed |= ((to == l) | (to == u)) & (clamp_to_box(x + stored, l, u) != to);
        put(d, r, stored);
    }
    for (int r = variables; r < tile_height; r++) d[r] = 0;
    for (int r = 0; r < variables; r++) column[r] = static_cast<Stored>(d[r]);
    return !(missed[0] | missed[1] | missed[2] | missed[3]);
}

// Computes a tile of the trial point P(x + step d). The point is rounded to Real after the projection. Since the bounds
// are exactly representable, rounding before the projection would give the same result.
template <class Real>
CUDA_OPT_INLINE void step_variables(const TileVariables &tile, const double *d, double step, int variables, Real *x) {
    const Lanes zero = {}, largest = zero + largest_number<Real>;
    alignas(32) double to[tile_height];
    for (int r = 0; r < variables; r += lanes) {
        const Lanes from = at(tile.x, r);
        put(to, r, place_in_box(from + step * at(d, r), from, at(tile.l, r), at(tile.u, r), largest));
    }
    for (int r = 0; r < variables; r++) x[r] = static_cast<Real>(to[r]);
}

} // namespace

CUDA_OPT_EACH_INSTRUCTION_SET
void measure_tile(const TileVariables &tile, int variables, double threshold, double *free, double *z, double *sums,
                  double &largest_of_tile, double &first_of_tile) {
    const Lanes zero = {}, one = zero + 1, never = zero + infinity;
    Lanes pg2 = zero, x2 = zero, lower = zero, upper = zero, free_variables = zero, not_finite = zero, largest = zero;
    Lanes first = never;
    // A negative threshold makes all variables free, including those whose breakpoint is NaN.
    const Indices all = zero > threshold;
    for (int r = 0; r < padded_variables(variables); r += lanes) {
        const Lanes x = at(tile.x, r), g = at(tile.g, r), l = at(tile.l, r), u = at(tile.u, r);
        const Indices inside = lanes_before(variables, r);
        const Lanes t = breakpoint(x, at(tile.h, r) * g, l, u), pg = projected_gradient(x, g, l, u);
        const Lanes size = select(pg < 0, -pg, pg);
        const Indices is_free = ((t > threshold) | all) & inside, passed = (t > 0) & (t <= threshold) & inside;
        const Indices is_lower = (x <= l) & inside, is_upper = (x >= u) & (x > l) & inside;
        pg2 += select(inside, pg * pg, zero);
        x2 += select(inside, x * x, zero);
        lower += select(is_lower, one, zero);
        upper += select(is_upper, one, zero);
        free_variables += select(is_free, one, zero);
        not_finite += select((g - g != 0) & inside, one, zero);
        largest = select(((size > largest) | (size != size)) & inside, size, largest);
        first = select(is_free & (t < first), t, first);
        put(free, r, select(is_free, one, zero));
        put(z, r, select(passed, bound_ahead(g, l, u) - x, zero));
    }
    const Lanes all_sums[] = {pg2, x2, lower, upper, free_variables, not_finite};
    for (const Lanes &sum : all_sums) *sums++ = sum_over_lanes(sum);
    largest_of_tile = 0, first_of_tile = infinity;
    for (int k = 0; k < lanes; k++) {
        if (largest[k] > largest_of_tile || largest[k] != largest[k]) largest_of_tile = largest[k];
        if (first[k] < first_of_tile) first_of_tile = first[k];
    }
}

CUDA_OPT_EACH_INSTRUCTION_SET
bool may_have_breakpoint_within(const TileVariables &tile, int variables, double t) {
    Indices found = {};
    for (int r = 0; r < variables; r += lanes) {
        const Lanes x = at(tile.x, r), g = at(tile.g, r), l = at(tile.l, r), u = at(tile.u, r);
        found |=
            lanes_before(variables, r) & ~is_active(x, g, l, u) & ~breakpoint_exceeds(t, x, at(tile.h, r) * g, l, u);
    }
    return (found[0] | found[1] | found[2] | found[3]) != 0;
}

CUDA_OPT_EACH_INSTRUCTION_SET
bool changes_of_tile(const TileVariables &now, const TileVariables &base, int variables, double *sign) {
    const Lanes zero = {}, one = zero + 1;
    Lanes changes = zero;
    for (int r = 0; r < variables; r += lanes) {
        const Indices inside = lanes_before(variables, r);
        const Lanes change = select(moves(now, r) & inside, one, zero) - select(moves(base, r) & inside, one, zero);
        changes += change * change;
        put(sign, r, change);
    }
    return sum_over_lanes(changes) > 0;
}

CUDA_OPT_EACH_INSTRUCTION_SET
double trial_of_tile(const TileVariables &tile, int variables, const double *move, double largest, double *trial) {
    const Lanes zero = {}, one = zero + 1, limit = zero + largest;
    Lanes projected = zero;
    Indices storable = zero == zero;
    for (int r = 0; r < variables; r += lanes) {
        const Lanes x = at(tile.x, r), g = at(tile.g, r), l = at(tile.l, r), u = at(tile.u, r);
        const Lanes wanted = x + at(move, r), clamped = clamp_to_box(wanted, l, u);
        const Indices stays = is_active(x, g, l, u);
        projected += select(lanes_before(variables, r) & ~stays & (clamped != wanted), one, zero);
        storable &= (clamped <= limit) & (clamped >= -limit);
        put(trial, r, select(stays, x, clamped));
    }
    if (storable[0] & storable[1] & storable[2] & storable[3]) return sum_over_lanes(projected);
    // In rare cases x + move exceeds the largest number of the storage type for some variable. place_in_box() then
    // limits the trial point of each variable.
    for (int r = 0; r < variables; r++) trial[r] = place_in_box(trial[r], tile.x[r], tile.l[r], tile.u[r], largest);
    return sum_over_lanes(projected);
}

CUDA_OPT_EACH_INSTRUCTION_SET
bool round_direction(const TileVariables &tile, const double *trial, int variables, float *column, double *d) {
    return round_difference(tile, trial, variables, column, d);
}
CUDA_OPT_EACH_INSTRUCTION_SET
bool round_direction(const TileVariables &tile, const double *trial, int variables, bfloat16 *column, double *d) {
    return round_difference(tile, trial, variables, column, d);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void step_tile(const TileVariables &tile, const double *d, double step, int variables, double *x) {
    step_variables(tile, d, step, variables, x);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void step_tile(const TileVariables &tile, const double *d, double step, int variables, float *x) {
    step_variables(tile, d, step, variables, x);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void learn_tile(const double *d, const double *y, int variables, const LearnedPair &pair, double *h) {
    const LearnedPair of = pair;
    for (int r = 0; r < variables; r++) h[r] = learned_weight(h[r], d[r], y[r], of);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void measure_weights(const double *h, const double *y, const double *d, int variables, bool weighted, double *sums) {
    const Lanes zero = {}, one = zero + 1, most = zero + largest_finite;
    Lanes bad = zero, of_y = zero, of_d = zero;
    for (int r = 0; r < variables; r += lanes) {
        const Indices inside = lanes_before(variables, r);
        const Lanes weight = at(h, r), other = weighted ? one : weight;
        bad += select(inside & ~((weight > 0) & (weight <= most)), one, zero);
        of_y += select(inside, at(y, r) * at(y, r) * other, zero);
        of_d += select(inside, at(d, r) * at(d, r) / other, zero);
    }
    sums[bad_weights] = sum_over_lanes(bad);
    sums[newest_y_sum] = sum_over_lanes(of_y);
    sums[newest_d_sum] = sum_over_lanes(of_d);
}

CUDA_OPT_EACH_INSTRUCTION_SET
void scaling_of_tile(const double *h, int variables, TileScaling &scaling) {
    for (int r = 0; r < variables; r++) {
        const panel::Scaling by = panel::scaling_of(h[r]);
        scaling.roots[r] = by.root, scaling.inverse_roots[r] = by.inverse_root;
    }
}

CUDA_OPT_EACH_INSTRUCTION_SET
void scale_columns(const TileScaling &scaling, int variables, int count, double *columns) {
    for (int c = 0; c < count; c++) {
        const double *const factors = panel::inverse(c) ? scaling.inverse_roots : scaling.roots;
        for (int r = 0; r < variables; r++) columns[c * tile_height + r] *= factors[r];
    }
}

} // namespace cudaopt
