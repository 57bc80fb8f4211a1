// The layout in memory of one small problem. A team, which is one thread or one warp, works on the problem; the threads
// of a team are called lanes. The data has three parts, whose sizes are functions of n, m and the precision:
// - the persistent data, which survives from one evaluation to the next: the iteration, the compact matrix and the
// initial Hessian;
// - the vectors of n elements: x, g, copies of x and g at the base point (where the line search begins) and at the best
// iterate, and the correction pairs;
// - the workspace of the team: a copy of the persistent data, the results of the sweeps over the variables ("replies"),
// the operands of the sweeps, and the transient data, which is lost at an evaluation.
//
// The panel is the matrix of n rows whose columns are y, s, g and z of the newest pair, then y and s of the older ones
// (lbfgsb/panel.hpp). z is the displacement of the variables that the Cauchy path has fixed at bounds.
//
// A shape contains the properties of a problem that are compile-time constants of its kernel. The last part of this
// file determines what a GPU stores in shared memory, and how many threads or warps a block has.
#pragma once

#include <type_traits>

#include "dense/bfloat16.hpp"
#include "lbfgsb/initial_hessian.hpp"
#include "lbfgsb/iteration.hpp"

namespace cudaopt::batch {

// The largest n of a small problem. The Cauchy search can then fetch all breakpoints of a problem at once.
constexpr int most_variables = crossed_capacity;
constexpr int most_pairs = 64, default_pairs = 10; // the latter if the caller gives m = 0
// Variables and columns are processed in groups of this size. Incomplete groups are padded with zeros.
constexpr int granule = 4;

// ---- shapes. The members `known_n` and `pairs` are n and m, or 0 if n or m is set at run time.

struct Shape {
    using History = void;
    static constexpr int known_n = 0, pairs = 0;
    static constexpr bool bounds = true, weights = true, of_threads = false;
    int n, m;
    // True if each variable has a weight h_i, for an initial Hessian that is not a multiple of the identity.
    bool metric = false;
};

// A shape whose n, m and history precision are compile-time constants. weights_: whether variables have weights.
template <int n_, int m_, class History_, bool bounds_ = true, bool weights_ = false> struct FixedShape {
    using History = History_;
    static constexpr int n = n_, known_n = n_, m = m_, pairs = m_;
    static constexpr bool bounds = bounds_, weights = weights_, of_threads = false;
};

// A shape whose m is a compile-time constant. n is set at run time.
template <int m_, bool bounds_ = true, bool weights_ = false> struct ShapeOfPairs {
    using History = void;
    static constexpr int known_n = 0, m = m_, pairs = m_;
    static constexpr bool bounds = bounds_, weights = weights_, of_threads = false;
    int n;
};

// Like ShapeOfPairs, for kernels that solve each problem by one thread of a device. n is at most most_of_thread.
template <int m_, bool bounds_ = true, bool weights_ = false> struct ThreadShape : ShapeOfPairs<m_, bounds_, weights_> {
    static constexpr bool of_threads = true;
};
constexpr int most_of_thread = 32; // the largest n with one thread per problem

// The least number of problems in a batch for which one thread per problem is used instead of one warp per problem. On
// an H200 both take the same time for 3,000 problems of 5 variables and for 4,000 problems of 20 variables.
constexpr int64_t many_problems = 5000;
// The same limit for functors with bounds and more than most_shared_within_bounds (24) variables. It is larger, because
// their persistent data is not in shared memory. On an H100 both ways take the same time for 30,000 problems of 32
// variables, and for 7,500 of 20 variables with 10 pairs, for which many_problems is used.
constexpr int64_t many_large_problems = 30000;

template <class ShapeOf> CUDA_OPT_HD constexpr ShapeOf shape_of(Shape shape) {
    if constexpr (ShapeOf::pairs == 0) return shape;
    else return {shape.n};
}

template <class ShapeOf> CUDA_OPT_HD constexpr bool in_metric(const ShapeOf &shape) {
    if constexpr (ShapeOf::pairs == 0) return shape.metric;
    else return ShapeOf::weights;
}

// Returns whether the history is treated as full from the start, with zeros for missing pairs (compact_matrix.hpp).
// This depends on m alone, so that the results have the same bits if m is a compile-time constant.
template <class ShapeOf> CUDA_OPT_HD constexpr bool is_full(const ShapeOf &shape) {
    return shape.m <= dense::most_unrolled;
}

// The number of variables whose data a device thread loads in advance. With few variables a larger number does not save
// time. With bounds or by reverse communication, no registers are left for a larger number.
template <class ShapeOf>
inline constexpr int loaded_in_advance = ShapeOf::bounds || ShapeOf::known_n <= 10 ? 1
                                         : ShapeOf::known_n > 64                   ? 5
                                                                                   : 3;

// The number of variables for which a device thread issues loads before it waits for the first of them.
template <class ShapeOf>
inline constexpr int loaded_together = ShapeOf::known_n > 0 && ShapeOf::known_n < 8 ? ShapeOf::known_n : 4;

// ---- persistent data and vectors

CUDA_OPT_HD constexpr int padded(int count) { return (count + granule - 1) / granule * granule; }

// The vectors of a problem have padded(n) elements: x, g, x_base and g_base (at the base point, where the line search
// begins), the best x and its g, and the weights h if there are any. The correction pairs follow, with 2 (m + 1)
// elements per variable: y and d of each pair, where s = step d. The newest pair is always stored first. Therefore the
// threads of a warp read the same offset, although their problems are at different iterates.
enum Vector { at_x, at_g, at_x_base, at_g_base, at_best_x, at_best_g, at_h };
template <class ShapeOf> CUDA_OPT_HD constexpr int vector_count(const ShapeOf &shape) {
    return at_h + in_metric(shape);
}
CUDA_OPT_HD constexpr int row_stride(int m) { return 2 * (m + 1); }

// The type in which the correction pairs are stored: that of the vectors, unless the shape has a History.
template <class Real, class ShapeOf>
using Stored = std::conditional_t<std::is_void_v<typename ShapeOf::History>, Real, typename ShapeOf::History>;

// If m is not a compile-time constant, the arrays of the compact matrix follow the object in memory.
template <class ShapeOf> struct Persistent {
    double f = 0;
    int64_t front = 0; // the slot of the pair that is stored first; the pairs use the slots 0 to m cyclically
    Iteration iteration;
    std::conditional_t<ShapeOf::weights, InitialHessian, ScalarInitialHessian> hessian;
    CompactMatrix<ShapeOf::pairs> matrix;
};

// Returns the size in bytes of the arrays that follow an object in memory.
template <class Object> CUDA_OPT_HD constexpr int64_t arrays_bytes(int m) {
    Object object;
    dense::CountArrays count;
    object.each_array(m, count);
    return count.doubles * static_cast<int64_t>(sizeof(double));
}

CUDA_OPT_HD constexpr int64_t rounded_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t persistent_bytes(ShapeOf shape) {
    return rounded_up(static_cast<int64_t>(sizeof(Persistent<ShapeOf>)) +
                      arrays_bytes<CompactMatrix<ShapeOf::pairs>>(shape.m));
}
template <class Real, class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t vectors_bytes(ShapeOf shape) {
    return rounded_up(vector_count(shape) * padded(shape.n) * static_cast<int64_t>(sizeof(Real)) +
                      shape.n * row_stride(shape.m) * static_cast<int64_t>(sizeof(Stored<Real, ShapeOf>)));
}
// Returns the size of the memory block of a problem, which exists until the batch ends.
template <class Real, class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t block_bytes(ShapeOf shape) {
    return persistent_bytes(shape) + vectors_bytes<Real>(shape);
}

// The memory blocks of 32 problems are interleaved in units of 8 bytes (Word): the k-th units of all these problems are
// contiguous. The threads of a warp, each with its own problem, then access contiguous memory.
#ifdef __CUDACC__ // nvcc, without type-based alias analysis, needs no attribute
typedef uint64_t Word;
#else
typedef uint64_t __attribute__((may_alias)) Word;
#endif
constexpr int64_t word_bytes = sizeof(Word);
constexpr int side_by_side = 32;
CUDA_OPT_HD constexpr int64_t words_for(int64_t bytes) { return (bytes + word_bytes - 1) / word_bytes; }
CUDA_OPT_HD constexpr int64_t interleaved_offset(int64_t p, int64_t bytes_of_block, int64_t offset) {
    return (p / side_by_side * words_for(bytes_of_block) + offset / word_bytes) * side_by_side * word_bytes +
           p % side_by_side * word_bytes + offset % word_bytes;
}

// A pointer to elements of an interleaved memory block.
template <class Real> class Interleaved {
  public:
    Interleaved() = default;
    CUDA_OPT_HD_INLINE Interleaved(unsigned char *first_word, int first) : first_word_(first_word), first_(first) {}
    CUDA_OPT_HD_INLINE Real &operator[](int i) const {
        constexpr int per_word = static_cast<int>(word_bytes / sizeof(Real));
        const int k = first_ + i;
        return *reinterpret_cast<Real *>(first_word_ + int64_t{k / per_word} * (side_by_side * word_bytes) +
                                         k % per_word * static_cast<int>(sizeof(Real)));
    }
    CUDA_OPT_HD_INLINE Interleaved operator+(int i) const { return {first_word_, first_ + i}; }

  private:
    unsigned char *first_word_ = nullptr;
    int first_ = 0;
};
template <class Real, class ShapeOf> using Numbers = std::conditional_t<ShapeOf::of_threads, Interleaved<Real>, Real *>;
template <class Real, class ShapeOf> using Pairs = Numbers<Stored<Real, ShapeOf>, ShapeOf>;

// Returns a pointer to the correction pairs, whose first element is at `first`.
template <class Stored, class Real> CUDA_OPT_HD_INLINE Stored *pairs_from(Real *first) {
    return reinterpret_cast<Stored *>(first);
}
template <class Stored> CUDA_OPT_HD_INLINE Interleaved<Stored> pairs_from(const Interleaved<Stored> &first) {
    return first;
}

template <class Real, class ShapeOf> CUDA_OPT_HD constexpr int64_t blocks_bytes(ShapeOf shape, int64_t count) {
    if (ShapeOf::of_threads) count = (count + side_by_side - 1) / side_by_side * side_by_side;
    return count * block_bytes<Real>(shape);
}

// ---- the workspace of a team

// The results of the sweeps, and the operands of the next sweep, which the first lane writes and all lanes read.
struct Replies {
    PanelProducts products;
    DirectionSums direction;
};
struct Operands {
    PanelRequest panel; // the inner products to be computed next
    DiagonalUpdate update;
    DirectionRequest direction;
};

// The data of the Cauchy search. It is stored in memory rather than in registers, because the dense linear algebra
// needs all registers (docs/notes/batch.md). M is the middle matrix of the compact representation, and K the matrix of
// the subspace minimisation (compact_matrix.hpp). If m is not a compile-time constant, these arrays follow the object
// in memory: those of the Cauchy search, the workspace of the subspace minimisation, and the factors of M^-1, which
// those of K overwrite later. Otherwise the arrays are members or local variables.
template <int M> struct Transient {
    CauchySearch<M> cauchy;
    dense::KeptRoom<M> subspace;
    std::conditional_t<M == 0, dense::QuasiDefinite, dense::Nothing> factors;
    template <class Visit> CUDA_OPT_HD constexpr void each_array(int m, Visit &visit) {
        cauchy.each_array(m, visit);
        visit(subspace, 2 * m);
        if constexpr (M == 0) factors.each_array(m, visit);
    }
};
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t transient_bytes(const ShapeOf &shape) {
    using Type = Transient<ShapeOf::pairs>;
    return ShapeOf::bounds ? static_cast<int64_t>(sizeof(Type)) + arrays_bytes<Type>(shape.m) : 0;
}

// Two arrays follow the replies in memory: the products of the leading columns without z with all columns, and the
// coefficients of the direction. This function returns the length of the first array.
template <class ShapeOf> CUDA_OPT_HD constexpr int leading_count(const ShapeOf &shape) {
    return panel::displacement * panel::columns(shape.m);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t replies_bytes(const ShapeOf &shape) {
    return rounded_up(static_cast<int64_t>(sizeof(Replies)) +
                      (leading_count(shape) + panel::columns(shape.m)) * static_cast<int64_t>(sizeof(double)));
}
// The scratch memory contains the operands of the sweeps and the transient data. With bounds it also contains
// - the inner products over the free variables;
// - the breakpoints;
// - the variables whose breakpoints lie in the interval that the Cauchy search examines, with their rows of the panel;
// - the list of free variables.
//
// If the initial Hessian is a diagonal, the scaled panel uses the memory of these rows before they are written.
template <class ShapeOf> CUDA_OPT_HD constexpr int entries_stride(const ShapeOf &shape) {
    return in_metric(shape) ? padded(panel::columns(shape.m)) : panel::columns(shape.m);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int older_count(const ShapeOf &shape) {
    return in_metric(shape) ? panel::older_count(shape.m) : 0;
}
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t scratch_bytes(ShapeOf shape) {
    const int64_t first = rounded_up(sizeof(Operands)) + rounded_up(transient_bytes(shape));
    if (!ShapeOf::bounds) return first;
    const int columns = panel::columns(shape.m), rows = padded(shape.n);
    const int64_t doubles =
        int64_t{panel::gram_count(columns)} + older_count(shape) + rows + int64_t{rows} * entries_stride(shape);
    return first + rounded_up(doubles * static_cast<int64_t>(sizeof(double)) +
                              int64_t{shape.n} * static_cast<int64_t>(sizeof(CrossedVariable)) +
                              int64_t{rows} * static_cast<int64_t>(sizeof(int)));
}
// The addresses of the three parts of a workspace, which may be in different memory spaces.
struct Workspace {
    unsigned char *persistent, *replies, *scratch;
};
template <class ShapeOf = Shape> CUDA_OPT_HD constexpr int64_t workspace_bytes(ShapeOf shape) {
    return persistent_bytes(shape) + replies_bytes(shape) + scratch_bytes(shape);
}
template <class ShapeOf> CUDA_OPT_HD Workspace in_one_piece(const ShapeOf &shape, unsigned char *memory) {
    unsigned char *const replies = memory + persistent_bytes(shape);
    return {memory, replies, replies + replies_bytes(shape)};
}

// ---- one thread per problem with its persistent data in shared memory

// The persistent data of neighbouring threads is an odd multiple of 8 bytes apart in shared memory, so that they access
// different banks. If n is a compile-time constant, the replies are stored there, too, if n > few_variables. With fewer
// variables a cache holds all data that is not in shared memory. The shared memory of the replies then serves better to
// run one more warp per multiprocessor. If n is set at run time, the replies are stored there without bounds only.
constexpr int few_variables = 8;
template <class ShapeOf>
inline constexpr bool replies_in_shared = ShapeOf::known_n > 0 ? ShapeOf::known_n > few_variables : !ShapeOf::bounds;
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t shared_bytes(const ShapeOf &shape) {
    return persistent_bytes(shape) + (replies_in_shared<ShapeOf> ? replies_bytes(shape) : 0);
}
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t shared_stride(ShapeOf shape) { return shared_bytes(shape) + 8; }
template <class ShapeOf> CUDA_OPT_HD constexpr int64_t local_bytes(const ShapeOf &shape) {
    // The 16 additional bytes prevent an array of length 0, which C++ does not allow.
    return workspace_bytes(shape) - shared_bytes(shape) + 16;
}
template <class ShapeOf>
CUDA_OPT_HD Workspace in_two_pieces(const ShapeOf &shape, unsigned char *shared, unsigned char *local) {
    if (replies_in_shared<ShapeOf>) return {shared, shared + persistent_bytes(shape), local};
    return {shared, local, local + replies_bytes(shape)};
}
// The least number of warps per multiprocessor for which shared memory is used. Fewer warps do not hide the latency.
constexpr int least_shared_warps = 2;
// For problems with bounds, the largest n for which the persistent data is stored in shared memory, which limits the
// number of threads. With more variables, too few threads remain to hide the latency of loading the vectors. m is
// limited as well: the matrices of the dense linear algebra must fit into registers.
constexpr int most_shared_within_bounds = 24;
template <class ShapeOf>
inline constexpr bool state_fits_shared =
    !ShapeOf::bounds || (ShapeOf::n <= most_shared_within_bounds && ShapeOf::pairs <= dense::most_in_registers);

// ---- one warp per problem whose f is a functor

// A block has four warps with one problem each, and more if the warps synchronise (evaluation_needs_block_sync). The
// data is in shared memory if four problems fit into 99 kB, as every device of capability 8.0 or higher has.
constexpr int warps_of_block = 4;
constexpr int64_t most_shared_bytes = int64_t{99} * 1024;
template <class ShapeOf, class Real>
inline constexpr int64_t bytes_of_warp = workspace_bytes(ShapeOf{}) + vectors_bytes<Real>(ShapeOf{});
template <class ShapeOf, class Real>
inline constexpr bool warps_share = warps_of_block *(bytes_of_warp<ShapeOf, Real>) <= most_shared_bytes;
// Returns the number of blocks that a multiprocessor executes at once: four, or fewer if the shared memory of 227 kB
// does not suffice for four. The compiler limits the registers per thread accordingly.
template <class ShapeOf, class Real> constexpr int blocks_of_warps() {
    constexpr int64_t most = int64_t{227} * 1024, room = most / (warps_of_block * bytes_of_warp<ShapeOf, Real> + 1024);
    return !warps_share<ShapeOf, Real> || room > 4 ? 4 : static_cast<int>(room);
}

// True if the warps of a block synchronise before each evaluation. With few variables a problem executes many
// instructions per loaded value. Warps that execute different parts of the program then suffer from instruction cache
// misses. Synchronised warps fetch the same instructions, and a block has up to most_warps_of_block warps.
template <class ShapeOf, class Real>
inline constexpr bool evaluation_needs_block_sync = warps_share<ShapeOf, Real> &&ShapeOf::n <= most_of_thread;
// The largest n for which the threads of a block synchronise in the same way if each solves one problem.
constexpr int most_synchronised = 10;
template <class ShapeOf> inline constexpr bool threads_need_block_sync = ShapeOf::n <= most_synchronised;
constexpr int most_warps_of_block = 16, most_shared_warps = 4;
// Returns the number of warps per block, from `least` to `most`, that uses all multiprocessors for `all` warps.
constexpr int warps_for(int64_t all, int processors, int least, int most) {
    const int64_t shared_out = (all + processors - 1) / processors;
    return static_cast<int>(shared_out < least ? least : shared_out < most ? shared_out : most);
}

} // namespace cudaopt::batch
