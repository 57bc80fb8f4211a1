// The requests of the algorithm and the replies of a backend: plain records. The state machine requests and continues
// with the reply; it does not know who performs the sweeps over the n variables, or where.
#pragma once

#include "lbfgsb/learned_diagonal.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

// Which columns take part, and which variables count as free.
struct PanelRequest {
    int pairs;           // correction pairs in the panel, newest first
    int newest_slot;     // their slots are newest_slot, newest_slot - 1, ... modulo m + 1
    double threshold;    // free: breakpoint > threshold. 0: all variables not held; -1: all variables
    bool fresh;          // the newest slot still holds g_base: y_new = g - g_base is formed on the way
    bool free_gram;      // whether the products over the free variables are wanted
    bool weighted;       // scale the variables by the diagonal h: y and g by sqrt(h), s and z by 1 / sqrt(h)
    bool single = false; // products may be formed in single precision, as far as they keep their digits
    // Of inner products alone. Whether the sums of h are wanted; they are where weighted is set. And in a metric
    // whether those of the older steps are, over all variables: the pairs' products are of other weights so far.
    bool watches = false;
    bool older_steps = false;

    // Whether sums of h are wanted.
    CUDA_OPT_HD bool in_metric() const { return weighted || watches; }
};

// Of inner products: what they have to do to h, the sweeps' own, before all else.
struct ProductsRequest : PanelRequest {
    CUDA_OPT_HD ProductsRequest(const PanelRequest &panel, const DiagonalUpdate &update_ = {})
        : PanelRequest(panel), update(update_) {}
    DiagonalUpdate update;
};

// The trial point x = P(x_base + step d), where on the free variables d = a g + sum_j q_j w_j and on the others the way
// to the bound (breakpoint in (0, threshold]) or nothing (held).
struct DirectionRequest {
    PanelRequest panel;          // as in the inner products that the coefficients came from
    double gradient_coefficient; // a
    const double *coefficients;  // q for each panel column; those of g and z are not used
    double step;                 // the first step of the line search
    int spare_slot;              // receives d and g; may not be one of the panel's but the fresh one
    // Truncation (version 3.0's fallback): from the Cauchy point x - cauchy_t g go only the share alpha of the way.
    bool truncate;
    double cauchy_t, alpha;
};

struct DirectionSums {
    double slope;     // g'd
    double d_squared; // d'd
    double projected; // variables where the projection changed the subspace minimiser
};

// Variables that can be fetched at once: their number bounds the memory that the exact Cauchy point needs.
constexpr int crossed_capacity = 4096;

// A variable whose breakpoint lies in a window.
struct CrossedVariable {
    double t;
    int64_t index;
    double g, z;     // gradient; way to the bound, z = bound - x
    const double *w; // the pairs' entries in panel order, panel::columns(pairs) of them; those of g and z are not set
};

// Those of a window: in the order of their breakpoints, equal ones by index. Where they are more than crossed_capacity,
// their number alone.
struct CrossedWindow {
    const CrossedVariable *variables;
    int64_t count;
    double *free_gram =
        nullptr; // of a small problem with a constant m: the products over the free variables, to be downdated
};

struct StartReport {
    int64_t x_nan, bound_nan, crossed; // first index with NaN in x, with NaN in a bound, with l > u; n: none
    int64_t projected;                 // components moved into the box
    int64_t boxed, bounded;            // components with two finite bounds, with one at least
    int64_t digits = 53;               // of a component of x, binary: 24 in single precision
    // Only a start that will be used is moved: on improper input nothing is changed.
    CUDA_OPT_HD bool usable(int64_t n) const { return x_nan == n && bound_nan == n && crossed == n; }
};

enum class Verb {
    // Sweeps; what each of them does stands with its function in sweeps.hpp.
    check_start,
    read_variable,
    inner_products,
    direction,
    truncation,
    crossed,
    step,
    largest_step,
    restore,
    save_best,
    restore_best,
    finish_pair,
    x_norm,
    projected_gradient_norm,
    relative_gradient_norm,
    check_diagonal,
    // Lines of the log, asked for only where settings.log_frequency >= 0. There is nothing to reply.
    log_start,
    log_iterate,
    log_end,
    // The caller is to act, or the solve has ended with this code. The next reply comes when the caller has acted.
    task
};

// The operands of inner_products, crossed, direction and truncation are in the state machine (products_requested(),
// panel_requested(), direction_requested()). A member that a verb does not name may be that of an earlier request.
struct Request {
    Verb verb = Verb::task;
    int task = 0;
    int slot = 0;          // step, largest_step, restore, save_best, finish_pair
    double number = 0;     // step: along d; restore, restore_best: f there
    int64_t index = 0;     // read_variable
    double lo = 0, hi = 0; // crossed
};

struct Variable {
    double x, l, u;
};

// Only what was asked for is set; but the sums stand until the next inner products, whatever is asked for in between.
struct Reply {
    const PanelProducts *sums = nullptr;
    const DirectionSums *direction = nullptr; // with the direction, where they are at hand, or with the products after
    StartReport start{};
    CrossedWindow crossed{};
    double number = 0; // truncation, largest_step, and the three norms
    int64_t index = 0; // check_diagonal: the first bad one
    Variable variable{};
    double seconds = 0; // since the solve began; only if settings.max_seconds > 0
};

} // namespace cudaopt
