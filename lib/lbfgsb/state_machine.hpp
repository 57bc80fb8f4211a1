// L-BFGS-B for one large problem, as a state machine. advance() continues with the reply to the last request until it
// needs another sweep over the n variables or an action of the caller. It never loops over n and allocates nothing.
//
// The states, what the machine waits for in each of them, and the states that may follow:
//
//     start              nothing: the solve begins                start_checked
//     start_checked      the report on x and the bounds           start_refused, first_point
//     start_refused      the variable that is invalid             start, after CUDA_OPT_IMPROPER_INPUT
//     first_point        f and g, from the caller                 unscaled_products, first_products
//     unscaled_products  products without weights, of stored      first_products
//                        pairs that had weights
//     first_products     products at the start                    slopes_removed, pg_norm_measured, and so on as at
//                                                                 each iterate
//     slopes_removed     g without infinite slopes                first_products, trial_products
//     pg_norm_measured   ||P g||, if its square is not            x_norm_measured, iterate_logged, iterate, ...
//                        representable
//     x_norm_measured    ||x||, if its square is not              iterate_logged, iterate, ...
//                        representable
//     iterate_logged     a line of the log                        iterate, decrease_verified, diagonal, ...
//     iterate            the caller has seen the iterate          decrease_verified, diagonal, model_products, ...
//     decrease_verified  the norm of the relative gradient        decrease_explained, diagonal, model_products,
//                                                                 cauchy, direction_taken
//     decrease_explained the change of the gradient, relative     as decrease_verified
//     box_verified       the gradient that narrow boxes hide      as decrease_verified, and decrease_verified
//     diagonal           a diagonal, from the caller              model_products
//     diagonal_checked   the index of its first bad element       ending
//     model_products     the products of the next model           diagonal_checked, cauchy, truncated, operator_formed,
//                                                                 direction_taken
//     cauchy             the request of the Cauchy search         cauchy, truncated, operator_formed, direction_taken
//     operator_formed    the vector to which H_0 is applied       operator_applied
//     operator_applied   the application, by the caller           operator_measured
//     operator_measured  products with the result                 operator_formed, direction_taken, model_products
//     direction_taken    the direction, perhaps with its sums     trial_point, search_failed, truncation_ready,
//                                                                 operator_shortened, operator_refused
//     stepped            the point at another step                trial_point
//     trial_point        f and g, from the caller                 trial_products
//     trial_products     products at the trial point              slopes_removed, step_max, stepped, best_saved, the
//                                                                 next iterate,
//                                                                 search_failed, truncation_ready, diagonal_checked,
//                                                                 operator_shortened, operator_refused
//     step_max           the largest step within the box          as trial_products
//     best_saved         a copy of the base point                 the next iterate: pg_norm_measured, ...
//     truncation_ready   x is the base point again                model_products, truncated
//     operator_shortened x is the base point again                direction_taken
//     operator_refused   x is the base point again                model_products
//     truncated          the truncation factor of the direction   direction_taken
//     search_failed      x is the base point again                curvature_measured, failure_verified, noise_stepped,
//                                                                 cauchy, model_products, ...
//     curvature_measured the change of the gradient, relative     as search_failed
//     noise_stepped      the point of a sample of f               noise_point
//     noise_point        f, from the caller                       noise_products
//     noise_products     products, with which f is read           noise_stepped, search_failed
//     failure_verified   the norm of the relative gradient        model_products, cauchy, direction_taken
//     ending             x, f and g become the best iterate       ending, end_logged, ended
//     end_logged         the last lines of the log                ended
//     ended              nothing                                  -
//
// Any state before ending may be followed by ending. A factorisation that fails leads back to model_products.
//
// The object is one block of state_bytes(m) bytes without a pointer, made by make_state(). It may be moved, saved and
// loaded as bytes whenever its last request has been performed. A checkpoint consists of these bytes and of n-vectors
// (solver/checkpoint.cpp).
#pragma once

#include "lbfgsb/free_gram.hpp"
#include "lbfgsb/initial_hessian.hpp"
#include "lbfgsb/noise.hpp"
#include "lbfgsb/operator_model.hpp"

namespace cudaopt {

class StateMachine : public Iteration {
  public:
    enum class State {
        start,
        start_checked,
        start_refused,
        first_point,
        unscaled_products,
        first_products,
        slopes_removed,
        pg_norm_measured,
        x_norm_measured,
        iterate_logged,
        iterate,
        decrease_verified,
        decrease_explained,
        box_verified,
        diagonal,
        diagonal_checked,
        model_products,
        cauchy,
        operator_formed,
        operator_applied,
        operator_measured,
        direction_taken,
        stepped,
        trial_point,
        trial_products,
        step_max,
        best_saved,
        truncation_ready,
        operator_shortened,
        operator_refused,
        truncated,
        search_failed,
        curvature_measured,
        noise_stepped,
        noise_point,
        noise_products,
        failure_verified,
        ending,
        end_logged,
        ended
    };

    Settings settings;

    // The returned request is valid until the next call of one of these three functions.
    const Request &advance(const Reply &reply);
    // Called instead of the next advance(). stop() is called if the caller wants no further task, and give_up() if a
    // sweep of the backend took too long.
    const Request &stop();
    const Request &give_up(bool stop_requested, double seconds_passed);
    // Resets the state to that before the first call. With keep_pairs the pairs are kept for a warm start; the newest
    // may be unfinished (finish_pair()).
    void begin_anew(bool keep_pairs);
    // Ends the solve because the backend has failed.
    void break_off() { state_ = State::ended, broken_ = true; }
    // Called after a checkpoint is loaded: the sums of the last inner products no longer exist.
    void forget_products() { products_valid_ = false; }

    // Validates an object that was read as bytes: it is in a state in which the caller of a handle with this n, m and
    // precision has control, and every index, size and enumerator in it is within its range (loaded.hpp).
    bool is_consistent(int64_t n_, int m, int bits);

    // Requests the last inner products again, all of them formed in double precision.
    const Request &request_in_double() {
        requested_.single = false;
        return request_;
    }
    // The last request, and its operands.
    const Request &request() const { return request_; }
    const PanelRequest &panel_requested() const { return state_ == State::cauchy ? cauchy_.panel() : requested_; }
    // Without bounds, the products over the free variables that a new diagonal requires are used only to set Y'Y
    // (CompactMatrix::load_free_yy()).
    ProductsRequest products_requested() const {
        const PanelRequest &panel = panel_requested();
        return {panel, state_ == State::cauchy ? DiagonalUpdate{} : update_requested_,
                !needs_free_gram() && panel.older_steps};
    }
    DirectionRequest direction_requested() const {
        DirectionRequest request = direction_request_;
        request.coefficients = coefficients_.data();
        return request;
    }

    const OperatorModel &operator_model() const { return operator_; }
    OperatorRequest operator_requested() const {
        return {operator_request_.panel, operator_request_.scale, operator_.coefficients()};
    }

    State state() const { return state_; }
    bool started() const { return state_ != State::start; }
    bool has_ended() const { return state_ == State::ended; }
    bool broken() const { return broken_; }
    int task() const { return task_; } // the last task returned to the caller
    const CompactMatrix<0> &matrix() const { return matrix_; }
    const LearnedDiagonal &learned_diagonal() const { return hessian_.learned(); }
    bool pair_unfinished() const { return pair_unfinished_; }
    // Returns whether x is a point along the direction, whose base point can be restored.
    bool is_at_trial() const { return state_ == State::trial_point || state_ == State::noise_point; }
    // Returns the slot of the history that contains, at a trial point, d and the gradient g_base at the base point.
    int spare_slot() const { return direction_request_.spare_slot; }
    // Returns whether B_0 is theta diag(1 / h) instead of theta I.
    bool weighted() const { return hessian_.weighted(settings); }
    // Returns theta of the newest model. With the caller's diagonal it is 1 before the first model is formed.
    double model_theta() const;
    // Returns whether x is a trial point and the sums over the direction to it, such as g'd, are not known yet. The
    // reply to a request for products_at_trial() then includes them.
    bool awaits_direction_sums() const {
        return state_ == State::trial_point && !direction_judged_ && !direction_sums_known_;
    }
    PanelRequest products_at_trial() const;
    void set_direction_sums(const DirectionSums &sums) { direction = sums, direction_sums_known_ = true; }
    // The slot of a new pair contains g_base, the previous gradient, until the sweep of the next direction forms y = g
    // - g_base. If this is pending, the function returns the slot and regards y as formed; otherwise it returns -1.
    // Warm starts use it.
    int finish_pair();

    template <class Visit> void each_array(int m, Visit &visit) {
        matrix_.each_array(m, visit);
        middle_.each_array(m, visit);
        system_.each_array(m, visit);
        cauchy_.each_array(m, visit);
        operator_.each_array(m, visit);
        free_gram_.each_array(m, visit);
        visit(workspace_, 2 * m);
        visit(coefficients_, panel::columns(m));
    }

  private:
    friend StateMachine *make_state(void *block, int64_t n, int m);

    // Each of the following functions ends with a request.
    void suspend(State next, Verb verb);
    void request_products(State next, const PanelRequest &panel);
    void request_task(State next, int task);
    void measure_curvature(State next);
    void request_evaluation(State next);

    // These functions check the start, and execute the steps at the start and at each iterate.
    void check_start();
    void judge_start(const StartReport &report);
    void refuse_start(EventKind why, int64_t index);
    void report_invalid_start(const Variable &variable);
    void measure_start();
    void measure_iterate(const Reply &reply);
    void measure_x(const Reply &reply);
    void log_iterate(const Reply &reply);
    void after_log(const Reply &reply);
    void judge_iterate(const Reply &reply, bool verified);

    // These functions compute the search direction.
    void accept_diagonal(const Reply &reply);
    void report_bad_diagonal(int64_t index);
    void begin_direction(const Reply &reply);
    void begin_cauchy(const Reply &reply);
    bool keeps_free_gram(const Reply &reply) const;
    void follow_cauchy(CauchyState found, const PanelProducts &sums);
    void minimise_in_subspace(const PanelProducts &sums);
    void break_down();
    void take_direction(Verb verb);
    void begin_operator(const PanelProducts &sums);
    void request_operator_input();
    void accept_operator(const OperatorProducts &products);
    void leave_operator();
    void end_with_operator(EventKind why, double a, double b);
    void verify_decrease(double relative_gradient);
    bool shortens_direction(const PanelProducts &sums);
    bool can_shorten_direction() const;
    void take_shorter_direction();
    void refuse_operator_direction(double decrease);
    void replace_operator();
    void judge_direction(const Reply &reply);
    void replace_direction();
    void prepare_truncation();
    void request_truncation();

    // These functions perform the line search.
    void measure_trial_point(const Reply &reply);
    void judge_trial_products(const Reply &reply);
    void advance_search(const Reply &reply);
    void accept_trial(const Reply &reply);
    void append_pair(const Reply &reply);
    void restore(State next);
    void recover(const Reply &reply, bool verified);
    void sample_noise();
    PanelRequest products_of_sample() const;
    void note_noise_sample(const PanelProducts &sums);

    // These functions end the solve: one request after the other sets x, f and g to the best iterate.
    void settle();

    bool uses_operator() const { return settings.metric == Metric::callers_operator; }
    bool needs_free_gram() const { return bounded || uses_operator(); }
    bool logs() const { return settings.log_frequency >= 0; }
    PanelRequest model_panel() const {
        return hessian_.model_panel(settings, panel_, matrix_.weights(), needs_free_gram());
    }
    void request_products_with_scaling_update(State next);
    void use_stored_pairs();
    void refresh();

    State state_ = State::start;
    int task_ = 0;
    bool broken_ = false;

    PanelRequest panel_{};                 // the inner products that the next direction needs
    bool products_valid_ = false;          // whether the last inner products are those that panel_ requests
    DirectionRequest direction_request_{}; // coefficients is not set here, but in direction_requested()
    bool remakes_for_truncation_ = false;  // the model is formed again, because its direction is to be truncated
    bool direction_sums_known_ = false, direction_judged_ = false;
    bool pair_unfinished_ = false; // whether the slot of the newest y still contains g_base
    int noise_samples_ = 0;        // number of values of f sampled so far to estimate the noise level
    double noise_values_[noise::samples] = {};

    InitialHessian hessian_;
    OperatorModel operator_;
    OperatorRequest operator_request_{}; // the last one, without the coefficients
    double shortening_ = 1;              // the factor of the next direction
    CompactMatrix<0> matrix_;
    CompactMatrix<0>::Factors middle_, system_; // the factors of M^-1 and of the matrix K of subspace.hpp
    CauchySearch<0> cauchy_;
    FreeGram free_gram_;                       // the products over the free variables at the last iterate
    dense::Array<0> workspace_, coefficients_; // workspace of the subspace minimisation; coefficients of d
    Request request_{};                        // the last request
    PanelRequest requested_{};                 // the last inner products requested outside the Cauchy search
    DiagonalUpdate update_requested_{};        // the update of h that the sweep of these products performs
};

// Constructs a state machine in a block of state_bytes(m) zero bytes, which must be aligned to 8 bytes.
StateMachine *make_state(void *block, int64_t n, int m);
int64_t state_bytes(int m);

} // namespace cudaopt
