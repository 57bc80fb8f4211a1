// A sweep is an operation whose cost is proportional to n, the number of variables. The state machine of L-BFGS-B
// requests sweeps through this interface, which is the same for every backend and precision. A backend implements the
// sweeps by host threads or by GPU kernels.
//
// For m correction pairs, a backend stores 2m + 3 vectors of n elements: the vector x_base, and m + 1 slots, each with
// one column of S and one column of Y. If requested, the backend stores two more vectors for a saved iterate and one
// more for a learned diagonal. The spare slot contains no correction pair. During a line search from the point x_base,
// it contains the direction d and the gradient g_base at x_base. When a step is accepted, this slot becomes a
// correction pair with s = step d and y = g - g_base. Then only the number of the spare slot changes, and no vector is
// copied.
//
// The columns of S and Y may be stored with fewer bits than x. In that case, g_base is stored in a vector of its own.
// The vectors d and y are rounded when they are stored, and all results are computed from the rounded values.
#pragma once

#include <cstdint>

#include "exec/cancellation.hpp"
#include "lbfgsb/box.hpp"
#include "lbfgsb/requests.hpp"
#include "lbfgsb/settings.hpp"
#include "boundary/message.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// UserArrays contains the caller's arrays, which are in the backend's memory space. The pointers to the bounds and to
// the diagonal may be NULL. A bound without an array has the same value for all variables, which is exactly
// representable in the caller's precision.
struct UserArrays {
    void *x, *g;
    double *f;
    const void *lower, *upper, *diagonal;
    double lower_all = -infinity, upper_all = infinity;
    // The typical sizes of the variables (lib/scaling): an array or, if it is NULL, the value scale_all for all
    // variables.
    const void *scales = nullptr;
    double scale_all = 1;
    // Required for an operator as initial Hessian: the vector to which the caller applies it, the result, and the mask
    // of the free variables.
    void *operator_in = nullptr, *operator_out = nullptr, *operator_free = nullptr;
};

struct BackendOptions {
    int threads;  // the number of host threads; 0 selects it automatically (exec/thread_pool.hpp)
    void *stream; // the CUDA stream; the host backend does not use it
    bool aside;   // whether to allocate the two vectors that save_best() needs
    // The kind of initial Hessian. For a learned diagonal, the backend allocates one more vector, which the sweeps then
    // use instead of the caller's diagonal.
    int64_t metric;
    CancellationToken *cancellation; // the backend checks this token while it waits; the check may throw Interrupted
    bool timed = true;               // whether the caller needs the result of seconds()
};

// HeldVector identifies a vector that a checkpoint contains. The kinds x, f and g are the caller's vectors. `diagonal`
// is the diagonal h of the initial inverse Hessian, and aside_x and aside_g are the saved iterate and its gradient.
struct HeldVector {
    enum Kind { x, f, g, s_column, y_column, x_base, g_base, aside_x, aside_g, diagonal } kind;
    // The slot of a column. For g_base, it is the slot in which y = g - g_base will be stored.
    int slot = 0;
};

// The addresses of the history (sweeps/work_vectors.hpp): the first vector, the distance between two vectors in
// elements, and the number of pairs.
struct HistoryVectors {
    void *first = nullptr;
    int64_t pitch = 0;
    int m = 0;
};

// SubtreeSums provides the sums of the last sweep of each kind over the variables of one rank. There is one sum for
// each subtree of the summation tree (sweeps/segments.hpp). Subtrees are numbered 0 <= subtree <
// OwnSegments::subtree_count(). Joining the sums of all ranks gives bitwise the total of a single process.
class SubtreeSums {
  public:
    // Sets the variables of the rank, which are first <= i < first + n of `of` variables. They consist of whole
    // segments. If f_of_segments is true, the caller provides one value of f for each of these segments, and otherwise
    // a single value. The function must be called before each call of Sweeps::allocate().
    virtual void take_part(int64_t first, int64_t of, bool f_of_segments) = 0;
    virtual PanelProducts products(int subtree) const = 0; // the inner products, without f
    virtual DirectionSums direction(int subtree) const = 0;
    virtual double f(int subtree) const = 0;              // allowed only if the caller provides f per segment
    virtual ScaledSquares squares(int subtree) const = 0; // the sum of squares of the latest norm()

  protected:
    ~SubtreeSums() = default;
};

class Sweeps {
  public:
    virtual ~Sweeps() = default;

    virtual void bind(const UserArrays &arrays) = 0;
    // Allocates the memory that does not exist yet, and must be called first in each solve. If all memory exists, it
    // allocates nothing. If allocate() throws BackendFailure, memory from earlier calls is unchanged.
    virtual void allocate(int m, const BackendOptions &options) = 0;
    // Replaces allocate() on a rank without variables. Such a rank performs no sweeps: only f is read and written, by
    // fetch() and store().
    virtual void follow(void *, CancellationToken *) {}
    virtual int64_t workspace_bytes() const = 0;
    // Returns the history for sweeps that are written elsewhere (operator/). Each sweep that writes to the columns is
    // preceded by a call of this function.
    virtual HistoryVectors history() { return {}; }

    // The function check_start() checks the caller's arrays, and move_into_box() projects x onto the box. Each accesses
    // 4 vectors of n elements. The solver calls move_into_box() only if some components of x lie outside the box and
    // the arrays of all ranks are valid.
    virtual StartReport check_start() = 0;
    virtual void move_into_box() = 0;
    // Computes the inner products of the vectors y and s of `pairs` correction pairs and of g and z (lbfgsb/panel.hpp);
    // this is called sweep 1. It reads x, g, l, u and 2 * pairs columns of S and Y. It writes nothing, except that it
    // may store a new y if g_base has its own vector. In total it accesses 2 * pairs + 4 vectors of n elements, or
    // fewer if columns are known to be 0. A diagonal initial Hessian adds one vector. An update of the diagonal writes
    // this vector, which adds another access.
    virtual const PanelProducts &inner_products(const ProductsRequest &request) = 0;
    // Returns whether the backend can form the changes of the products over the free variables
    // (PanelRequest::free_changes).
    virtual bool forms_free_changes() const { return false; }
    // Computes the search direction d and the trial point x; this is called sweep 2. It reads the same vectors as the
    // inner products. It writes d, g_base, x_base, x and, if it is not stored yet, a new y. It accesses 2 * pairs + 9
    // vectors of n elements.
    virtual void direction(const DirectionRequest &request) = 0;
    // Returns the sums of the latest direction(), such as g'd. If direction_sums_at_hand() is false, they are valid
    // only after the next inner_products(), which transfers them from the device as well.
    virtual DirectionSums direction_sums() = 0;
    virtual bool direction_sums_at_hand() const = 0;
    // Returns the largest alpha <= 1 for which the Cauchy point plus alpha times the displacement to the subspace
    // minimiser lies in the box (Byrd et al. 1995, eq. 5.8). The request is that of direction(). This function is
    // rarely called.
    virtual double truncation(const DirectionRequest &request) = 0;
    // Returns the variables whose breakpoint t on the projected path satisfies lo < t <= hi. The function reads 4
    // vectors of n elements.
    virtual CrossedWindow crossed(const PanelRequest &request, double lo, double hi) = 0;
    // Computes the trial point x = P(x_base + step d), where `slot` contains d. It accesses 5 vectors of n elements.
    virtual void step(int slot, double step) = 0;
    // Returns the largest step along d that stays in the box. This function is rarely called.
    virtual double largest_step(int slot) = 0;
    // Restores x = x_base and g = g_base, and sets *f = f. It accesses 4 vectors of n elements.
    virtual void restore(int slot, double f) = 0;
    // The function save_best() saves x_base and the gradient g_base there, which is stored in this slot, and
    // save_trial() saves x and g. The function restore_best() copies the saved vectors to x and g, and sets *f = f.
    // Each accesses 4 vectors of n elements and is rarely called. All require BackendOptions::aside.
    virtual void save_best(int slot) = 0;
    virtual void save_trial() = 0;
    virtual void restore_best(double f) = 0;
    // Stores y = g - g_base in this slot. Usually the next direction() does this, but the last pair of a solve is
    // completed by this function. It accesses 3 vectors of n elements and is called once per solve.
    virtual void finish_pair(int slot) = 0;
    // These functions serve checkpoints. The function fetch() copies one of the backend's or the caller's vectors to
    // host memory in its storage format, and store() copies it back. Both wait for all earlier work.
    virtual void fetch(const HeldVector &which, void *to_host) = 0;
    virtual void store(const HeldVector &which, const void *from_host) = 0;
    virtual int64_t bytes_of(const HeldVector &which) const = 0;
    // Returns one of the norms that a decision may need (lbfgsb/requests.hpp), computed by a scaled sum of squares. It
    // reads at most 5 vectors of n elements and is rarely called.
    virtual double norm(const NormRequest &request) = 0;
    // Sets infinite components of g to 0 that the projection removes. It reads 4 vectors of n elements and is called
    // only after a component of g was not finite.
    virtual void remove_infinite_slopes() = 0;
    // Returns the first index at which the diagonal is not both positive and finite, or n if there is none. It reads
    // one vector of n elements, once per solve with a diagonal.
    virtual int64_t bad_diagonal() = 0;

    // Copies the components begin <= i < begin + count of the caller's x or g to host memory as doubles. The log uses
    // this function.
    virtual void read(const void *vector, int64_t begin, int count, double *to) = 0;
    // Returns the object that provides the sums by subtree of the summation tree. Returns NULL if the backend cannot
    // form them.
    virtual SubtreeSums *subtree_sums() { return nullptr; }
    // The function begin_call() begins the measurement of a call. The function seconds() returns the time for which the
    // backend has worked, if the backend measures it (on a GPU). Otherwise the result is negative.
    virtual void begin_call() {}
    virtual void end_call() {}
    virtual double seconds() { return -1; }
};

} // namespace cudaopt
