// What one small problem holds, and where: the desk, with its state, and the scratch, that a team needs while it works
// on it; its vectors. Sizes are functions of n, m and the precision alone.
#pragma once

#include <type_traits>

#include "dense/bfloat16.hpp"
#include "lbfgsb/state.hpp"

namespace cudaopt::batch {

constexpr int most_variables = crossed_capacity; // so that all breakpoints of a window can be had at once
constexpr int most_pairs = 64;
constexpr int granule = 4; // rows and columns that are worked on together; what is beyond the last one is 0

struct Shape {
    using Kind = AnyKind; // of the state
    int n, m;
    bool metric = false; // whether there is a weight h for each variable, for a metric that is not one number
};

// Where they are known to the compiler, and whether there may be bounds. History is what the pairs are stored in. The
// state keeps its Cauchy search where it stands in memory that a warp's lane has at hand.
template <int n_, int m_, class History_, bool bounds = true, bool keeps_search = false> struct FixedShape {
    using Kind = SmallKind<m_, bounds, keeps_search>;
    using History = History_;
    static constexpr int n = n_, m = m_;
};

// Likewise, in a metric, which a state of known size does not serve.
template <int n_, int m_, class History_> struct MetricShape {
    using Kind = AnyKind;
    using History = History_;
    static constexpr int n = n_, m = m_;
    static constexpr bool metric = true;
};

// Where the number of pairs is.
template <int m_, bool bounds = true> struct ShapeOfPairs {
    using Kind = SmallKind<m_, bounds>;
    static constexpr int m = m_;
    int n;
};

// Likewise, and n is small: for threads of a device, each with a problem of its own.
template <int m_, bool bounds = true> struct ThreadShape : ShapeOfPairs<m_, bounds> {};
constexpr int most_of_thread = 32; // variables

// From so many problems on, threads that have one each are faster than warps: on an H200 the two meet at 3,000 problems
// of 5 variables, and at 4,000 of 20.
constexpr int64_t many_problems = 5000;
// A functor's within bounds, of more variables than may be near there: on an H100 they meet at 30,000 of 32, and with
// 10 pairs at 7,500 of 20.
constexpr int64_t many_far_problems = 30000;

template <class ShapeOf> CUDA_OPT_HD constexpr ShapeOf shape_of(Shape shape) {
    if constexpr (ShapeOf::Kind::pairs == 0) return shape;
    else return {shape.n};
}

template <class ShapeOf> inline constexpr int known_pairs = ShapeOf::Kind::pairs; // 0: told when it runs
template <class ShapeOf> inline constexpr bool has_bounds = ShapeOf::Kind::bounds;
template <class ShapeOf> inline constexpr bool serves_metrics = known_pairs<ShapeOf> == 0;
template <class ShapeOf> CUDA_OPT_HD constexpr bool in_metric(const ShapeOf &shape) {
    if constexpr (serves_metrics<ShapeOf>) return shape.metric;
    else return false;
}

// Whether the memory has m pairs from the start (limited_memory.hpp); for a state of any size as for one of known size,
// so that they have the same bits.
template <class ShapeOf> CUDA_OPT_HD constexpr bool is_full(const ShapeOf &shape) {
    return shape.m <= dense::most_unrolled && !in_metric(shape);
}

template <class ShapeOf> inline constexpr bool of_threads = false;
template <int m, bool bounds> inline constexpr bool of_threads<ThreadShape<m, bounds>> = true;

// So many rows are on their way to a thread of a device while it works on one. Of few variables more are in vain; with
// bounds, and by reverse communication, there are no registers for them.
template <class ShapeOf> inline constexpr int rows_ahead = 1;
template <int n, int m, class History>
inline constexpr int rows_ahead<FixedShape<n, m, History, false>> = n > 64   ? 5
                                                                    : n > 10 ? 3
                                                                             : 1;

// So many rows' numbers a thread of a device waits for together.
template <class ShapeOf> inline constexpr int rows_at_once = 4;
template <int n, int m, class History, bool bounds, bool keeps_search>
inline constexpr int rows_at_once<FixedShape<n, m, History, bounds, keeps_search>> = n < 8 ? n : 4;

CUDA_OPT_HD constexpr int padded(int count) { return (count + granule - 1) / granule * granule; }

// Vectors of padded(n) numbers: x, g, those of the base point, those of the best iterate put aside; in a metric h; the
// pairs by rows.
// A row has y and d of all m + 1 slots, the newest one's first, whichever slot that is: so problems side by side, each
// at an iterate of its own, find what they look for at the same place.
enum Vector { at_x, at_g, at_x_base, at_g_base, at_aside_x, at_aside_g, at_h };
template <class ShapeOf> CUDA_OPT_HD constexpr int vector_count(const ShapeOf &shape) {
    return at_h + in_metric(shape);
}
CUDA_OPT_HD constexpr int row_stride(int m) { return 2 * (m + 1); }

// What the pairs are stored in: as the vectors are, where the shape does not say.
template <class Real, class ShapeOf, class = void> struct StoredIn { using Type = Real; };
template <class Real, class ShapeOf> struct StoredIn<Real, ShapeOf, std::void_t<typename ShapeOf::History>> {
    using Type = typename ShapeOf::History;
    static_assert(std::is_same_v<Real, Type> || std::is_same_v<Type, bfloat16> ||
                      (std::is_same_v<Real, double> && std::is_same_v<Type, float>),
                  "pairs are of x's own bits, or of fewer: float or bfloat16");
};
template <class Real, class ShapeOf> using Stored = typename StoredIn<Real, ShapeOf>::Type;

// What stands before the state.
struct Head {
    double f;
    int64_t front; // the slot whose pair stands first in the rows
};

CUDA_OPT_HD constexpr int64_t rounded_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t desk_bytes(ShapeOf shape) {
    return rounded_up(static_cast<int64_t>(sizeof(Head)) + state_bytes<typename ShapeOf::Kind>(shape.m));
}
// Of the desk, what lasts while the problem waits for f and g.
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t lasting_bytes(ShapeOf shape) {
    return rounded_up(static_cast<int64_t>(sizeof(Head)) + cudaopt::lasting_bytes<typename ShapeOf::Kind>(shape.m));
}
template <class Real, class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t vectors_bytes(ShapeOf shape) {
    return rounded_up(vector_count(shape) * padded(shape.n) * static_cast<int64_t>(sizeof(Real)) +
                      shape.n * row_stride(shape.m) * static_cast<int64_t>(sizeof(Stored<Real, ShapeOf>)));
}
// What stays of a problem from call to call: what lasts of its desk, and the vectors.
template <class Real, class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t block_bytes(ShapeOf shape) {
    return lasting_bytes(shape) + vectors_bytes<Real>(shape);
}

// So that the threads of a warp, each with a problem of its own, load and store together, their blocks are cut into
// pieces, and the k-th pieces of so many problems stand side by side.
#ifdef __CUDACC__ // which takes no type for another
typedef uint64_t Piece;
#else
typedef uint64_t __attribute__((may_alias)) Piece;
#endif
constexpr int64_t piece_bytes = sizeof(Piece);
constexpr int side_by_side = 32;
CUDA_OPT_HD constexpr int64_t pieces(int64_t bytes) { return (bytes + piece_bytes - 1) / piece_bytes; }
CUDA_OPT_HD constexpr int64_t place_in_pieces(int64_t p, int64_t bytes_of_block, int64_t offset) {
    return (p / side_by_side * pieces(bytes_of_block) + offset / piece_bytes) * side_by_side * piece_bytes +
           p % side_by_side * piece_bytes + offset % piece_bytes;
}

// Numbers of such a block: what a pointer is to those of a whole one.
template <class Real> class InPieces {
  public:
    InPieces() = default;
    CUDA_OPT_HD_INLINE InPieces(unsigned char *first_piece, int first) : first_piece_(first_piece), first_(first) {}
    CUDA_OPT_HD_INLINE Real &operator[](int i) const {
        constexpr int in_piece = static_cast<int>(piece_bytes / sizeof(Real));
        const int k = first_ + i;
        return *reinterpret_cast<Real *>(first_piece_ + int64_t{k / in_piece} * (side_by_side * piece_bytes) +
                                         k % in_piece * static_cast<int>(sizeof(Real)));
    }
    CUDA_OPT_HD_INLINE InPieces operator+(int i) const { return {first_piece_, first_ + i}; }

  private:
    unsigned char *first_piece_ = nullptr;
    int first_ = 0;
};
template <class Real, class ShapeOf> using Numbers = std::conditional_t<of_threads<ShapeOf>, InPieces<Real>, Real *>;
template <class Real, class ShapeOf> using Pairs = Numbers<Stored<Real, ShapeOf>, ShapeOf>;

// Those that stand from here on.
template <class Stored, class Real> CUDA_OPT_HD_INLINE Stored *pairs_from(Real *first) {
    return reinterpret_cast<Stored *>(first);
}
template <class Stored> CUDA_OPT_HD_INLINE InPieces<Stored> pairs_from(const InPieces<Stored> &first) { return first; }

// Bytes of the blocks of so many problems.
template <class Real, class ShapeOf> CUDA_OPT_HD constexpr int64_t blocks_bytes(ShapeOf shape, int64_t count) {
    if (of_threads<ShapeOf>) count = (count + side_by_side - 1) / side_by_side * side_by_side;
    return count * block_bytes<Real>(shape);
}

// What the sweeps answer with.
struct Told {
    PanelProducts products;
    DirectionSums direction;
};

// The answers, the products of the leading columns, and, where a state of known size has none, the coefficients of the
// direction.
template <class ShapeOf> CUDA_OPT_HD constexpr int leading_count(const ShapeOf &shape) { // but z's
    return panel::displacement * panel::columns(shape.m);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int coefficient_count(const ShapeOf &shape) {
    return serves_metrics<ShapeOf> ? 0 : panel::columns(shape.m);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t answers_bytes(const ShapeOf &shape) {
    return rounded_up(static_cast<int64_t>(sizeof(Told)) +
                      (leading_count(shape) + coefficient_count(shape)) * static_cast<int64_t>(sizeof(double)));
}
// The scratch, which there is within bounds: the products over the free variables; the rows' breakpoints; those that a
// window has crossed, with their entries, where in a metric the scaled panel stands before; the free rows.
template <class ShapeOf> CUDA_OPT_HD constexpr int entries_stride(const ShapeOf &shape) {
    return in_metric(shape) ? padded(panel::columns(shape.m)) : panel::columns(shape.m);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int older_count(const ShapeOf &shape) {
    return in_metric(shape) ? panel::older_count(shape.m) : 0;
}
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t scratch_doubles(ShapeOf shape) {
    const int columns = panel::columns(shape.m), rows = padded(shape.n);
    return int64_t{panel::gram_count(columns)} + older_count(shape) + rows + int64_t{rows} * entries_stride(shape);
}
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t scratch_bytes(ShapeOf shape) {
    if (!has_bounds<ShapeOf>) return 0;
    const int64_t of_rows = int64_t{shape.n} * static_cast<int64_t>(sizeof(CrossedVariable)) +
                            int64_t{padded(shape.n)} * static_cast<int64_t>(sizeof(int));
    return rounded_up(scratch_doubles(shape) * static_cast<int64_t>(sizeof(double)) + of_rows);
}
// What a team works with: the desk, the answers and the scratch, which may stand apart.
struct Working {
    unsigned char *desk, *answers, *scratch;
};
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t working_bytes(ShapeOf shape) {
    return desk_bytes(shape) + answers_bytes(shape) + scratch_bytes(shape);
}
template <class ShapeOf> CUDA_OPT_HD Working in_one_piece(const ShapeOf &shape, unsigned char *working) {
    unsigned char *const answers = working + desk_bytes(shape);
    return {working, answers, answers + answers_bytes(shape)};
}
// For few pairs the desk is so little that it may stand in a multiprocessor's shared memory, from one thread's to the
// next one's an odd number of 8 bytes, so that threads side by side are in different banks. Two warps of a
// multiprocessor at least, or it waits more than it saves. The answers stand there, too, but where all that is not near
// is so little that it stays in a cache, and a warp more of the multiprocessor gains more.
constexpr int few_variables = 8;
template <class ShapeOf> inline constexpr bool answers_are_near = !has_bounds<ShapeOf>; // n is not known
template <int n, int m, class History, bool bounds, bool keeps_search>
inline constexpr bool answers_are_near<FixedShape<n, m, History, bounds, keeps_search>> = n > few_variables;
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t near_bytes(const ShapeOf &shape) {
    return desk_bytes(shape) + (answers_are_near<ShapeOf> ? answers_bytes(shape) : 0);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t near_stride(ShapeOf shape) { return near_bytes(shape) + 8; }
// And the rest, the scratch last. Not nothing.
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t far_bytes(const ShapeOf &shape) {
    return working_bytes(shape) - near_bytes(shape) + 16;
}
template <class ShapeOf>
CUDA_OPT_HD Working in_two_pieces(const ShapeOf &shape, unsigned char *near, unsigned char *far) {
    if (answers_are_near<ShapeOf>) return {near, near + desk_bytes(shape), far};
    return {near, far, far + answers_bytes(shape)};
}
constexpr int fewest_near = 2;
// Within bounds, of not too many variables, or the vectors are what is waited for; and of pairs whose algebra stands in
// registers.
constexpr int most_near_within_bounds = 24;
template <class ShapeOf>
inline constexpr bool may_be_near =
    !has_bounds<ShapeOf> || (ShapeOf::n <= most_near_within_bounds && known_pairs<ShapeOf> <= dense::most_in_registers);

// Of a warp that has a functor's problem. Four to a block; in shared memory, if those have room in what a block may
// have on every device from compute capability 8.0 on.
constexpr int warps_of_block = 4;
constexpr int64_t most_shared_bytes = int64_t{99} * 1024;
template <class ShapeOf, class Real>
inline constexpr int64_t bytes_of_warp = working_bytes(ShapeOf{}) + vectors_bytes<Real>(ShapeOf{});
template <class ShapeOf, class Real>
inline constexpr bool warps_share = warps_of_block *(bytes_of_warp<ShapeOf, Real>) <= most_shared_bytes;
// Blocks on a multiprocessor that registers have to be enough for: four, or as many as find room in 227 kB.
template <class ShapeOf, class Real> constexpr int blocks_of_warps() {
    constexpr int64_t most = int64_t{227} * 1024, room = most / (warps_of_block * bytes_of_warp<ShapeOf, Real> + 1024);
    return !warps_share<ShapeOf, Real> || room > 4 ? 4 : static_cast<int>(room);
}

// Of few variables a problem's program is long for what it loads, and is what warps wait for, each at a place of its
// own. So those of a block wait for one another before each evaluation, and fetch it together; the block is as large as
// it may be.
template <class ShapeOf, class Real>
inline constexpr bool warps_meet = warps_share<ShapeOf, Real> &&ShapeOf::n <= most_of_thread;
constexpr int most_near_meeting = 10; // variables
template <class ShapeOf> inline constexpr bool near_warps_meet = ShapeOf::n <= most_near_meeting;
constexpr int most_warps_of_block = 16, most_near_warps = 4;
// Of so many there are, those of a block, from `least` to `most`: all multiprocessors are to have some.
constexpr int warps_for(int64_t all, int processors, int least, int most) {
    const int64_t shared_out = (all + processors - 1) / processors;
    return static_cast<int>(shared_out < least ? least : shared_out < most ? shared_out : most);
}

} // namespace cudaopt::batch
