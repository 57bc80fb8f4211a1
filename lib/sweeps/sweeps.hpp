// The sweeps are all operations whose cost is proportional to n. The state machine's requests are performed through
// this interface, which is the same for every backend and precision. A backend implements it by host threads or GPU
// kernels.
//
// A backend stores 2m + 3 vectors of n elements: m + 1 slots, each with one column of S and one of Y, and x_base. It
// stores two more for a saved iterate if requested, and one more for a learned diagonal. During a line search the spare
// slot contains the direction d and the gradient at x_base. When the step is accepted, it becomes a correction pair (s
// = step d, y = g - g_base) merely by a change of the slot's number.
//
// The columns may be stored with fewer bits than x. The gradient at x_base then has a vector of its own. d and y are
// rounded when they are stored, and all results are computed from the rounded values.
#pragma once

#include <cstdint>

#include "exec/cancellation.hpp"
#include "lbfgsb/box.hpp"
#include "lbfgsb/requests.hpp"
#include "lbfgsb/settings.hpp"
#include "boundary/failure.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// The caller's arrays in the backend's memory space; l, u and diagonal may be NULL. A bound without an array has one
// value for all variables, which is exactly representable in the caller's precision.
struct UserArrays {
    void *x, *g;
    double *f;
    const void *lower, *upper, *diagonal;
    double lower_all = -infinity, upper_all = infinity;
    // The typical sizes of the variables (scaling/): an array, or scale_all for all variables if it is NULL.
    const void *scales = nullptr;
    double scale_all = 1;
};

struct BackendOptions {
    int threads;  // number of host threads; 0: all processors of the machine
    void *stream; // the CUDA stream; not used on the host
    bool aside;   // whether to allocate two more vectors for save_best()
    // If the diagonal is learned, one more vector is allocated for the diagonal of the sweeps, which replaces the
    // caller's.
    int64_t metric;
    CancellationToken *cancellation; // checked during waits; throws Interrupted
    bool timed = true;               // whether seconds() is needed
};

// Identifies a vector that a checkpoint contains.
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
    } kind;       // x to g: the caller's vectors; diagonal: the weights h
    int slot = 0; // the slot of a column; for g_base, the slot whose y column g_base will become
};

// The sums of the last sweep of each kind over the variables of a rank, one sum for each subtree of the summation tree
// (sweeps/segments.hpp). Subtrees are numbered 0 <= subtree < OwnSegments::subtree_count(). Joining the sums of all
// ranks gives bitwise the total.
class SubtreeSums {
  public:
    // Sets the variables of the rank, which are first <= i < first + n of `of`. They consist of whole segments. The
    // caller's f has one value for each of these segments if f_of_segments is true, and one value in all otherwise. The
    // function must be called before each Sweeps::allocate().
    virtual void take_part(int64_t first, int64_t of, bool f_of_segments) = 0;
    virtual PanelProducts products(int subtree) const = 0; // the result does not include f
    virtual DirectionSums direction(int subtree) const = 0;
    virtual double f(int subtree) const = 0;              // allowed only if f has one value per segment
    virtual ScaledSquares squares(int subtree) const = 0; // result of the last of the three norm functions

  protected:
    ~SubtreeSums() = default;
};

class Sweeps {
  public:
    virtual ~Sweeps() = default;

    virtual void bind(const UserArrays &arrays) = 0;
    // Called first in each solve. It allocates memory that does not exist yet, and later calls allocate nothing. It may
    // throw BackendFailure; memory that was allocated before is then unchanged.
    virtual void allocate(int m, const BackendOptions &options) = 0;
    // Replaces allocate() on a rank without variables. Only fetch() and store() of f are called afterwards.
    virtual void follow(void *, CancellationToken *) {}
    virtual int64_t workspace_bytes() const = 0;

    // The next functions check the caller's arrays and project x on the box. Each accesses 4 n-vectors. move_into_box()
    // is called only if some components of x lie outside the box and the arrays of all ranks are valid.
    virtual StartReport check_start() = 0;
    virtual void move_into_box() = 0;
    // Sweep 1, the inner products. It reads x, g, l, u and 2 * pairs columns, and writes nothing, except that it may
    // store a new y if g_base has a vector of its own. It accesses 2 * pairs + 4 n-vectors, or fewer if columns are
    // known to be 0. A diagonal initial Hessian adds one n-vector. An update of the diagonal, which is written, adds
    // another one.
    virtual const PanelProducts &inner_products(const ProductsRequest &request) = 0;
    // Sweep 2, the direction. It reads the same vectors and writes d, g_base, x_base, x, and a new y that is not stored
    // yet. It accesses 2 * pairs + 9 n-vectors.
    virtual void direction(const DirectionRequest &request) = 0;
    // Returns the sums of sweep 2. If they are not immediately available, they are returned with the next inner
    // products.
    virtual DirectionSums direction_sums() = 0;
    virtual bool direction_sums_at_hand() const = 0;
    // Returns the largest alpha <= 1 for which the direction of the same request, multiplied by alpha, stays in the
    // box. It is rarely called.
    virtual double truncation(const DirectionRequest &request) = 0;
    // Returns the variables whose breakpoint t on the projected path satisfies lo < t <= hi. It reads 4 n-vectors.
    virtual CrossedWindow crossed(const PanelRequest &request, double lo, double hi) = 0;
    // Computes the trial point x = P(x_base + step d). It accesses 5 n-vectors. slot: the slot that contains d.
    virtual void step(int slot, double step) = 0;
    // Returns the largest step along d that stays in the box. It is rarely called.
    virtual double largest_step(int slot) = 0;
    // Restores x = x_base, g = the gradient there, and *f = f. It accesses 4 n-vectors.
    virtual void restore(int slot, double f) = 0;
    // save_best() copies x_base of the direction in this slot, and the gradient there, to the vectors for the saved
    // iterate. restore_best() copies them back to x and g and sets *f = f. Each accesses 4 n-vectors. They are rarely
    // called and require options.aside.
    virtual void save_best(int slot) = 0;
    virtual void restore_best(double f) = 0;
    // Stores y = g - g_base in this slot, as the sweep of the next direction would do. It accesses 3 n-vectors and is
    // called once per solve.
    virtual void finish_pair(int slot) = 0;
    // For checkpoints. fetch() copies one of the backend's or of the caller's vectors to host memory in its storage
    // format, and store() copies it back. Both wait for all earlier work.
    virtual void fetch(const HeldVector &which, void *to_host) = 0;
    virtual void store(const HeldVector &which, const void *from_host) = 0;
    virtual int64_t bytes_of(const HeldVector &which) const = 0;
    // The next functions return ||x||_2 and ||P g||_2 by scaled sums of squares. They are used in the rare case that
    // the squares in sweep 1 overflow or underflow. They read 1 and 4 n-vectors.
    virtual double x_norm() = 0;
    virtual double projected_gradient_norm() = 0;
    // Returns the 2-norm of the vector with components x_i (P g)_i. It reads 4 n-vectors. It is rarely called.
    virtual double relative_gradient_norm() = 0;
    // Returns the first index whose diagonal element is not positive and finite, or n. It reads 1 n-vector, once per
    // solve with a diagonal.
    virtual int64_t bad_diagonal() = 0;

    // Copies components begin <= i < begin + count of the caller's x or g to host memory as doubles. The log uses it.
    virtual void read(const void *vector, int64_t begin, int count, double *to) = 0;
    // Returns the sums by subtree of the summation tree, or NULL if the backend cannot form them.
    virtual SubtreeSums *subtree_sums() { return nullptr; }
    // Returns the seconds that the backend has worked if it measures time itself (a GPU); otherwise a negative number.
    virtual void begin_call() {}
    virtual void end_call() {}
    virtual double seconds() { return -1; }
};

} // namespace cudaopt
