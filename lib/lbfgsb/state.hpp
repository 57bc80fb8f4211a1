// L-BFGS-B as a state machine. advance() goes on with the answer to its last request until it has to ask again: for a
// sweep over the n variables, or for what the caller has to do. It never loops over n, allocates nothing, and is the
// same on host and device.
//
// A state is one block of state_bytes(m) bytes without a pointer, made by make_state(): it may be moved, saved and
// loaded as bytes whenever its last request has been performed. One of known size has a single pointer, to everyone's
// settings, which are then to be set again.
// Together with the n-vectors that its pairs stand in, these bytes are a checkpoint.
//
//     start -> first_point -> [diagonal] -> trial_point -> ... -> [iterate] -> [diagonal] -> ... -> ended
//
// are the stages in which the caller acts; between them stand those in which the machine does.
//
// State has room for any number of pairs. That of a small problem among many (kind.hpp) has its arrays in it, serves
// one number as metric, and gets whatever it asks for of breakpoints; where there are certainly no bounds, half of it
// is not there.
#pragma once

#include <type_traits>
#include <utility>

#include "lbfgsb/event.hpp"
#include "lbfgsb/settings.hpp"
#include "lbfgsb/subspace.hpp"
#include "line_search/more_thuente.hpp"

namespace cudaopt {

// Along -g: theta of B = theta I, and the first step of the line search along the direction that it gives.
struct FirstStep {
    double theta, step;
};

// What the state goes on with, until it asks. The turns that several others lead to have a name; so each stands in a
// program once, and none is called from within another. In the order in which they lead to one another.
enum class Turn {
    measure_trial,
    judge_trial,
    search,
    accept,
    append_pair,
    measure_iterate,
    measure_x,
    log_iterate,
    judge_iterate,
    begin_direction,
    begin_cauchy,
    follow_cauchy,
    minimise_subspace,
    take_direction,
    judge_direction,
    asks
};

template <class Kind> class StateOf;
template <class Kind = AnyKind> CUDA_OPT_HD StateOf<Kind> *make_state(void *block, int64_t n, int m, bool full = false);

template <class Kind> class StateOf {
  public:
    // What the next answer is.
    enum class Stage {
        start,            // none: the solve begins
        start_checked,    // the report of the arrays
        start_refused,    // the variable that is wrong
        first_point,      // none: f and g are there
        plain_products,   // products over all variables of pairs of which there were only weighted ones
        first_products,   // their products
        pg_norm_measured, // ||P g|| of an iterate
        x_norm_measured,  // and ||x||
        iterate_logged,   // none
        iterate,          // none: the caller has seen it
        fall_verified,    // the norm of the relative gradient
        diagonal,         // none: the diagonal is there
        diagonal_checked, // its first bad element
        model_products,   // products that the direction is made from
        cauchy,           // what the Cauchy search has asked for
        direction_taken,  // perhaps the direction's sums
        stepped,          // none
        trial_point,      // none: f and g are there
        trial_products,   // their products
        longest_step,     // the largest step along d
        best_put_aside,   // none: the base point is kept as the best
        truncation_ready, // none: x is the base point again
        truncated,        // the share of the way to the subspace minimiser
        search_failed,    // none: x is the base point again
        failure_verified, // the norm of the relative gradient
        ending,           // none: x, f, g are being made the best iterate
        end_logged,       // none
        ended
    };

    Results results;
    Event event;

    // The request stands in the state until the next call of one of these three.
    // rows: what a small problem's turns have of its rows at once, without a request; for any other there are none.
    template <class Rows = dense::Nothing>
    CUDA_OPT_HD const Request &advance(const Answer &answer, const Rows &rows = {});
    // Instead of the first, where the report of the arrays is there, and usable, before it is asked for.
    CUDA_OPT_HD const Request &begin(const StartReport &report) {
        check_start();
        judge_start(report);
        return request_;
    }
    // Or where the caller wants no further task, or a sweep was waited for too long.
    CUDA_OPT_HD const Request &stop();
    CUDA_OPT_HD const Request &give_up(bool stop_requested, double seconds);
    // As before the first call. The pairs stay in a warm start, whose newest may be unfinished: see finish_pair().
    CUDA_OPT_HD void begin_anew(bool keep_pairs);
    // The machine has failed: there is nothing to go on with.
    CUDA_OPT_HD void break_off() { stage_ = Stage::ended, broken_ = true; }
    // The sums of the last inner products are there no longer: after a load.
    CUDA_OPT_HD void forget_products() { products_hold_ = false; }

    // Validates a state that was read as bytes: it is one in which the caller of a handle with this n, m and precision
    // has control, and every index, size and enumerator in it is within its range (loaded.hpp).
    bool is_consistent(int64_t n, int m, int bits);

    // The last inner products once more, all of them formed in double precision.
    CUDA_OPT_HD const Request &ask_in_double() {
        asked_.single = false;
        return request_;
    }
    // The request under way, and what belongs to it.
    CUDA_OPT_HD const Request &request() const { return request_; }
    CUDA_OPT_HD const PanelRequest &panel_asked() const {
        if constexpr (asks_for_rows)
            if (stage_ == Stage::cauchy) return cauchy_.panel();
        return asked_;
    }
    CUDA_OPT_HD ProductsRequest products_asked() const {
        return {panel_asked(), stage_ == Stage::cauchy ? MetricUpdate{} : metric_.asked()};
    }
    CUDA_OPT_HD const DirectionRequest &direction() const { return direction_; } // without the coefficients
    // Those of a state of known size stand with the rows.
    CUDA_OPT_HD const double *coefficients() const { return subspace_.coefficients(); }
    CUDA_OPT_HD DirectionRequest direction_asked() const {
        DirectionRequest request = direction_;
        request.coefficients = coefficients();
        return request;
    }

    // The state's own, or, where its size is known, those of all problems alike, which stand elsewhere: they are to be
    // set whenever it is taken up.
    CUDA_OPT_HD const Settings &settings() const {
        if constexpr (owns_settings) return settings_;
        else return *settings_;
    }
    CUDA_OPT_HD Settings &own_settings() { return settings_; }
    CUDA_OPT_HD void set(const Settings &settings) {
        if constexpr (owns_settings) settings_ = settings;
        else settings_ = &settings;
    }

    CUDA_OPT_HD Stage stage() const { return stage_; }
    CUDA_OPT_HD bool started() const { return stage_ != Stage::start; }
    CUDA_OPT_HD bool ended() const { return stage_ == Stage::ended; }
    CUDA_OPT_HD bool broken() const { return broken_; }
    CUDA_OPT_HD int task() const { return task_; } // the last one
    CUDA_OPT_HD int64_t n() const { return n_; }
    CUDA_OPT_HD const LimitedMemoryOf<Kind> &memory() const { return memory_; }
    CUDA_OPT_HD bool bounded() const { return Kind::bounds && bounded_; }
    CUDA_OPT_HD bool boxed() const { return boxed_; }
    CUDA_OPT_HD bool best_is_aside() const { return best_is_aside_; }
    CUDA_OPT_HD bool pair_unfinished() const { return pair_unfinished_; }
    CUDA_OPT_HD int spare_slot() const { return direction_.spare_slot; } // where d and g_base stand at a trial point
    // Whether the sums of the direction to this trial point are still to come, with the inner products of
    // products_at_trial().
    CUDA_OPT_HD bool awaits_direction_sums() const {
        return stage_ == Stage::trial_point && !direction_judged_ && !direction_sums_known_;
    }
    CUDA_OPT_HD PanelRequest products_at_trial() const;
    CUDA_OPT_HD const auto &metric() const { return metric_; }
    // Whether B_0 is theta diag(1 / h), and not theta I.
    CUDA_OPT_HD bool weighted() const { return callers_metric() || metric_.serves(); }
    // Of the newest model, with the caller's diagonal; 1 before the first.
    CUDA_OPT_HD double model_theta() const {
        if (!callers_metric()) return memory_.theta();
        return direction_.gradient_coefficient < 0 ? -1 / direction_.gradient_coefficient : 1;
    }
    CUDA_OPT_HD void know_direction_sums(const DirectionSums &sums) {
        direction_sums_ = sums;
        direction_sums_known_ = true;
    }
    // The slot of a pair whose y is still g_base, for a warm start, which then holds it finished; -1: none.
    CUDA_OPT_HD int finish_pair();

    template <class Visit> CUDA_OPT_HD constexpr void each_array(int m, Visit &visit) {
        memory_.each_array(m, visit);
        if constexpr (asks_for_rows) cauchy_.each_array(m, visit);
        subspace_.each_array(m, visit);
    }
    template <class Visit> CUDA_OPT_HD constexpr void each_lasting_array(int m, Visit &visit) {
        memory_.each_lasting_array(m, visit);
    }
    // Where the sums of a direction come with it, lasting_bytes(m) of a state that waits for the caller are all that is
    // kept; behind them stands what each model has anew, and, where the size is known, what each call brings or
    // overwrites.
    static constexpr int64_t passing_bytes =
        Kind::pairs == 0 ? 0
                         : (Kind::keeps_search ? sizeof(CauchySearchOf<Kind>) : 0) + alignof(Request) +
                               sizeof(Request) + sizeof(PanelRequest) + sizeof(double) + sizeof(Event) + sizeof(void *);
    CUDA_OPT_HD void lose_what_passes() { memory_.lose_what_passes(); }

  private:
    friend StateOf *make_state<Kind>(void *block, int64_t n, int m, bool full);
    using LimitedMemory = LimitedMemoryOf<Kind>;
    static constexpr bool serves_metrics = Kind::pairs == 0, owns_settings = Kind::pairs == 0;
    // Else they are at hand.
    static constexpr bool asks_for_rows = Kind::pairs == 0;

    enum class SearchFailure { no_descent, nothing_lower, lower_not_accepted, lower_not_found_again };

    template <class Rows> CUDA_OPT_HD Turn begin_turn(const Answer &answer, const Rows &rows);
    CUDA_OPT_HD Turn begin_turn_within_bounds(const Answer &answer);
    template <class Rows> CUDA_OPT_HD Turn take(Turn turn, const Answer &answer, const Rows &rows);
    template <class Rows, int... turns>
    CUDA_OPT_HD void take_in_order(Turn &turn, const Answer &answer, const Rows &rows,
                                   std::integer_sequence<int, turns...>);

    // The sums of the last inner products. Of rows that are at hand the compiler knows where theirs stand.
    template <class Rows> CUDA_OPT_HD static decltype(auto) products(const Answer &answer, const Rows &rows) {
        if constexpr (asks_for_rows) return (*answer.sums);
        else return rows.products();
    }

    // advance.hpp: from the start to the first direction, and the way of every iterate.
    CUDA_OPT_HD Turn check_start();
    CUDA_OPT_HD Turn judge_start(StartReport report);
    CUDA_OPT_HD Turn measure_start();
    CUDA_OPT_HD Turn refuse_start(EventKind why, int64_t index);
    CUDA_OPT_HD Turn tell_refusal(Variable variable);
    CUDA_OPT_HD Turn ask(Stage next, Verb verb);
    CUDA_OPT_HD Turn ask_products(Stage next, const PanelRequest &panel);
    CUDA_OPT_HD Turn ask_caller(Stage next, int task);
    CUDA_OPT_HD Turn ask_evaluation(Stage next);
    CUDA_OPT_HD static bool has_root(double squares);
    CUDA_OPT_HD Turn measure_iterate(const PanelProducts &sums);
    CUDA_OPT_HD Turn measure_x(double x_squares);
    CUDA_OPT_HD Turn log_iterate(const PanelProducts &sums);
    CUDA_OPT_HD Turn go_on_logged(const PanelProducts &sums);
    CUDA_OPT_HD Turn judge_first(double f, double rows_not_finite);
    CUDA_OPT_HD Turn report_iterate();
    CUDA_OPT_HD Turn judge_iterate();
    CUDA_OPT_HD bool factr_is_verified() const;
    CUDA_OPT_HD bool restart_is_recent() const;
    CUDA_OPT_HD void restart();
    CUDA_OPT_HD void note_progress();

    // direction.hpp: the model's minimiser along the projected path and in the subspace.
    CUDA_OPT_HD bool remakes_for_truncation() const { return serves_metrics && remakes_for_truncation_; }
    CUDA_OPT_HD bool callers_metric() const { return serves_metrics && settings().metric == Metric::callers; }
    CUDA_OPT_HD bool learns() const { return serves_metrics && settings().metric == Metric::learned; }
    CUDA_OPT_HD bool diagonal_is_due(int64_t iterate) const;
    CUDA_OPT_HD bool diagonal_will_hold() const { return callers_metric() && !diagonal_is_due(results.iterations + 1); }
    CUDA_OPT_HD double callers_theta() const;
    CUDA_OPT_HD Turn take_diagonal();
    CUDA_OPT_HD Turn judge_diagonal(int64_t first_bad);
    CUDA_OPT_HD Turn begin_direction();
    CUDA_OPT_HD FirstStep first_step() const;
    CUDA_OPT_HD bool in_metric() const { return callers_metric() || metric_.exists(); }
    // What the model's products are weighted with.
    CUDA_OPT_HD int64_t weights() const {
        return callers_metric() ? other_weights - diagonals_supplied_ : metric_.weights();
    }
    CUDA_OPT_HD PanelRequest model_panel() const;
    CUDA_OPT_HD Turn ask_model();
    CUDA_OPT_HD Turn ask_and_learn(Stage next);
    CUDA_OPT_HD void observe_pair(const PanelProducts &sums);
    template <class Rows> CUDA_OPT_HD Turn begin_cauchy(const PanelProducts &sums, const Rows &rows);
    CUDA_OPT_HD Turn follow_cauchy(CauchyTurn search);
    CUDA_OPT_HD Turn minimise_subspace(const CauchySearchOf<Kind> &cauchy, const PanelProducts &sums, double *q);
    CUDA_OPT_HD Turn break_down();
    CUDA_OPT_HD void refresh();
    CUDA_OPT_HD void use_stored_pairs();

    // trial.hpp: the line search.
    CUDA_OPT_HD Turn take_direction();
    CUDA_OPT_HD bool descends(const DirectionSums &sums);
    CUDA_OPT_HD void note_direction();
    CUDA_OPT_HD Turn replace_direction();
    CUDA_OPT_HD Turn judge_trial(const PanelProducts &sums, const DirectionSums *direction);
    CUDA_OPT_HD void start_line_search();
    CUDA_OPT_HD void know_longest_step(double longest);
    CUDA_OPT_HD bool longest_step_matters(double f, double slope) const;
    template <class Rows> CUDA_OPT_HD Turn advance_line_search(const PanelProducts &sums, const Rows &rows);
    CUDA_OPT_HD bool satisfies_weak_wolfe(double step, double f, double slope) const;
    CUDA_OPT_HD bool satisfies_approximate_wolfe(double f, double slope) const;
    CUDA_OPT_HD Turn try_step(double step);
    CUDA_OPT_HD Turn backtrack();
    CUDA_OPT_HD Turn exhaust_search(double f, bool warned);
    CUDA_OPT_HD Turn accept(const PanelProducts &sums);
    CUDA_OPT_HD bool is_best(double f, double pg_norm2) const;
    CUDA_OPT_HD bool runs_away(double slope);
    CUDA_OPT_HD bool repeats_a_point(double f, double slope) const;
    CUDA_OPT_HD double curvature_at_end(double f, double slope, double mean) const;
    CUDA_OPT_HD Turn append_pair(const PanelProducts &sums);
    CUDA_OPT_HD Turn truncate_direction();
    CUDA_OPT_HD Turn prepare_truncation();
    CUDA_OPT_HD Turn ask_truncation();
    CUDA_OPT_HD Turn fail_search(SearchFailure failure);
    CUDA_OPT_HD Turn after_failure();
    CUDA_OPT_HD Turn restore(Stage next);

    // ending.hpp
    CUDA_OPT_HD int stopping_test() const;
    CUDA_OPT_HD double least_decrease() const;
    CUDA_OPT_HD bool fall_is_small() const;
    CUDA_OPT_HD bool is_relatively_flat(double relative_gradient) const;
    CUDA_OPT_HD double rounding_errors() const;
    CUDA_OPT_HD double negligible_fall() const;
    CUDA_OPT_HD Turn converge(int test);
    CUDA_OPT_HD int limit_reached(bool at_iterate) const;
    CUDA_OPT_HD Turn end_at_limit(int code);
    CUDA_OPT_HD bool logs() const { return settings().log_frequency >= 0; }
    CUDA_OPT_HD Turn end(int code, EventKind why);
    CUDA_OPT_HD Turn settle();
    CUDA_OPT_HD void tell_end();

    static constexpr double progress_share = 0.1;  // of f or ||P g||: a fall that counts as progress
    static constexpr int steps_before_verdict = 5; // after a restart, before FACTR may end the solve
    // Differences of f below this share of f count as rounding errors where the slopes say that the step is good.
    static constexpr double rounding_level = 1e5 * machine_epsilon;

    int64_t n_ = 0;
    Stage stage_ = Stage::start;
    int task_ = 0;
    bool broken_ = false;

    bool bounded_ = false, boxed_ = false;
    bool single_ = false;     // x is in single precision
    bool f_is_single_ = true; // every f so far is a number of single precision

    PanelRequest panel_{};                // of the inner products that the next direction starts from
    bool products_hold_ = false;          // its sums are those that stand
    DirectionRequest direction_{};        // but for the coefficients, which are the subspace's
    bool remakes_for_truncation_ = false; // the model, for a direction that is to be truncated
    DirectionSums direction_sums_{};
    bool direction_sums_known_ = false;
    double f_base_ = 0, slope_base_ = 0; // at x_base, along d
    double step_ = 0;                    // of the trial point, along d
    double unit_ = 1;                    // d as L-BFGS-B has it is d / unit_: results are told in steps along that
    bool at_iterate_ = true;             // x, f, g are an iterate, not a trial point
    bool pair_unfinished_ = false;       // the newest pair's y is still g_base
    int64_t cauchy_free_ = 0, cauchy_breakpoints_ = 0; // of the direction under way
    double f_previous_ = 0;

    double f_best_ = infinity; // of the best iterate, the lowest of all
    IterateFacts best_;        // while it is put aside
    bool best_is_aside_ = false;
    bool ran_away_ = false; // in the last search f fell along a straight line as far as the search went
    double f_refreshed_ = infinity, pg_refreshed_ = infinity; // at the last refresh that a search made necessary
    int refreshes_in_vain_ = 0;
    int in_vain_ = 0; // iterations since these two have fallen
    double f_noted_ = infinity, pg_noted_ = infinity;
    int reached_ = 0; // the test that holds at the iterate, while the solve goes on, for a lower f
    int postponed_ = 0;

    double expected_fall_ = infinity; // of f by the model, along the direction of the last search, which failed
    double f_restarted_ = infinity;   // at the last restart

    int64_t search_evaluations_ = 0, cuts_in_a_row_ = 0;
    bool fresh_start_ = false; // the next search goes along -g, at its own scale
    bool direction_judged_ = false, search_started_ = false;
    bool longest_step_open_ = false; // how far d leads within the box has not mattered to this search so far
    bool exhausted_ = false;         // the search ended without a step that meets both conditions
    bool returning_ = false;         // and the trial point is the lowest that it saw
    bool first_ = true;              // the iterate that is measured is the start
    bool relatively_flat_ = false;   // the last check of the relative gradient
    // Iterations since the last first step along -g, which is the first of them; not counted beyond
    // steps_before_verdict.
    int steps_since_gradient_ = 0;
    SearchFailure failure_ = SearchFailure::no_descent;

    int end_code_ = 0;
    EventKind end_why_ = EventKind::nothing;

    int64_t metric_at_work_ = Metric::one_number; // of the pairs there are
    std::conditional_t<serves_metrics, LearnedMetric, NoMetric> metric_;
    int64_t diagonals_supplied_ = 0, diagonal_supplied_at_ = -1; // the latter: an iterate; -1: at none of this solve
    MoreThuente line_;
    LimitedMemoryOf<Kind> memory_;
    // From here on: see passing_bytes.
    std::conditional_t<Kind::keeps_search, CauchySearchOf<Kind>, dense::Nothing> cauchy_;
    SubspaceOf<Kind> subspace_{};
    Request request_{};    // the last one
    PanelRequest asked_{}; // the last inner products but the Cauchy search's
    double seconds_ = 0;   // since the solve began, if there is a limit to them
    Event told_early_;     // numbers of the end that settle() changes
    std::conditional_t<owns_settings, Settings, const Settings *> settings_{};
};

using State = StateOf<AnyKind>;

// Bytes of a state for m pairs.
template <class Kind = AnyKind> CUDA_OPT_HD constexpr int64_t state_bytes(int m) {
    StateOf<Kind> state;
    dense::CountArrays count;
    state.each_array(m, count);
    return static_cast<int64_t>(sizeof state) + count.doubles * static_cast<int64_t>(sizeof(double));
}
template <class Kind = AnyKind> CUDA_OPT_HD constexpr int64_t lasting_bytes(int m) {
    StateOf<Kind> state;
    dense::CountArrays count;
    state.each_lasting_array(m, count);
    return static_cast<int64_t>(sizeof state) - state.passing_bytes +
           count.doubles * static_cast<int64_t>(sizeof(double));
}

} // namespace cudaopt
