// This header defines the vectors on the device and the sums over single variables. Sweep 1 computes these sums
// together with the inner products.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support/zero_tiles.cuh"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"
#include "sweeps/work_vectors.hpp"

namespace cudaopt {

constexpr int products_threads = 256;
constexpr int products_warps = products_threads / 32;
constexpr int column_block = 8;
constexpr int most_products_blocks = 2 * multiprocessors;

// The number of variables is limited so that the index of a tile fits in 32 bits.
constexpr int64_t most_device_variables = int64_t{1} << 36;

// DeviceVectors contains the vectors on the device. The vectors that belong to the backend are `pitch` elements apart,
// a multiple of 64, and their elements from n on are 0.
template <class Real, class History> struct DeviceVectors : WorkVectors<Real, History> {
    const Real *x, *g, *diagonal;
    Real *own_diagonal; // the pointer `diagonal` if the backend owns the diagonal, otherwise NULL
    BoxArrays<Real> box;
    ZeroTiles zero_tiles;
    int64_t n;

    // Returns the vector y or s of the history that is column j of the panel (lbfgsb/panel.hpp). Returns NULL for the
    // columns g and z, which are not in the history, and for columns of pairs that the panel does not contain.
    __host__ __device__ const History *column(const PanelRequest &request, int j) const {
        const int age = j < panel::leading ? 0 : (j - panel::leading) / 2 + 1;
        if (age >= request.pairs || j == panel::gradient || j == panel::displacement) return nullptr;
        const int slot = this->slot_of(request.newest_slot, age);
        return j % 2 == 0 ? this->y(slot) : this->s(slot);
    }
    // The history has m + 1 slots, each for one pair. Returns the age of the pair in a slot, where the newest pair has
    // age 0. The panel contains the pair if its age is less than request.pairs.
    __host__ __device__ int age_of(const PanelRequest &request, int slot) const {
        const int age = request.newest_slot - slot;
        return age < 0 ? age + this->m + 1 : age;
    }
    __device__ BoxedVariable variable(int64_t i) const { return {x[i], g[i], box.lower(i), box.upper(i)}; }
};

// Loads two neighbouring elements and converts them to double.
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

// Returns sqrt(h) and 1 / sqrt(h), by which the columns are scaled if the initial Hessian is a diagonal. All kernels
// use this function. A variable that sweep 1 sends in advance is therefore bitwise equal to the variable that a later
// request returns.
__device__ inline panel::Scaling scaling_of(double h) {
    const double inverse_root = rsqrt(h);
    return {h * inverse_root, inverse_root};
}

template <int bytes> struct AccessOf;
template <> struct AccessOf<2> { using Type = unsigned short; };
template <> struct AccessOf<4> { using Type = unsigned; };
template <> struct AccessOf<8> { using Type = uint2; };
template <> struct AccessOf<16> { using Type = uint4; };

// Elements contains `variables` neighbouring elements of a vector, which are loaded and stored by accesses of up to 16
// bytes.
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
    // Stores the elements with the L2 eviction priority evict_last, so that they stay in the L2 cache until the next
    // sweep reads them.
    __device__ void store_kept(Element *to) const {
        static_assert(bytes == sizeof(unsigned), "as a lane's variables of a narrow column are");
        uint64_t policy;
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(to),
                     "r"(*reinterpret_cast<const unsigned *>(v)), "l"(policy)
                     : "memory");
    }
    __device__ double operator[](int k) const { return static_cast<double>(v[k]); }
    __device__ void convert(double (&to)[variables]) const {
#pragma unroll
        for (int k = 0; k < variables; k++) to[k] = (*this)[k];
    }
    __device__ bool any_not_zero() const {
        bool any = false;
#pragma unroll
        for (int k = 0; k < variables; k++) any |= (*this)[k] != 0;
        return any;
    }
};

// Sweep 1 stores the first kept_variables elements of y_new by store_kept(), so that sweep 2 finds them in the L2
// cache. They occupy 16 MB, about a third of the L2 cache of an H200. The rest of the cache remains for other data.
template <class History> constexpr int64_t kept_variables = 16000000 / sizeof(History);

// A lane classifies variables_of_lane neighbouring variables of a tile, which contains the variables of 32 lanes. In
// general these are 8 bytes of x per lane. If x is in double precision and the history in bfloat16, they are 16 bytes
// of x. With 8 bytes, a tile would have only 32 variables, which are 64 bytes of each stored column.
template <class Real, class History>
constexpr int variables_of_lane = sizeof(Real) == 8 && sizeof(History) == 2 ? 2 : 8 / sizeof(Real);
template <class Real, class History> constexpr int variables_of_warp = 32 * variables_of_lane<Real, History>;

// These functions load or store an array of 4, 8 or 16 bytes by one access. The addresses must be multiples of this
// size.
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
    double y2 = 0, d2 = 0; // the sums newest_y_sum and newest_d_sum
    Real largest = 0;
    // An upper limit of the breakpoints that are computed. It is the larger of SendAhead::reach and the smallest
    // breakpoint that the warp has found so far. Larger breakpoints are not needed.
    float candidates_to = INFINITY;
    int lower = 0, upper = 0, free = 0, not_finite = 0, bad_weights = 0;
};

// Returns the larger of |a| and b, where b >= 0. NaN is treated as larger than all numbers, as the norm of the
// projected gradient requires. The function compares the bits as integers: non-negative numbers have the same order as
// their bits, and NaN comes after Inf.
__device__ inline double larger_size(double a, double b) {
    return __longlong_as_double(max(__double_as_longlong(fabs(a)), __double_as_longlong(b)));
}
__device__ inline float larger_size(float a, float b) {
    return __uint_as_float(max(__float_as_uint(fabsf(a)), __float_as_uint(b)));
}

// InnerProducts classifies the requests to sweep 1, which computes inner products, by the work that they need. A kernel
// is compiled for one kind and omits the work that this kind does not need. The threshold may have any value: a
// variable is free if its breakpoint exceeds the threshold, and all variables are free if the threshold is negative.
enum class InnerProducts {
    // No products over the free variables are needed. If there are arrays of bounds, all bounds are infinite.
    unbounded,
    // The products over the free variables are needed, too.
    bounded,
    // Like `bounded`, but the initial Hessian is a diagonal, and the products may be weighted by it.
    metric
};
constexpr bool in_metric(InnerProducts kind) { return kind == InnerProducts::metric; }
// Returns whether kernels of the given kind form products over the free variables. They then also send the variables
// that the Cauchy search may need to the host before the host requests them, if the threshold is 0, and skip zero tiles
// (zero_tiles.cuh).
constexpr bool over_free_variables(InnerProducts kind) { return kind != InnerProducts::unbounded; }
inline InnerProducts kind_of(const PanelRequest &request) {
    return request.in_metric() ? InnerProducts::metric
           : request.free_gram ? InnerProducts::bounded
                               : InnerProducts::unbounded;
}

// VariablesAhead contains the elements of x, g, l, u and h for the variables of one lane, in their storage precision.
// They are compared in this precision, which is exact, because conversions to double have a low throughput on the
// device. Past the last variable, x = g = l = u = 0 and h = 1, so that these elements add nothing to a sum.
template <class Real, int variables> struct VariablesAhead {
    // The array h contains elements of the diagonal initial Hessian. If the inner products are not weighted by them, h
    // is 1 or not used.
    alignas(variables * sizeof(Real)) Real x[variables], g[variables], l[variables], u[variables], h[variables];
};

// Adds the sums that are required if the initial Hessian is a diagonal h. The sums of h y^2 and d^2 / h of the newest
// pair are needed, and also those of y^2 and d^2. If the inner products are weighted by h, they contain the first two
// sums, and this function adds y^2 and d^2. Otherwise it adds h y^2 and d^2 / h. It also counts the weights h that are
// not both positive and finite.
template <class Real>
__device__ void add_weighted_sums(double h, double y, double d, bool weighted, LaneSums<Real> &sums) {
    const double other = weighted ? 1 : h;
    sums.y2 += y * y * other;
    sums.d2 += d * d / other;
    sums.bad_weights += !is_weight(h);
}

// Sweep 1 classifies all elements of a tile, also those past the last variable, where x = g = l = u = 0. Each of these
// would be counted as a variable at its lower bound and, if all variables are free, as a free one. The function
// subtracts `count` such elements in advance, so that the loop need not compare indices with n.
template <InnerProducts kind, class Real>
__device__ void take_off_variables_past_the_end(LaneSums<Real> &sums, int count, const PanelRequest &request) {
    const bool bounds = kind != InnerProducts::unbounded;
    sums.lower -= bounds ? count : 0;
    sums.free -= !bounds || request.threshold < 0 ? count : 0;
}
// Calls the function above for the elements of a lane that are past the last variable. The call has an effect only if
// the first tile of the warp is the last tile of the vectors. A lane has lane_variables elements per tile.
template <InnerProducts kind, int lane_variables, class Real>
__device__ void take_off_variables_past_the_end(LaneSums<Real> &sums, int64_t n, int first_tile, int lane,
                                                const PanelRequest &request) {
    constexpr int variables = 32 * lane_variables;
    if (first_tile != (n - 1) / variables) return;
    const int variables_there = static_cast<int>(n - int64_t{first_tile} * variables) - lane * lane_variables;
    take_off_variables_past_the_end<kind>(sums, lane_variables - max(0, min(lane_variables, variables_there)), request);
}

// Adds the lane's variables to the sums. It also determines which of them are free, their displacements z, and which of
// them are candidates. A candidate may have a breakpoint that the Cauchy search needs. Computing a breakpoint |x -
// bound| / |h g| requires a division, which costs more than all other operations per variable. Candidates are therefore
// selected by comparing |x - bound| with a multiple of |h g| in single precision. Returns whether the warp has
// candidates. All lanes of a warp must call the function.
template <InnerProducts kind, class Real, int variables>
__device__ bool classify_variables(const VariablesAhead<Real, variables> &at, double threshold, LaneSums<Real> &sums,
                                   bool (&free)[variables], Real (&z)[variables], bool (&candidate)[variables]) {
    bool any_candidate = false;
#pragma unroll
    for (int k = 0; k < variables; k++) {
        const Real x = at.x[k], g = at.g[k], l = at.l[k], u = at.u[k];
        const double h = in_metric(kind) ? static_cast<double>(at.h[k]) : 1.0;
        // If there are bounds, pg becomes the magnitude of the projected gradient.
        Real pg = g;
        free[k] = true, candidate[k] = false, z[k] = 0;
        if constexpr (kind != InnerProducts::unbounded) {
            // For x in the box, the following conditions are equivalent to is_active() and projected_gradient(), with
            // fewer comparisons.
            const bool at_lower = x <= l, at_upper = x >= u, up = g >= 0;
            const bool moves = !((at_lower && (at_upper || up)) || (at_upper && g <= 0));
            const Real to_bound = x - (up ? l : u);
            pg = fabs(to_bound) < fabs(g) ? fabs(to_bound) : fabs(g);
            if (threshold != 0) {
                // Variables with breakpoints in (0, threshold] have reached a bound, and z is their displacement.
                const double t = breakpoint<double>(x, h * g, l, u);
                candidate[k] = moves && t > threshold;
                free[k] = candidate[k] || threshold < 0;
                // If the product h g underflows, the breakpoint t is 0, see trial_of_variable().
                if (moves && t > 0 && t <= threshold) z[k] = -to_bound;
            } else {
                free[k] = moves;
                const float slope = static_cast<float>(in_metric(kind) ? h * g : g);
                // The comparison is negated, so that a variable is a candidate if the result is NaN. Extreme operands
                // can produce NaN.
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

// Computes the breakpoints t of the candidates, and sets t = +Inf for the other variables. It also updates the smallest
// breakpoint of the warp. Breakpoints up to `reach` are needed even if they are not the smallest, because their
// variables may be sent to the host. All lanes of a warp must call the function.
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
    // Positive numbers have the same order as their bits, so the minimum can be computed by an integer reduction.
    const float mine = __double2float_ru(sums.first * (1 + 1e-5));
    sums.candidates_to = fmaxf(reach, __uint_as_float(__reduce_min_sync(~0u, __float_as_uint(mine))));
}

__device__ inline double warp_sum(double v) {
    for (int delta = 16; delta > 0; delta /= 2) v += __shfl_down_sync(~0u, v, delta);
    return v;
}

// WarpSums contains the sums, the maximum and the minimum over all lanes of a warp. They are valid in lane 0.
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
    // Joins element `which` of the WarpSums of all warps, in the order of the warps.
    template <int warps> __device__ static double join(const double (&of_warps)[warps][size], int which) {
        double joined = of_warps[0][which];
        for (int warp = 1; warp < warps; warp++) {
            const double next = of_warps[warp][which];
            joined = which == maximum   ? larger_size(next, joined)
                     : which == minimum ? fmin(next, joined)
                                        : joined + next;
        }
        return joined;
    }
};

} // namespace cudaopt
