// The sweeps: everything that costs time proportional to n. The state machine's requests are performed through this
// interface alone, the same for every backend and precision; below it, host threads or a GPU work on the variables.
//
// Vectors held by a backend, n each: m + 1 slots of (S, Y) columns and x_base, 2m + 3 in all, and two for an iterate
// that is put aside, if wanted, and one for a diagonal that is learned. The spare slot holds the direction d and the
// gradient at x_base while a line search goes on, and becomes a correction pair (s = step d, y = g - g_base) by nothing
// but a change of the slot's number once the step is accepted. The columns may be stored with fewer bits than x has:
// the gradient at x_base then has a vector of its own, d and y are rounded as they are stored, and all that is formed
// of them is formed of the rounded ones.
#pragma once

#include <cstdint>

#include "exec/cancellation.hpp"
#include "lbfgsb/box.hpp"
#include "lbfgsb/requests.hpp"
#include "lbfgsb/settings.hpp"
#include "boundary/failure.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// The caller's arrays, in the backend's memory space; l, u, diagonal may be NULL. A bound that has no array is one
// number for all variables, which the caller's precision holds exactly.
struct UserArrays {
    void *x, *g;
    double *f;
    const void *lower, *upper, *diagonal;
    double lower_all = -infinity, upper_all = infinity;
};

struct BackendOptions {
    int threads;    // host; 0: all of the machine's
    void *stream;   // CUDA
    bool aside;     // two vectors more, for save_best()
    int64_t metric; // learned: one more, for a diagonal of the sweeps' own, which takes the place of the caller's
    CancellationToken *cancellation; // checked while waiting; throws Interrupted
    bool timed = true;               // seconds() is wanted
};

// What a checkpoint holds besides numbers.
struct HeldVector {
    enum Kind {
        x,
        f,
        g,
        s_column,
        y_column,
        x_base,
        g_base,
        aside_x,
        aside_g,
        diagonal
    } kind;       // diagonal: that of weighted products
    int slot = 0; // of a column, or of the one that g_base will become
};

// The sums of a part of the variables, subtree by subtree (sweeps/segments.hpp), 0 <= subtree < OwnSegments'
// subtree_count(): those of several parts can be joined to the whole's bits. Of the last sweep that formed them.
class SubtreeSums {
  public:
    // The variables are [first, first + n) of `of`, cut at segments, and the caller's f is one number for each of these
    // or one for all. Before Sweeps::allocate(), each time.
    virtual void take_part(int64_t first, int64_t of, bool f_of_segments) = 0;
    virtual PanelProducts products(int subtree) const = 0; // f is not set
    virtual DirectionSums direction(int subtree) const = 0;
    virtual double f(int subtree) const = 0;              // where it is one number for each segment
    virtual ScaledSquares squares(int subtree) const = 0; // of the last of the three norms

  protected:
    ~SubtreeSums() = default;
};

class Sweeps {
  public:
    virtual ~Sweeps() = default;

    virtual void bind(const UserArrays &arrays) = 0;
    // Comes first in each solve. Allocates whatever is lacking; afterwards nothing is allocated. May throw
    // BackendFailure, and then holds nothing that it has not held before.
    virtual void allocate(int m, const BackendOptions &options) = 0;
    // In its place where there are no variables (a rank's part may be empty): fetch() and store() of f alone follow.
    virtual void follow(void *, CancellationToken *) {}
    virtual int64_t workspace_bytes() const = 0;

    // Check the arrays, and move x into the box. 4 n-vectors each; the second only where some of x lies outside and the
    // arrays are good, those of all ranks.
    virtual StartReport check_start() = 0;
    virtual void move_into_box() = 0;
    // Sweep 1: reads x, g, l, u and 2 pairs columns; writes nothing, but may already store y_new if fresh where g_base
    // has a vector of its own. 2 pairs + 4 n-vectors, less where it knows columns to be 0. In a metric one more, and
    // one with an update of the diagonal, which is written.
    virtual const PanelProducts &inner_products(const ProductsRequest &request) = 0;
    // Sweep 2: reads the same; writes d, g_base, x_base, x, and y_new if fresh and not yet stored. 2 pairs + 9
    // n-vectors.
    virtual void direction(const DirectionRequest &request) = 0;
    // Its sums. Where they are not at hand, they come with the next inner products.
    virtual DirectionSums direction_sums() = 0;
    virtual bool direction_sums_at_hand() const = 0;
    // Largest alpha <= 1 for which the truncated step stays in the box; same request. Rare.
    virtual double truncation(const DirectionRequest &request) = 0;
    // Variables with lo < breakpoint <= hi. 4 n-vectors.
    virtual CrossedWindow crossed(const PanelRequest &request, double lo, double hi) = 0;
    // x = P(x_base + step d). 5 n-vectors.
    virtual void step(int slot, double step) = 0;
    // Largest step along d that stays in the box. Rare.
    virtual double largest_step(int slot) = 0;
    // x = x_base, g = the gradient there, *f = f. 4 n-vectors.
    virtual void restore(int slot, double f) = 0;
    // The point that the direction in this slot starts from, and g there, are copied to vectors of their own; and back
    // to x and g, with *f = f. 4 n-vectors each. Rare; options.aside has to have been set.
    virtual void save_best(int slot) = 0;
    virtual void restore_best(double f) = 0;
    // y = g - g_base in this slot, as the next direction would form it. 3 n-vectors. Once a solve.
    virtual void finish_pair(int slot) = 0;
    // One of the backend's vectors or the caller's, as it is stored, to host memory and back. All that was asked for
    // before is done then. For a checkpoint.
    virtual void fetch(const HeldVector &which, void *to_host) = 0;
    virtual void store(const HeldVector &which, const void *from_host) = 0;
    virtual int64_t bytes_of(const HeldVector &which) const = 0;
    // ||x||_2 and ||P g||_2 by scaled sums, for those that the squares of sweep 1 cannot tell. 1 and 4 n-vectors. Rare.
    virtual double x_norm() = 0;
    virtual double projected_gradient_norm() = 0;
    // The 2-norm of the vector of x_i (P g)_i. 4 n-vectors. Rare.
    virtual double relative_gradient_norm() = 0;
    // First index whose diagonal element is not positive and finite, or n. 1 n-vector. Once, where there is one.
    virtual int64_t bad_diagonal() = 0;

    // Copy components [begin, begin + count) of the caller's x or g to host memory as doubles; for the log.
    virtual void read(const void *vector, int64_t begin, int count, double *to) = 0;
    // Where the backend can form such sums; else NULL.
    virtual SubtreeSums *subtree_sums() { return nullptr; }
    // Seconds the backend has worked, where it keeps its own clock (a GPU), else a negative number.
    virtual void begin_call() {}
    virtual void end_call() {}
    virtual double seconds() { return -1; }
};

} // namespace cudaopt
