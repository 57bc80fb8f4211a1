// The generalized Cauchy point is the first local minimiser of the quadratic model along the path x(t) = P(x - t g)
// (Byrd, Lu, Nocedal, Zhu 1995, section 4). Variables not at a bound there are free in the subspace minimisation.
//
// The breakpoint of a variable is the t at which it reaches its bound. Nearly always the minimiser lies before the
// first breakpoint, and the inner products already computed at the iterate suffice. Otherwise the Cauchy search
// requests the variables whose breakpoints lie in an interval of t, called a window, and advances from segment to
// segment, as in algorithm CP. A backend can return at most crossed_capacity variables. If the window contains more, it
// is bisected: the Cauchy search requests inner products in which only the variables whose breakpoints exceed a trial
// value of t count as free. They give the slope of the model at this t directly, whatever lies before it.
//
// The Cauchy search is suspended at each request and resumes with the reply.
#pragma once

#include <cstring>
#include <type_traits>

#include "lbfgsb/compact_matrix.hpp"
#include "lbfgsb/downdate.hpp"

namespace cudaopt {

struct CauchyPoint {
    double t = 0; // t*, the path parameter of the Cauchy point
    // The one-breakpoint approximation of Fei et al. (2014): max(0, min(t_1, t_1*)), where t_1 is the first breakpoint
    // and t_1* is the minimiser of the model along the first segment.
    double t_first = 0;
    double threshold = 0; // a variable is free if its breakpoint exceeds this t
    double free_variables = 0;
    int64_t segments = 0, breakpoints_crossed = 0;
    bool crossed = false; // the Cauchy point lies beyond the first breakpoint
    // Whether the inner products over the free variables are stored in own_gram_. Otherwise they are in PanelProducts.
    bool own_gram = false;
    // Whether these products are up to date: they are those over the variables that are free at `threshold`.
    bool gram_holds = false;
};

// The states `window` and `inner_products` are requests to the backend.
enum class CauchyState { window, inner_products, found, breakdown };

template <int M> class CauchySearch {
  public:
    using Matrix = CompactMatrix<M>;
    using Factors = typename Matrix::Factors;

    template <class Visit> CUDA_OPT_HD constexpr void each_array(int m, Visit &visit) {
        size_.set(2 * m);
        visit(path_, 4 * size_);
        visit(saved_path_, 4 * size_);
        visit(w_, size_);
        visit(w_reduced_, size_);
        visit(entries_, panel::columns(m));
        visit(own_gram_, panel::gram_count(panel::columns(m)));
    }

    // Begins the Cauchy search. `panel` describes the vectors whose inner products it uses. `sums` contains these inner
    // products, in which all variables that are not active count as free (threshold 0). `middle` contains the factors
    // of M^-1, which are required if `bounded`. If `approximate`, the search stops at the first breakpoint. Returns
    // breakdown if a slope or a curvature of the path is not finite, which cannot happen with an empty history.
    CUDA_OPT_HD_INLINE CauchyState begin(const Matrix &matrix, const Factors &middle, const PanelRequest &panel,
                                         const PanelProducts &sums, bool bounded, bool approximate) {
        panel_ = panel;
        point_.segments = 1;
        point_.breakpoints_crossed = 0;
        point_.crossed = false;
        if (!bounded) { // As in L-BFGS-B 3.0, the Cauchy point is x, and the subspace minimisation alone determines d.
            load_path(matrix, sums, 0);
            point_.t = point_.t_first = 0;
            return CauchyState::found;
        }
        if (matrix.pairs() == 0) {
            // With B = theta I the model is separable. Whatever is crossed, the Cauchy point is P(x - g / theta).
            load_path(matrix, sums, 0);
            point_.t_first = least(1 / matrix.theta(), sums.first_breakpoint);
            point_.t = approximate ? point_.t_first : 1 / matrix.theta();
            point_.crossed = point_.t > sums.first_breakpoint;
            return CauchyState::found;
        }
        evaluate_path(matrix, middle, sums, 0);
        if (!finite()) return CauchyState::breakdown;
        const double first = minimiser();
        point_.t_first = least(first, sums.first_breakpoint);
        if (first <= sums.first_breakpoint || approximate) {
            point_.t = point_.t_first;
            return CauchyState::found;
        }
        point_.crossed = true;
        dense::fill(c(), 2 * matrix.model_pairs(), 0);
        dense::fill(c_reduced(), 2 * matrix.model_pairs(), 0);
        copy_free_gram(matrix, sums);
        moving_at_start_ = sums.variable_sums[free_variables];
        searched_ = 0;
        reach_ = first_reach;
        bracket_ = largest_finite;
        return next_window();
    }

    // The operands of the requests: the vectors that panel() describes in the state `inner_products`, and in the state
    // `window` the variables whose breakpoints lie in the interval (window_begin(), window_end()].
    CUDA_OPT_HD const PanelRequest &panel() const { return panel_; }
    CUDA_OPT_HD double window_begin() const { return from_; }
    CUDA_OPT_HD double window_end() const { return to_; }
    CUDA_OPT_HD_INLINE CauchyState resume(const Matrix &matrix, const Factors &middle, const PanelProducts &sums,
                                          const CrossedWindow &window) {
        const bool too_many = bisects && window.count > crossed_capacity;
        switch (pending_) {
        case PendingRequest::window:
            if (too_many) { // bisect the window
                lo_ = at_.t, hi_ = to_, bisections_ = 0;
                return probe();
            }
            searched_ = to_;
            return after_window(pass_window(matrix, middle, window, searched_));
        case PendingRequest::trial: return bisects ? judge_probe(matrix, middle, sums) : CauchyState::breakdown;
        case PendingRequest::rest: {
            if (too_many) {
                bisections_++;
                return probe();
            }
            const bool found = pass_window(matrix, middle, window, hi_);
            searched_ = at_.t;
            return after_window(found);
        }
        case PendingRequest::free_gram: use_new_products(); return CauchyState::found;
        }
        return CauchyState::breakdown;
    }

    // Called instead of resume() if the request was only for the products over the free variables.
    CUDA_OPT_HD void use_new_products() { point_.own_gram = false; }

    // The results are valid after `found`. W is the n by 2k matrix of the compact representation with k correction
    // pairs. p() is W'd, where d = -g on the variables that still move at t* and 0 on the others. c() is W'(x_c - x),
    // where x_c is the Cauchy point. c() is set only if a breakpoint was crossed; otherwise c = t* p. free_gram()
    // returns the inner products over the free variables, packed as in PanelProducts.
    CUDA_OPT_HD const CauchyPoint &point() const { return point_; }
    CUDA_OPT_HD const double *c() const { return path_.data(); }
    CUDA_OPT_HD const double *p() const { return path_.data() + size_; }
    CUDA_OPT_HD const double *free_gram(const PanelProducts &sums) const {
        return point_.own_gram ? own_gram_.data() : sums.free_gram;
    }

  private:
    enum class PendingRequest { window, trial, rest, free_gram };
    // The first window extends beyond the segment's minimiser by this fraction, because crossing breakpoints moves the
    // minimiser to a larger t. On the elastic-plastic torsion problem it moves by less than 5 %.
    static constexpr double first_reach = 0.0625;

    // Sets p, c and the number of free variables at the path parameter tau. `sums` are the inner products in which a
    // variable counts as free if its breakpoint exceeds tau. Let d = -g on the variables that still move beyond tau,
    // and 0 on the others. Let z be the displacement up to tau: -tau g on the variables that move, and bound - x on
    // those that have stopped. Then p = W'd and c = W'z. At tau = 0, c is 0 and is not set. Returns d'd.
    CUDA_OPT_HD_INLINE double load_path(const Matrix &matrix, const PanelProducts &sums, double tau) {
        const int size = 2 * matrix.model_pairs();
        dense::Room<panel_columns> entries(entries_);
        const double *with_g = sums.leading_products + panel::gradient * sums.columns;
        if (panel_.free_gram) {
            dense::at_size<M>(matrix.model_pairs(), [&](auto k) {
                const int columns = panel::columns(k);
                CUDA_OPT_UNROLLED(2 * dense::times_unrolled<decltype(k)>)
                for (int j = 0; j < columns; j++) entries.data()[j] = sums.over_free(panel::gradient, j);
            });
            with_g = entries.data();
        }
        at_.t = point_.threshold = tau;
        const double d_squared = with_g[panel::gradient];
        point_.free_variables = sums.variable_sums[free_variables];
        point_.own_gram = false;
        point_.gram_holds = true;
        if (size == 0) return d_squared;
        double *const to_p = p(), *const to_c = c();
        matrix.to_basis(with_g, to_p);
        for (int i = 0; i < size; i++) to_p[i] = -to_p[i];
        if (tau > 0) {
            matrix.to_basis(sums.leading_products + panel::displacement * sums.columns, to_c);
            dense::add(to_c, tau, to_p, size);
        }
        return d_squared;
    }

    // Sets the derivatives of the model phi along the path just beyond tau. With d, z, p and c as in load_path(),
    //
    //     phi'(tau+) = d'g + theta d'z - p'M c = -(1 - theta tau) d'd - p'M c,    phi'' = theta d'd - p'M p.
    CUDA_OPT_HD_INLINE void evaluate_path(const Matrix &matrix, const Factors &middle, const PanelProducts &sums,
                                          double tau) {
        const double d_squared = load_path(matrix, sums, tau), theta = matrix.theta();
        const int size = 2 * matrix.model_pairs();
        dense::copy(p(), size, p_reduced());
        matrix.reduce_by_middle(middle, p_reduced());
        at_.slope = -(1 - theta * tau) * d_squared;
        if (tau > 0) {
            dense::copy(c(), size, c_reduced());
            matrix.reduce_by_middle(middle, c_reduced());
            at_.slope -= matrix.middle_form(middle, p_reduced(), c_reduced());
        }
        at_.curvature = theta * d_squared - matrix.middle_form(middle, p_reduced(), p_reduced());
        if (tau == 0) least_curvature_ = machine_epsilon * theta * d_squared;
        if (is_finite(at_.curvature)) at_.curvature = greatest(at_.curvature, least_curvature_);
    }

    // Copies the inner products over the free variables. The copy is downdated when variables reach their bounds, and
    // the backend's next products overwrite the originals. For a small problem, whose M is a compile-time constant, no
    // other products are formed before the direction, and the originals are downdated in place.
    CUDA_OPT_HD_INLINE void copy_free_gram(const Matrix &matrix, const PanelProducts &sums) {
        if (!bisects) return;
        dense::copy(sums.free_gram, panel::gram_count(panel::columns(matrix.model_pairs())), own_gram_.data());
        point_.own_gram = true;
    }

    CUDA_OPT_HD_INLINE void downdate_free_gram(const Matrix &matrix, const CrossedVariable &variable, double *gram) {
        const int columns = panel::columns(matrix.model_pairs());
        dense::Room<panel_columns> room(entries_);
        double *const entries = room.data();
        dense::copy(variable.w, columns, entries);
        // The products with g and z are not needed, and variable.w has no entries for these columns.
        entries[panel::gradient] = entries[panel::displacement] = 0;
        for (int i = 0; i < columns; gram += columns - i, i++)
            dense::subtract(gram, entries[i], entries + i, columns - i);
    }

    // The rows of W of successive variables, and the same after reduce_by_middle(). All processors of a GPU wait for
    // the host's walk along the breakpoints. The host therefore reduces four rows at once, with unchanged bits.
    struct Rows {
        static constexpr int count = 4, most_size = 64;
        double w[count][most_size], reduced[count][most_size];
    };

    // Processes the breakpoints of a window that ends at hi, in increasing order, until the minimiser of the model
    // along a segment lies within this segment (algorithm CP). Returns whether it was found. Small problems downdate
    // the inner products variable by variable, the others when it is known how many variables have been passed.
    CUDA_OPT_HD_INLINE bool pass_window(const Matrix &matrix, const Factors &middle, const CrossedWindow &window,
                                        double hi) {
        int64_t passed = 0;
        const bool found = pass_breakpoints(matrix, middle, window, hi, passed);
        if constexpr (in_groups) {
            const int columns = panel::columns(matrix.model_pairs());
            point_.gram_holds = point_.gram_holds && passed <= most_downdates(point_.free_variables, columns);
            if (point_.gram_holds) subtract_products(window.variables, passed, columns, own_gram_.data());
        }
        return found;
    }

    CUDA_OPT_HD_INLINE bool pass_breakpoints(const Matrix &matrix, const Factors &middle, const CrossedWindow &window,
                                             double hi, int64_t &next) {
        const int size = 2 * matrix.model_pairs();
        [[maybe_unused]] std::conditional_t<in_groups, Rows, dense::Nothing> rows;
        double *const gram = bisects ? own_gram_.data() : window.free_gram;
        const bool downdate = !in_groups && point_.gram_holds && window.count <= most_downdates(point_.free_variables);
        while (next < window.count) {
            const double t = window.variables[next].t;
            if (minimiser() < t) return true;
            const double dt = t - at_.t;
            dense::add(c(), dt, p(), size);
            dense::add(c_reduced(), dt, p_reduced(), size);
            at_.slope += dt * at_.curvature;
            // Variables with equal breakpoints stop at the end of the same segment.
            for (; next < window.count && window.variables[next].t == t; next++) {
                if constexpr (in_groups) {
                    if (size <= Rows::most_size) {
                        const CrossedVariable *const variable = window.variables + next;
                        const int row = static_cast<int>(next % Rows::count);
                        if (row == 0) load_rows(matrix, middle, variable, window.count - next, rows);
                        double forms[3];
                        middle.reduced_forms(size / 2, rows.reduced[row], c_reduced(), p_reduced(), forms);
                        move_path(matrix, *variable, rows.w[row], rows.reduced[row], forms[0], forms[1], forms[2]);
                        continue;
                    }
                }
                fix_at_bound(matrix, middle, window.variables[next]);
                if (downdate) downdate_free_gram(matrix, window.variables[next], gram);
            }
            at_.curvature = greatest(at_.curvature, least_curvature_);
            if (!in_groups) point_.gram_holds = downdate;
            point_.threshold = at_.t = t;
            point_.segments++;
            if (point_.free_variables <= 0) return true;
        }
        return minimiser() <= hi;
    }

    // Loads the rows of W of as many variables as `rows` holds, or of those that are left.
    CUDA_OPT_HD inline void load_rows(const Matrix &matrix, const Factors &middle, const CrossedVariable *variables,
                                      int64_t left, Rows &rows) {
        const int k = matrix.model_pairs();
        for (int r = 0; r < Rows::count; r++) {
            if (r < left) matrix.to_basis(variables[r].w, rows.w[r]);
            else dense::fill(rows.w[r], 2 * k, 0);
            dense::copy(rows.w[r], 2 * k, rows.reduced[r]);
        }
        middle.reduce_four(k, rows.reduced[0], Rows::most_size);
    }

    CUDA_OPT_HD_INLINE void fix_at_bound(const Matrix &matrix, const Factors &middle, const CrossedVariable &variable) {
        const int size = 2 * matrix.model_pairs();
        dense::Room<2 * M> w_room(w_), w_reduced_room(w_reduced_);
        double *const w = w_room.data(), *const w_reduced = w_reduced_room.data();
        matrix.to_basis(variable.w, w);
        dense::copy(w, size, w_reduced);
        matrix.reduce_by_middle(middle, w_reduced);
        move_path(matrix, variable, w, w_reduced, matrix.middle_form(middle, w_reduced, c_reduced()),
                  matrix.middle_form(middle, w_reduced, p_reduced()), matrix.middle_form(middle, w_reduced, w_reduced));
    }

    // Updates p, the slope and the curvature after a variable has reached its bound (Byrd et al. 1995, eqs. 4.9
    // and 4.10). w is the variable's row of W. The last three arguments are w'M c, w'M p and w'M w.
    CUDA_OPT_HD_INLINE void move_path(const Matrix &matrix, const CrossedVariable &variable, const double *w,
                                      const double *w_reduced, double w_m_c, double w_m_p, double w_m_w) {
        const int size = 2 * matrix.model_pairs();
        const double theta = matrix.theta(), g = variable.g;
        at_.slope += g * g + theta * g * variable.z - g * w_m_c;
        at_.curvature -= theta * g * g + 2 * g * w_m_p + g * g * w_m_w;
        dense::add(p(), g, w, size);
        dense::add(p_reduced(), g, w_reduced, size);
        point_.free_variables--;
    }

    // Requests the next window. Windows are adjacent, and each extends beyond the minimiser that is estimated at the
    // end of the previous window. Nearly always one window suffices. The Cauchy search terminates because the relative
    // length of the windows doubles each time. After at most 2,100 windows, the number of binary exponents, a window
    // contains all finite breakpoints. A bisection terminates as well, because each step at least halves its interval.
    CUDA_OPT_HD_INLINE CauchyState next_window() {
        const double hi = least(at_.t + (1 + reach_) * (minimiser() - at_.t), bracket_);
        if (hi <= searched_) return settle();
        return request_window(PendingRequest::window, searched_, hi);
    }

    CUDA_OPT_HD_INLINE CauchyState after_window(bool found) {
        if (!finite()) return CauchyState::breakdown;
        reach_ *= 2;
        return found ? settle() : next_window();
    }

    // Returns the double whose bit pattern, as an integer, is halfway between those of lo >= 0 and hi >= 0.
    CUDA_OPT_HD static double bits_midpoint(double lo, double hi) {
        int64_t a, b;
        memcpy(&a, &lo, sizeof a);
        memcpy(&b, &hi, sizeof b);
        const int64_t middle = a + (b - a) / 2;
        double result;
        memcpy(&result, &middle, sizeof result);
        return result;
    }

    // Performs one bisection step, because (lo, hi] contains more breakpoints than can be fetched. It requests the
    // inner products at a midpoint of lo and hi. The midpoint of the values and that of the bit patterns alternate.
    // Thus after at most 128 steps lo and hi are adjacent floating-point numbers, and the bisection ends.
    CUDA_OPT_HD_CALL inline CauchyState probe() {
        double middle = bisections_ % 2 == 0 ? lo_ + 0.5 * (hi_ - lo_) : bits_midpoint(greatest(lo_, 0.0), hi_);
        if (!(middle > lo_ && middle < hi_)) middle = bits_midpoint(lo_, hi_);
        all_tied_ = !(middle > lo_ && middle < hi_); // lo and hi are adjacent, so that all breakpoints are equal
        if (all_tied_) middle = hi_;
        pending_ = PendingRequest::trial;
        panel_.threshold = middle;
        return CauchyState::inner_products;
    }

    CUDA_OPT_HD_CALL inline CauchyState judge_probe(const Matrix &matrix, const Factors &middle,
                                                    const PanelProducts &sums) {
        const double tau = panel_.threshold;
        saved_point_ = point_;
        saved_at_ = at_;
        dense::copy(path_.data(), 4 * size_, saved_path_.data());
        evaluate_path(matrix, middle, sums, tau);
        point_.segments++;
        const bool past_minimum = at_.slope >= 0 || point_.free_variables <= 0;
        if (all_tied_ || !past_minimum) { // continue from tau with a new window, unless the minimiser is found
            copy_free_gram(matrix, sums);
            searched_ = at_.t;
            return after_window(past_minimum);
        }
        // The minimiser lies before tau. Restore the path at lo, and request the breakpoints in (lo, tau].
        point_ = saved_point_;
        at_ = saved_at_;
        dense::copy(saved_path_.data(), 4 * size_, path_.data());
        point_.segments++;
        hi_ = bracket_ = tau;
        return request_window(PendingRequest::rest, lo_, hi_);
    }

    // Called when the minimiser is known. The products over the free variables are requested if they are missing.
    CUDA_OPT_HD_INLINE CauchyState settle() {
        const double t = point_.t = point_.free_variables > 0 ? greatest(minimiser(), at_.t) : at_.t;
        dense::add(c(), t - at_.t, p(), size_);
        point_.breakpoints_crossed = static_cast<int64_t>(moving_at_start_ - point_.free_variables);
        if (point_.gram_holds || point_.free_variables <= 0) return CauchyState::found;
        pending_ = PendingRequest::free_gram;
        panel_.threshold = point_.threshold;
        return CauchyState::inner_products;
    }

    CUDA_OPT_HD_INLINE CauchyState request_window(PendingRequest pending, double lo, double hi) {
        pending_ = pending;
        from_ = lo;
        to_ = hi;
        return CauchyState::window;
    }

    CUDA_OPT_HD double minimiser() const { return at_.slope < 0 ? at_.t - at_.slope / at_.curvature : at_.t; }
    CUDA_OPT_HD bool finite() const {
        return is_finite(at_.slope) && is_finite(at_.curvature) && is_finite(minimiser());
    }
    CUDA_OPT_HD double *c() { return path_.data(); }
    CUDA_OPT_HD double *p() { return path_.data() + size_; }
    // Copies of c and p to which CompactMatrix::reduce_by_middle() was applied. From them p'M p and p'M c are computed.
    CUDA_OPT_HD double *c_reduced() { return path_.data() + 2 * size_; }
    CUDA_OPT_HD double *p_reduced() { return path_.data() + 3 * size_; }

    // The model phi along the path just beyond t: slope is phi'(t+), and curvature is phi''(t+).
    struct PathState {
        double t = 0, slope = 0, curvature = 0;
    };

    PendingRequest pending_ = PendingRequest::window;
    PanelRequest panel_{};
    double from_ = 0, to_ = 0; // the requested window
    CauchyPoint point_, saved_point_;
    PathState at_, saved_at_;
    double least_curvature_ = 0;
    double moving_at_start_ = 0; // number of variables that are not active at t = 0
    double searched_ = 0;        // all breakpoints up to this t have been processed
    double reach_ = 0;           // relative length by which a window extends beyond the segment's minimiser
    double bracket_ = 0;         // upper bound of t*, known from the bisection
    double lo_ = 0, hi_ = 0;     // the bisection searches the interval (lo_, hi_]
    int bisections_ = 0;
    bool all_tied_ = false;
    // If M is a compile-time constant, the problem is small: a window never has too many variables.
    static constexpr bool bisects = M == 0;
    // On the host, the walk of a large problem along the breakpoints processes variables in groups (Rows).
    static constexpr bool in_groups = bisects && !on_device;
    static constexpr int panel_columns = M == 0 ? 0 : panel::columns(M);
    dense::Known<2 * M> size_; // 2m
    dense::Array<8 * M> path_; // c, p, c_reduced, p_reduced: 2m numbers each
    // own_gram_ is set when the first breakpoint is crossed.
    dense::KeptRoom<M> saved_path_, w_, w_reduced_, entries_, own_gram_;
};

} // namespace cudaopt
