#include "sweeps/host/stored_columns.hpp"

#include "sweeps/host/instruction_sets.hpp"
#include "lbfgsb/box.hpp"

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

template <class Stored> CUDA_OPT_INLINE void load(const Stored *column, int variables, double *to) {
    for (int r = 0; r < variables; r++) to[r] = column[r];
    for (int r = variables; r < tile_height; r++) to[r] = 0;
}

// Four columns are added at a time, so that to[r] is loaded and stored less often.
template <class Stored>
CUDA_OPT_INLINE void add(const double *factors, const Stored *const *columns, int count, int64_t begin, int variables,
                         double *to) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const Stored *const a = columns[k] + begin, *const b = columns[k + 1] + begin,
                            *const c = columns[k + 2] + begin, *const d = columns[k + 3] + begin;
        const double p = factors[k], q = factors[k + 1], u = factors[k + 2], v = factors[k + 3];
        for (int r = 0; r < variables; r++)
            to[r] += p * static_cast<double>(a[r]) + q * static_cast<double>(b[r]) + u * static_cast<double>(c[r]) +
                     v * static_cast<double>(d[r]);
    }
    for (; k < count; k++) {
        const Stored *const column = columns[k] + begin;
        const double factor = factors[k];
        for (int r = 0; r < variables; r++) to[r] += factor * static_cast<double>(column[r]);
    }
}

// Computes d = trial - x, rounded to the storage type. Rounding must not move a trial point off its bound, but
// variables that reach a bound in this step are rare. The loop therefore only detects them, and the function returns
// false if rounding makes any variable miss its bound.
template <class Stored>
CUDA_OPT_INLINE bool round_difference(const TileVariables &tile, const double *trial, int variables, Stored *column,
                                      double *d) {
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
CUDA_OPT_INLINE void step_variables(const TileVariables &tile, const double *d, double step, int variables, Real *x) {
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

CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const double *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const float *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
}
CUDA_OPT_EACH_INSTRUCTION_SET
void add_columns(const double *factors, const bfloat16 *const *columns, int count, int64_t begin, int variables,
                 double *to) {
    add(factors, columns, count, begin, variables, to);
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
