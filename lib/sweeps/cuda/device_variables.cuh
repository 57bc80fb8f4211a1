// The vectors as the device sees them, and what a warp learns from its variables besides their inner products.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/zero_tiles.cuh"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"
#include "sweeps/work_vectors.hpp"

namespace cudaopt {

constexpr int products_threads = 256;
constexpr int products_warps = products_threads / 32;
constexpr int column_block = 8;
constexpr int most_products_blocks = 2 * multiprocessors;

constexpr int64_t most_device_variables = int64_t{1} << 36; // so that 32 bits count their tiles

// The backend's own vectors have a pitch that is a multiple of 64; their variables from n on are 0.
template <class Real, class History> struct DeviceVectors : WorkVectors<Real, History> {
    const Real *x, *g, *diagonal;
    Real *own_diagonal; // where it is the backend's, the same
    BoxArrays<Real> box;
    ZeroTiles zero_tiles;
    int64_t n;

    // The stored column behind a panel column; NULL for g, z and columns past the end.
    __host__ __device__ const History *column(const PanelRequest &request, int j) const {
        const int age = j < panel::leading ? 0 : (j - panel::leading) / 2 + 1;
        if (age >= request.pairs || j == panel::gradient || j == panel::displacement) return nullptr;
        const int slot = this->slot_of(request.newest_slot, age);
        return j % 2 == 0 ? this->y(slot) : this->s(slot);
    }
    // Of a pair by its slot, in a panel of as many pairs at least.
    __host__ __device__ int age_of(const PanelRequest &request, int slot) const {
        const int age = request.newest_slot - slot;
        return age < 0 ? age + this->m + 1 : age;
    }
    __device__ BoxedVariable variable(int64_t i) const { return {x[i], g[i], box.lower(i), box.upper(i)}; }
};

// Two neighbouring elements as doubles.
__device__ inline void load2(const double *from, double (&to)[2]) {
    const double2 a = *reinterpret_cast<const double2 *>(from);
    to[0] = a.x, to[1] = a.y;
}
__device__ inline void load2(const float *from, double (&to)[2]) {
    const float2 a = *reinterpret_cast<const float2 *>(from);
    to[0] = a.x, to[1] = a.y;
}
__device__ inline void load2(const bfloat16 *from, double (&to)[2]) {
    const unsigned both = *reinterpret_cast<const unsigned *>(from);
    to[0] = __uint_as_float(both << 16), to[1] = __uint_as_float(both & 0xffff0000u);
}

// The same for all that scale a variable: what is sent ahead has to be what is fetched.
__device__ inline panel::Scaling scaling_of(double h) {
    const double inverse_root = rsqrt(h);
    return {h * inverse_root, inverse_root};
}

template <int bytes> struct AccessOf;
template <> struct AccessOf<2> { using Type = unsigned short; };
template <> struct AccessOf<4> { using Type = unsigned; };
template <> struct AccessOf<8> { using Type = uint2; };
template <> struct AccessOf<16> { using Type = uint4; };

// `variables` neighbouring elements, in as few accesses as there are 16 bytes.
template <class Element, int variables>
struct alignas(variables * sizeof(Element) < 16 ? variables * sizeof(Element) : 16) Elements {
    static constexpr int bytes = variables * sizeof(Element), piece = bytes < 16 ? bytes : 16;
    using Access = typename AccessOf<piece>::Type;
    Element v[variables];
    __device__ static Elements load(const Element *from) {
        Elements e;
#pragma unroll
        for (int k = 0; k < bytes / piece; k++)
            reinterpret_cast<Access *>(e.v)[k] = reinterpret_cast<const Access *>(from)[k];
        return e;
    }
    __device__ void store(Element *to) const {
#pragma unroll
        for (int k = 0; k < bytes / piece; k++)
            reinterpret_cast<Access *>(to)[k] = reinterpret_cast<const Access *>(v)[k];
    }
    // The second-level cache evicts it last, until somebody reads it.
    __device__ void store_kept(Element *to) const {
        static_assert(bytes == sizeof(unsigned), "as a lane's variables of a narrow column are");
        uint64_t policy;
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(to),
                     "r"(*reinterpret_cast<const unsigned *>(v)), "l"(policy)
                     : "memory");
    }
    __device__ double operator[](int k) const { return static_cast<double>(v[k]); }
};

// Variables of a column that the second-level cache is asked to keep from one sweep to the next, the first ones: a
// third of an H200's, so that enough is left for what else is on its way.
template <class History> constexpr int64_t kept_variables = 16000000 / sizeof(History);

// Neighbouring variables that a lane looks at together: 8 bytes of a vector, or 16 where the columns are so narrow that
// a tile of 32 variables would be few bytes of them.
template <class Real, class History>
constexpr int variables_of_lane = sizeof(Real) == 8 && sizeof(History) == 2 ? 2 : 8 / sizeof(Real);
template <class Real, class History> constexpr int variables_of_warp = 32 * variables_of_lane<Real, History>;

// In one access; the array is aligned to it.
template <class Real, int variables> __device__ void load_variables(const Real *from, Real (&to)[variables]) {
    using Access = typename AccessOf<variables * sizeof(Real)>::Type;
    *reinterpret_cast<Access *>(to) = *reinterpret_cast<const Access *>(from);
}
template <class Real, int variables> __device__ void store_variables(const Real (&from)[variables], Real *to) {
    using Access = typename AccessOf<variables * sizeof(Real)>::Type;
    *reinterpret_cast<Access *>(to) = *reinterpret_cast<const Access *>(from);
}

template <class Real> struct LaneSums {
    double pg2 = 0, x2 = 0, first = infinity;
    double y2 = 0, d2 = 0; // newest_y_sum, newest_d_sum
    Real largest = 0;
    float candidates_to = INFINITY; // breakpoints beyond it are not asked for; the warp's least so far is not
    int lower = 0, upper = 0, free = 0, not_finite = 0, bad_weights = 0;
};

// The larger of the sizes of a and b >= 0, as a projected gradient's norm takes them: NaN is the largest. Sizes are
// ordered like their bits, NaN behind all numbers.
__device__ inline double larger_size(double a, double b) {
    return __longlong_as_double(max(__double_as_longlong(fabs(a)), __double_as_longlong(b)));
}
__device__ inline float larger_size(float a, float b) {
    return __uint_as_float(max(__float_as_uint(fabsf(a)), __float_as_uint(b)));
}

// What sweep 1 is asked for. Each kind has kernels of its own, without what only the others need; what is a branch only
// is one at run time, but for the kind that most requests are of.
enum class InnerProducts {
    unbounded,   // no products over the free variables; bounds, if there are arrays of them, are infinite
    bounded,     // before the first breakpoint, the variables are free that are not held; no tiles of zeros are kept
    general,     // and those whose breakpoint lies beyond a threshold > 0; < 0: all. Tiles of zeros may be kept
    metric,      // with a diagonal, weighted by it or not; the threshold may be 0 or above. Tiles of zeros may be kept
    new_diagonal // and the products of the older steps over all variables, too
};
constexpr bool in_metric(InnerProducts kind) {
    return kind == InnerProducts::metric || kind == InnerProducts::new_diagonal;
}
// Whether tiles of zeros are left out; in a metric where the columns have x's bits.
template <class Real, class History> constexpr bool looks_for_zeros(InnerProducts kind) {
    return kind == InnerProducts::general || (kind == InnerProducts::metric && std::is_same_v<Real, History>);
}
constexpr bool over_free_variables(InnerProducts kind) { return kind != InnerProducts::unbounded; }
constexpr bool sends_ahead(InnerProducts kind) { // variables that the search may cross, where the threshold is 0
    return kind == InnerProducts::bounded || kind == InnerProducts::general || in_metric(kind);
}
inline InnerProducts kind_of(const PanelRequest &request) {
    return request.older_steps      ? InnerProducts::new_diagonal
           : request.in_metric()    ? InnerProducts::metric
           : !request.free_gram     ? InnerProducts::unbounded
           : request.threshold != 0 ? InnerProducts::general
                                    : InnerProducts::bounded;
}
// Whether z, the way to the bound of the variables that have met it, is wanted.
template <InnerProducts kind> __device__ bool crosses(double threshold) {
    return kind == InnerProducts::general ? threshold != 0 : in_metric(kind) && threshold > 0;
}

// The variables of a lane, as stored: comparing rounds nothing, and conversions to double are few on the device.
// Past n, x = g = l = u = 0 and h = 1, whatever the bounds: nothing to add to a sum.
template <class Real, int variables> struct VariablesAhead {
    // Not weighted: h not used, or 1.
    alignas(variables * sizeof(Real)) Real x[variables], g[variables], l[variables], u[variables], h[variables];
};

// What a variable tells in a metric: h, and of the newest pair y and d.
template <class Real>
__device__ void add_weighted_sums(double h, double y, double d, bool weighted, LaneSums<Real> &sums) {
    const double other = weighted ? 1 : h;
    sums.y2 += y * y * other;
    sums.d2 += d * d / other;
    sums.bad_weights += !is_weight(h);
}

// What `count` variables past n would add to the counts is taken off beforehand, so that no variable has to ask where
// it stands.
template <InnerProducts kind, class Real>
__device__ void take_off_variables_past_the_end(LaneSums<Real> &sums, int count, const PanelRequest &request) {
    const bool bounds = kind != InnerProducts::unbounded;
    sums.lower -= bounds ? count : 0;
    sums.free -= !bounds || request.threshold < 0 ? count : 0;
}
// Those of a lane that has so many variables of each tile, if its warp's first tile is the last of all.
template <InnerProducts kind, int lane_variables, class Real>
__device__ void take_off_variables_past_the_end(LaneSums<Real> &sums, int64_t n, int first_tile, int lane,
                                                const PanelRequest &request) {
    constexpr int variables = 32 * lane_variables;
    if (first_tile != (n - 1) / variables) return;
    const int variables_there = static_cast<int>(n - int64_t{first_tile} * variables) - lane * lane_variables;
    take_off_variables_past_the_end<kind>(sums, lane_variables - max(0, min(lane_variables, variables_there)), request);
}

// What the variables add to the sums; which of them are free; z; and which may have a breakpoint that is asked for: a
// division costs more than all the rest of a variable's facts, so a product in single precision decides. All lanes of a
// warp call it. Returns whether the warp has such candidates.
template <InnerProducts kind, class Real, int variables>
__device__ bool classify_variables(const VariablesAhead<Real, variables> &at, double threshold, LaneSums<Real> &sums,
                                   bool (&free)[variables], Real (&z)[variables], bool (&candidate)[variables]) {
    bool any_candidate = false;
#pragma unroll
    for (int k = 0; k < variables; k++) {
        const Real x = at.x[k], g = at.g[k], l = at.l[k], u = at.u[k];
        const double h = in_metric(kind) ? static_cast<double>(at.h[k]) : 1.0;
        Real pg = g; // or, within bounds, its size
        free[k] = true, candidate[k] = false, z[k] = 0;
        if constexpr (kind != InnerProducts::unbounded) {
            // As is_active() and projected_gradient() have it, for x in the box, with fewer comparisons.
            const bool at_lower = x <= l, at_upper = x >= u, up = g >= 0;
            const bool moves = !((at_lower && (at_upper || up)) || (at_upper && g <= 0));
            const Real to_bound = x - (up ? l : u);
            pg = fabs(to_bound) < fabs(g) ? fabs(to_bound) : fabs(g);
            if (crosses<kind>(threshold)) {
                const double t = breakpoint<double>(x, h * g, l, u);
                candidate[k] = moves && t > threshold;
                free[k] = candidate[k] || threshold < 0;
                if (moves && t > 0 && t <= threshold)
                    z[k] = -to_bound; // t = 0: h g underflowed, see trial_of_variable()
            } else {
                free[k] = moves;
                const float slope = static_cast<float>(in_metric(kind) ? h * g : g);
                // Not a comparison the other way round: NaN, from extreme operands, has to be looked at.
                candidate[k] = moves && fabs(to_bound) < INFINITY &&
                               !(fabsf(static_cast<float>(to_bound)) > sums.candidates_to * fabsf(slope));
            }
            any_candidate |= candidate[k];
            sums.lower += at_lower;
            sums.upper += at_upper && !at_lower;
        }
        const double wide_pg = pg, wide_x = x;
        sums.pg2 += wide_pg * wide_pg;
        sums.x2 += wide_x * wide_x;
        sums.largest = larger_size(pg, sums.largest);
        sums.free += free[k];
        sums.not_finite += !isfinite(g);
    }
    return kind != InnerProducts::unbounded && __any_sync(~0u, any_candidate);
}

// The breakpoints t of the candidates, +Inf for the other variables, and the least of all. Wanted are those up to
// `reach`, too, whatever the least is. All lanes of a warp call it.
template <InnerProducts kind, class Real, int variables>
__device__ void compute_breakpoints(const VariablesAhead<Real, variables> &at, const bool (&candidate)[variables],
                                    float reach, LaneSums<Real> &sums, double (&t)[variables]) {
#pragma unroll
    for (int k = 0; k < variables; k++) {
        t[k] = infinity;
        if (candidate[k] && at.g[k] != 0) {
            const double x = at.x[k], bound = bound_ahead(at.g[k], at.l[k], at.u[k]);
            const double h = in_metric(kind) ? static_cast<double>(at.h[k]) : 1.0;
            t[k] = (x - bound) / (h * at.g[k]);
            sums.first = fmin(sums.first, t[k]);
        }
    }
    const float mine = __double2float_ru(sums.first * (1 + 1e-5)); // positive: ordered like its bits
    sums.candidates_to = fmaxf(reach, __uint_as_float(__reduce_min_sync(~0u, __float_as_uint(mine))));
}

__device__ inline double warp_sum(double v) {
    for (int delta = 16; delta > 0; delta /= 2) v += __shfl_down_sync(~0u, v, delta);
    return v;
}

// The lanes' sums joined: the variable sums, the maximum, the minimum. Lane 0 has them.
struct WarpSums {
    static constexpr int maximum = variable_sum_count, minimum = maximum + 1, size = minimum + 1;
    double v[size];

    template <class Real> __device__ explicit WarpSums(const LaneSums<Real> &mine) {
        double largest = mine.largest, first = mine.first;
        for (int delta = 16; delta > 0; delta /= 2) {
            largest = larger_size(__shfl_down_sync(~0u, largest, delta), largest);
            first = fmin(first, __shfl_down_sync(~0u, first, delta));
        }
        v[projected_gradient_squared] = warp_sum(mine.pg2);
        v[x_squared] = warp_sum(mine.x2);
        v[at_lower] = __reduce_add_sync(~0u, mine.lower);
        v[at_upper] = __reduce_add_sync(~0u, mine.upper);
        v[free_variables] = __reduce_add_sync(~0u, mine.free);
        v[not_finite] = __reduce_add_sync(~0u, mine.not_finite);
        v[bad_weights] = __reduce_add_sync(~0u, mine.bad_weights);
        v[newest_y_sum] = warp_sum(mine.y2);
        v[newest_d_sum] = warp_sum(mine.d2);
        v[maximum] = largest;
        v[minimum] = first;
    }
    // Warp after warp, the thread's number of them.
    __device__ static double join(const double (&of_warps)[products_warps][size], int which) {
        double joined = of_warps[0][which];
        for (int warp = 1; warp < products_warps; warp++) {
            const double next = of_warps[warp][which];
            joined = which == maximum   ? larger_size(next, joined)
                     : which == minimum ? fmin(next, joined)
                                        : joined + next;
        }
        return joined;
    }
};

} // namespace cudaopt
