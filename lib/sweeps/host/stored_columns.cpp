#include "sweeps/host/stored_columns.hpp"

#include "sweeps/host/instruction_sets.hpp"

namespace cudaopt {

namespace {

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
            to[r] =
                fused<double>(v, d[r], fused<double>(u, c[r], fused<double>(q, b[r], fused<double>(p, a[r], to[r]))));
    }
    for (; k < count; k++) {
        const Stored *const column = columns[k] + begin;
        const double factor = factors[k];
        for (int r = 0; r < variables; r++) to[r] = fused<double>(factor, column[r], to[r]);
    }
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

} // namespace cudaopt
