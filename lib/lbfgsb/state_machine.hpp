// L-BFGS-B for one large problem, as a state machine. advance() continues with the reply to the last request until it
// needs another sweep over the n variables or an action of the caller. It never loops over n and allocates nothing.
//
// states.hpp lists the states and their transitions. The Cauchy search, the use of an operator and the sampling of a
// noisy f are machines of their own, each within one state; their begin() and resume() return the next request.
//
// The object is one block of state_bytes(m) bytes without a pointer, made by make_state(). It may be moved, saved and
// loaded as bytes whenever its last request has been performed. A checkpoint also contains n-vectors.
#pragma once

#include "lbfgsb/free_gram.hpp"
#include "lbfgsb/operator_model.hpp"
#include "lbfgsb/states.hpp"
#include "lbfgsb/step.hpp"

namespace cudaopt {

class StateMachine : public Iteration {
  public:
    Settings settings;

    // The returned request is valid until the next call of one of these three functions.
    const Request &advance(const Reply &reply);
    // Called instead of the next advance(). stop() is called if the caller wants no further task. alone: the other
    // ranks do not take part, so that no norm is measured. give_up() is called if a sweep of the backend took too long.
    const Request &stop(bool alone = false);
    const Request &give_up(bool stop_requested, double seconds_passed);
    // Resets the state. keep_pairs: for a warm start, the pairs are kept. The newest may be unfinished (finish_pair()).
    void begin_anew(bool keep_pairs);
    // Ends the solve because the backend has failed.
    void break_off() { state_ = State::ended, broken_ = true; }
    // Called after a checkpoint is loaded: the sums of the last inner products no longer exist.
    void forget_products() { products_valid_ = false; }

    // Validates an object that was read as bytes, for a handle with this n, m and precision (loaded.hpp). It also sets
    // the places of the arrays.
    bool is_consistent(int64_t n_, int m, int bits);

    // Requests the last inner products again, all of them formed in double precision.
    const Request &request_in_double() {
        requested_.single = false;
        return request_;
    }
    // The operands of the last request.
    const PanelRequest &panel_requested() const { return state_ == State::cauchy ? cauchy_.panel() : requested_; }
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

    State state() const { return state_; }
    bool started() const { return state_ != State::start; }
    bool has_ended() const { return state_ == State::ended; }
    bool broken() const { return broken_; }
    int task() const { return task_; } // the last task returned to the caller
    const CompactMatrix<0> &matrix() const { return matrix_; }
    const LearnedDiagonal &learned_diagonal() const { return hessian_; }
    bool pair_unfinished() const { return pair_unfinished_; }
    // Returns whether x is a point along the direction, whose base point can be restored.
    bool is_at_trial() const { return state_ == State::trial_point || samples_noise_at_point(); }
    bool samples_noise_at_point() const {
        return state_ == State::noise_sampled && noise_samples_.state() == noise::Sampling::evaluation;
    }
    // Returns the slot of the history that contains, at a trial point, d and the gradient g_base at the base point.
    int spare_slot() const { return direction_request_.spare_slot; }
    // Returns whether B_0 is theta diag(1 / h) instead of theta I.
    bool weighted() const { return hessian_.weighted(settings); }
    // Returns theta of the newest model. With the caller's diagonal it is 1 before the first model is formed.
    double model_theta() const {
        if (!uses_callers_diagonal(settings)) return matrix_.theta();
        const double coefficient = direction_request_.gradient_coefficient;
        return coefficient < 0 ? -1 / coefficient : 1;
    }
    // Returns whether x is a trial point whose direction sums follow with the reply to products_at_trial().
    bool awaits_direction_sums() const { return state_ == State::trial_point && descent_ == Descent::unknown; }
    PanelRequest products_at_trial() const {
        return trial_panel(settings, *this, matrix_, hessian_, needs_free_gram());
    }
    void set_direction_sums(const DirectionSums &sums) { direction = sums, descent_ = Descent::sums_known; }
    // The slot of a new pair contains g_base until the sweep of the next direction forms y = g - g_base. If this is
    // pending, finish_pair() returns the slot and regards y as formed; otherwise it returns -1.
    int finish_pair() {
        if (!pair_unfinished_) return -1;
        pair_unfinished_ = products_valid_ = false;
        return matrix_.newest_slot();
    }

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

    // Whether the direction is a descent direction: the sums over it are unknown, known, or it is judged.
    enum class Descent { unknown, sums_known, judged };

    // Each of the following functions ends with a request.
    void suspend(State next, Verb verb);
    void request_products(State next, const PanelRequest &panel);
    void request_products_with_update(State next);
    void request_norm(State next, Norm kind);
    void request_at_base(State next, Verb verb, double number = 0); // with the slot of d and g_base
    void request_task(State next, int task);
    void request_evaluation(State next);

    // These functions check the start, and execute the steps at the start and at each iterate.
    void judge_start(const StartReport &report);
    void measure_start();
    bool measures_again(const PanelProducts &sums);
    void measure_iterate(const Reply &reply);
    void after_log(const Reply &reply);
    void judge_iterate(const Reply &reply);

    // These functions compute the search direction.
    void begin_direction(const Reply &reply);
    void begin_cauchy(const Reply &reply);
    bool keeps_free_gram(const Reply &reply) const;
    void follow_cauchy(CauchyState found, const PanelProducts &sums);
    void minimise_in_subspace(const PanelProducts &sums);
    void break_down();
    void request_direction(Verb verb);
    void judge_direction(const Reply &reply);
    void replace_direction();
    void prepare_truncation();
    void request_truncation();

    // These functions use the caller's operator.
    void follow_operator(OperatorState next, const OperatorProducts *products);
    void resume_operator(const Reply &reply);
    bool shortens_direction(const PanelProducts &sums);
    OperatorState refuse_operator_direction(double decrease);

    // These functions perform the line search.
    void judge_trial_products(const Reply &reply);
    void advance_search(const Reply &reply);
    void accept_trial(const Reply &reply);
    void restore(State next);
    void recover(const Reply &reply);
    void follow_noise_samples(noise::Sampling next);

    // These functions end the solve: one request after the other sets x, f and g to the best iterate.
    void settle();

    bool uses_operator() const { return settings.metric == Metric::callers_operator; }
    bool needs_free_gram() const { return bounded || uses_operator(); }
    bool logs() const { return settings.log_frequency >= 0; }
    PanelRequest model_panel() const {
        return hessian_.model_panel(settings, panel_, matrix_.weights(), needs_free_gram());
    }
    void use_stored_pairs() { panel_ = matrix_.stored_panel(needs_free_gram()); }
    void refresh();
    void note_norm(double norm) { cudaopt::note_norm(*this, matrix_, request_.norm.kind, norm); }

    State state_ = State::start;
    int task_ = 0;
    bool broken_ = false;

    PanelRequest panel_{};                 // the inner products that the next direction needs
    bool products_valid_ = false;          // whether the last inner products are those that panel_ requests
    DirectionRequest direction_request_{}; // coefficients is not set here, but in direction_requested()
    bool pair_unfinished_ = false;         // whether the slot of the newest y still contains g_base
    Descent descent_ = Descent::unknown;
    Preparation preparation_ = Preparation::none; // that of the next request
    NoiseSamples noise_samples_;

    InitialHessian hessian_;
    OperatorModel operator_;
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
