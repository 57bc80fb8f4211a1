#include "sweeps/host/stored_columns.hpp"

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/box.hpp"

namespace cudaopt {

namespace {

typedef float Singles __attribute__((vector_size(16)));
typedef uint32_t Words __attribute__((vector_size(16)));

// Returns v rounded to the precision in which the column is stored.
inline __attribute__((always_inline)) Singles rounded(Lanes v, const float *) {
    return __builtin_convertvector(v, Singles);
}
inline __attribute__((always_inline)) Singles rounded(Lanes v, const bfloat16 *) {
    const Words wide = (Words) __builtin_convertvector(v, Singles);
    return (Singles)((wide + 0x7fffu + (wide >> 16 & 1)) & 0xffff0000u);
}

template <class Stored>
inline __attribute__((always_inline)) void load(const Stored *column, int variables, double *to) {
    for (int r = 0; r < variables; r++) to[r] = column[r];
    for (int r = variables; r < tile_height; r++) to[r] = 0;
}

template <class Stored>
inline __attribute__((always_inline)) void add(double factor, const Stored *column, int variables, double *to) {
    for (int r = 0; r < variables; r++) to[r] += factor * static_cast<double>(column[r]);
}

// Computes d = trial - x, rounded to the storage type. Rounding must not move a trial point off its bound, but
// variables that reach a bound in this step are rare. The loop therefore only detects them, and the function returns
// false if rounding makes any variable miss its bound.
template <class Stored>
inline __attribute__((always_inline)) bool round_difference(const TileVariables &tile, const double *trial,
                                                            int variables, Stored *column, double *d) {
    const Lanes zero = {}, largest = zero + largest_number<Stored>;
    Indices missed = {};
    for (int r = 0; r < tile_height; r += lanes) {
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
inline __attribute__((always_inline)) void step_variables(const TileVariables &tile, const double *d, double step,
                                                          int variables, Real *x) {
    const Lanes zero = {}, largest = zero + largest_number<Real>;
    alignas(32) double to[tile_height];
    for (int r = 0; r < tile_height; r += lanes) {
        const Lanes from = at(tile.x, r);
        put(to, r, place_in_box(from + step * at(d, r), from, at(tile.l, r), at(tile.u, r), largest));
    }
    for (int r = 0; r < variables; r++) x[r] = static_cast<Real>(to[r]);
}

} // namespace

CUDA_OPT_EACH_INSTRUCTION_SET void load_column(const float *column, int variables, double *to) {
    load(column, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET void load_column(const bfloat16 *column, int variables, double *to) {
    load(column, variables, to);
}

CUDA_OPT_EACH_INSTRUCTION_SET void add_column(double factor, const float *column, int variables, double *to) {
    add(factor, column, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET void add_column(double factor, const bfloat16 *column, int variables, double *to) {
    add(factor, column, variables, to);
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

} // namespace cudaopt
