// The requests of the algorithm for operations on all n variables, and the replies of a backend, which are the results.
// The algorithm does not depend on which backend performs the sweeps, or on where the vectors are stored.
#pragma once

#include "lbfgsb/box.hpp"
#include "lbfgsb/learned_diagonal.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

// Describes the panel, the vectors whose inner products are requested, and which variables count as free in them.
struct PanelRequest {
    int pairs;       // number of correction pairs in the panel, which begins with the newest
    int newest_slot; // the pairs are in the slots newest_slot, newest_slot - 1, ... modulo m + 1
    // A variable is free if its breakpoint exceeds the threshold: with 0 if it is not active, with -1 always.
    double threshold;
    // fresh: the newest slot of Y still contains g_base, and the sweep forms y_new = g - g_base.
    bool fresh;
    bool free_gram; // whether the products over the free variables are needed
    bool weighted;  // scale the variables by the diagonal h: y and g by sqrt(h), s and z by 1 / sqrt(h)
    // Whether single precision may be used. The products are repeated in double unless fit_single_precision().
    bool single = false;
    // The next two members are for inner products. watches: form the sums that involve h although the products are not
    // weighted. older_steps: form s_i's_j of the older pairs over all variables, because their weights have changed.
    bool watches = false;
    bool older_steps = false;
    // free_changes: of the products of older columns with each other over the free variables, only the changes since
    // x_base are requested: sums over the variables that have become free, minus sums over those that are free no
    // longer. The flag is set only if the backend can form changes (Sweeps::forms_free_changes()), and only at a trial
    // point (fresh) with the threshold 0 and with the diagonal h of the model at x_base.
    bool free_changes = false;

    // Returns whether the sums that involve h are needed (VariableSum in panel.hpp).
    CUDA_OPT_HD bool in_metric() const { return weighted || watches; }
};

// A request for inner products, with the update of h that the sweep performs first. h belongs to the backend.
struct ProductsRequest : PanelRequest {
    CUDA_OPT_HD ProductsRequest(const PanelRequest &panel, const DiagonalUpdate &update_ = {}, bool only_yy_ = false)
        : PanelRequest(panel), update(update_), only_yy(only_yy_) {}
    DiagonalUpdate update;
    // only_yy: all variables are free, and only Y'Y is needed over them. A backend may form the other products as well.
    bool only_yy;
};

// The trial point x = P(x_base + step d). On the free variables d = a g + sum_j q_j w_j, where w_j are the panel's
// columns of y and s. The coefficients a and q are the result of the subspace minimisation (subspace.hpp). On the other
// variables d is bound - x_base if the breakpoint is in (0, threshold], and 0 if the variable is active.
struct DirectionRequest {
    PanelRequest panel;          // panel of the inner products from which the coefficients were computed
    double gradient_coefficient; // a
    const double *coefficients;  // q_j, one per panel column; the entries for g and z are not used
    double step;                 // the first step of the line search
    // The slot of the history in which d and g are stored, not that of a pair in the panel unless it is fresh.
    int spare_slot;
    // Truncation, the fallback of version 3.0: only the fraction alpha of the displacement from the Cauchy point, x -
    // cauchy_t g, to the subspace minimiser is used.
    bool truncate;
    double cauchy_t, alpha;
};

struct DirectionSums {
    double slope;     // g'd
    double d_squared; // d'd
    double projected; // number of variables in which the projection changed the subspace minimiser
};

// A vector on the variables F that are free in the panel: scale v + sum_j c_j w_j. v is g and w_j the column of y, for
// the vector to which the caller's operator H_0 is applied; or v = H_0 q and w_j the column of s, for the direction.
struct OperatorRequest {
    PanelRequest panel;
    double scale;
    const double *coefficients; // c_j by age
};

// The inner products over F of the vector v to which the operator was applied, of H_0 v, and of the columns of y.
struct OperatorProducts {
    double in_in, in_out, out_out; // v'v, v'H_0 v, and the square of the norm of H_0 v
    double with_g;                 // g'H_0 v
    int64_t not_finite;            // elements of H_0 v that are NaN or Inf
    const double *with_y;          // y_j'H_0 v by age
};

// The largest number of variables that can be fetched at once. It limits the memory that the exact Cauchy point needs.
constexpr int crossed_capacity = 4096;

// A variable whose breakpoint lies in a window.
struct CrossedVariable {
    double t;
    int64_t index;
    double g, z; // component of the gradient, and displacement to the bound, z = bound - x
    // This variable's row of the panel. The entries of the columns g and z are not set.
    const double *w;
};

// The variables of a window, in the order of their breakpoints, and of their indices if the breakpoints are equal. If
// there are more than crossed_capacity, only their number is set.
struct CrossedWindow {
    const CrossedVariable *variables;
    int64_t count;
    // The inner products over the free variables, which are downdated in place. They are set only if m is constant.
    double *free_gram = nullptr;
};

struct StartReport {
    // The first index with NaN in x, with NaN in a bound, and with l > u; n if there is none.
    int64_t x_nan, bound_nan, crossed;
    int64_t projected;           // number of components of x that were moved into the box
    int64_t boxed, bounded;      // numbers of variables with two finite bounds, and with at least one
    int64_t digits = 53;         // precision of a component of x in binary digits: 53, or 24 in single precision
    double narrowest = infinity; // the least positive u_i - l_i
    // Returns whether the start can be used. Only then has x been projected into the box; invalid input is not changed.
    CUDA_OPT_HD bool usable(int64_t n) const { return x_nan == n && bound_nan == n && crossed == n; }
};

// The 2-norms that a decision may need in addition to the inner products. The relative gradient has the components x_i
// (P g)_i, where P g is the projected gradient. Active variables do not count in the last three.
enum class Norm {
    none,
    x,
    projected_gradient,
    relative_gradient,
    // The components g_i with |g_i| > number and 0 < u_i - l_i <= number, so that |(P g)_i| <= number.
    narrow_gradient,
    // The components x_i y_i, where y is the change of the gradient along a pair.
    relative_change,
    // The components max(|x_i (P g)_i| - number |x_i y_i|, 0).
    unexplained_gradient
};
struct NormRequest {
    Norm kind = Norm::none;
    double number = 0;
    // The last two kinds: the slot of y. fresh: the slot contains g_base, and y = g - g_base.
    int slot = 0;
    bool fresh = false;
};

enum class Verb {
    // Sweeps, which are documented at their functions in sweeps.hpp. The replies to the first eight depend on the
    // variables of all ranks (ranks/ranks.hpp).
    check_start,
    read_variable,
    inner_products,
    truncation,
    crossed,
    largest_step,
    norm,
    check_diagonal,
    direction,
    step,
    restore,
    restore_best,
    finish_pair,
    // Sweeps of an operator as initial Hessian (operator/operator_sweeps.hpp).
    operator_input,
    operator_products,
    operator_direction,
    // Lines of the log, requested only if settings.log_frequency >= 0. The reply is empty.
    log_start,
    log_iterate,
    log_end,
    // The caller has to perform the task before the reply follows, or the solve has ended with this code.
    task
};

// Rare sweeps that a backend performs before the request proper, whatever its verb is.
enum class Preparation {
    none,
    save_trial,            // save x and g, a trial point, as the best point
    save_base,             // save x_base and the gradient there as the best point
    remove_infinite_slopes // set infinite components of g to 0 that the projection removes
};

// A request to the backend. The verb is the kind of request, and the comment at each other member names the verbs that
// use this member. For other verbs it may have an earlier value. The larger operands are read from the state machine:
// products_requested(), panel_requested(), direction_requested() and operator_model().request().
struct Request {
    Verb verb = Verb::task;
    int task = 0;
    int slot = 0;          // used by step, largest_step, restore and finish_pair
    double number = 0;     // step: the length of the step along d; restore, restore_best: f at the restored point
    int64_t index = 0;     // read_variable
    double lo = 0, hi = 0; // crossed
    NormRequest norm;      // norm
    Preparation preparation = Preparation::none; // all verbs
    int base_slot = 0;                           // save_base: the slot of the gradient at x_base
};

struct Variable {
    double x, l, u;
};

// Only the members that were requested are set. The sums remain valid until the next inner products.
struct Reply {
    const PanelProducts *sums = nullptr;
    const OperatorProducts *of_operator = nullptr; // operator_products
    // The sums over the direction d, in the reply to the direction request or to the next inner products.
    const DirectionSums *direction = nullptr;
    StartReport start{};
    CrossedWindow crossed{};
    double number = 0; // the result of truncation, largest_step or norm
    int64_t index = 0; // the index of the first invalid element; used by check_diagonal
    Variable variable{};
    double seconds = 0; // time since the solve began, set only if settings.max_seconds > 0
    // Whether the backend can perform requests with PanelRequest::free_changes. It is set in all replies.
    bool forms_free_changes = false;
};

} // namespace cudaopt
