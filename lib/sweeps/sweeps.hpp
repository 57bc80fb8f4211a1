// The sweeps: all operations whose cost is proportional to n. The state machine's requests are performed through this
// interface, which is the same for every backend and precision. A backend implements it by host threads or GPU kernels.
//
// A backend stores these vectors of n elements: m + 1 slots of S and Y columns and x_base, 2m + 3 in all, two more for
// a saved iterate if requested, and one more for a learned diagonal. The spare slot contains the direction d and the
// gradient at x_base during a line search. When the step is accepted, it becomes a correction pair (s = step d, y =
// g - g_base) merely by a change of the slot's number. The columns may be stored with fewer bits than x. The gradient
// at x_base then has a vector of its own, d and y are rounded when they are stored, and all results are computed from
// the rounded values.
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
    const void *scales = nullptr; // typical sizes of the variables (scaling/); without an array one for all
    double scale_all = 1;
};

struct BackendOptions {
    int threads;    // host; 0: all processors of the machine
    void *stream;   // CUDA
    bool aside;     // allocate two more vectors for save_best()
    int64_t metric; // learned: allocate one more vector for the sweeps' own diagonal, which replaces the caller's
    CancellationToken *cancellation; // checked while waiting; throws Interrupted
    bool timed = true;               // whether seconds() is needed
};

// The vectors that a checkpoint contains.
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
    } kind;       // diagonal: the weights of the products
    int slot = 0; // of a column, or the slot whose y column g_base will become
};

// The sums over a rank's part of the variables, one for each subtree (sweeps/segments.hpp), 0 <= subtree <
// OwnSegments::subtree_count(). Joining the sums of all ranks gives bitwise the total. They are the results of the last
// sweep of each kind.
class SubtreeSums {
  public:
    // Sets the part: the variables are [first, first + n) of `of` and begin and end at segments. f has either one value
    // for each of these segments or one value in all. It must be called before each Sweeps::allocate().
    virtual void take_part(int64_t first, int64_t of, bool f_of_segments) = 0;
    virtual PanelProducts products(int subtree) const = 0; // without f
    virtual DirectionSums direction(int subtree) const = 0;
    virtual double f(int subtree) const = 0;              // if f has one value per segment
    virtual ScaledSquares squares(int subtree) const = 0; // of the last of the three norms

  protected:
    ~SubtreeSums() = default;
};

class Sweeps {
  public:
    virtual ~Sweeps() = default;

    virtual void bind(const UserArrays &arrays) = 0;
    // The first call of each solve. It allocates what does not exist yet; later calls allocate nothing. It may throw
    // BackendFailure and then leaves the previously allocated memory as it was.
    virtual void allocate(int m, const BackendOptions &options) = 0;
    // Replaces allocate() on a rank without variables; only fetch() and store() of f follow.
    virtual void follow(void *, CancellationToken *) {}
    virtual int64_t workspace_bytes() const = 0;

    // Check the arrays, and project x on the box. 4 n-vectors each. move_into_box() is called only if some components
    // of x lie outside and the arrays of all ranks are valid.
    virtual StartReport check_start() = 0;
    virtual void move_into_box() = 0;
    // Sweep 1 reads x, g, l, u and 2 * pairs columns, and writes nothing. If g_base has a vector of its own, it may
    // already store a fresh y_new. It accesses 2 * pairs + 4 n-vectors, or fewer if columns are known to be 0. A
    // diagonal initial Hessian adds one n-vector, and an update of the diagonal, which is written, another one.
    virtual const PanelProducts &inner_products(const ProductsRequest &request) = 0;
    // Sweep 2 reads the same vectors and writes d, g_base, x_base, x, and a fresh y_new that is not yet stored. It
    // accesses 2 * pairs + 9 n-vectors.
    virtual void direction(const DirectionRequest &request) = 0;
    // The sums of sweep 2. If they are not immediately available, they are returned with the next inner products.
    virtual DirectionSums direction_sums() = 0;
    virtual bool direction_sums_at_hand() const = 0;
    // Returns the largest alpha <= 1 for which the truncated step stays in the box, for the same request. Rarely
    // called.
    virtual double truncation(const DirectionRequest &request) = 0;
    // Returns the variables with lo < breakpoint <= hi. 4 n-vectors.
    virtual CrossedWindow crossed(const PanelRequest &request, double lo, double hi) = 0;
    // Computes x = P(x_base + step d). 5 n-vectors.
    virtual void step(int slot, double step) = 0;
    // Returns the largest step along d that stays in the box. Rarely called.
    virtual double largest_step(int slot) = 0;
    // Restores x = x_base, g = the gradient there and *f = f. 4 n-vectors.
    virtual void restore(int slot, double f) = 0;
    // save_best() copies the base point of the direction in this slot, and g there, to vectors of their own.
    // restore_best() copies them back to x and g and sets *f = f. 4 n-vectors each. Rarely called; they require
    // options.aside.
    virtual void save_best(int slot) = 0;
    virtual void restore_best(double f) = 0;
    // Stores y = g - g_base in this slot, as the next direction would do. 3 n-vectors, once per solve.
    virtual void finish_pair(int slot) = 0;
    // Copies one of the backend's vectors, or of the caller's, to host memory and back, in its storage format. Both
    // wait for all earlier work. For checkpoints.
    virtual void fetch(const HeldVector &which, void *to_host) = 0;
    virtual void store(const HeldVector &which, const void *from_host) = 0;
    virtual int64_t bytes_of(const HeldVector &which) const = 0;
    // ||x||_2 and ||P g||_2 by scaled sums, used if the squares in sweep 1 overflow or underflow. 1 and 4 n-vectors.
    // Rarely called.
    virtual double x_norm() = 0;
    virtual double projected_gradient_norm() = 0;
    // The 2-norm of the vector of x_i (P g)_i. 4 n-vectors. Rarely called.
    virtual double relative_gradient_norm() = 0;
    // Returns the first index whose diagonal element is not positive and finite, or n. 1 n-vector, once per solve with
    // a diagonal.
    virtual int64_t bad_diagonal() = 0;

    // Copies components [begin, begin + count) of the caller's x or g to host memory as doubles, for the log.
    virtual void read(const void *vector, int64_t begin, int count, double *to) = 0;
    // Returns NULL if the backend cannot form sums by subtree.
    virtual SubtreeSums *subtree_sums() { return nullptr; }
    // Returns the seconds that the backend has worked if it measures time itself (a GPU); otherwise a negative number.
    virtual void begin_call() {}
    virtual void end_call() {}
    virtual double seconds() { return -1; }
};

} // namespace cudaopt
