// Solves one small problem of a batch by a team of lanes (team.hpp). All lanes execute the sweeps, which are the
// operations on all variables. The first lane makes the decisions between the sweeps.
//
// Decisions and formulas are those of a large problem (lbfgsb/iteration.hpp and others). Only their order is repeated
// here, as one function that runs from f and g at x to the next trial point or termination. A small problem has its
// variables in its own memory, so it suspends only for evaluations.
#pragma once

#include <new>

#include "batch/small_inner_products.hpp"
#include "lbfgsb/step.hpp"

namespace cudaopt::batch {

// Returns the settings with the initial Hessian of the kernel. Reports, logs and history precision have no effect.
inline Settings for_small_problems(Settings settings, int64_t metric) {
    settings.metric = metric;
    return settings;
}

template <class Real, class Team, class ShapeOf = Shape> class SmallProblem {
  public:
    using Values = Numbers<Real, ShapeOf>;
    static constexpr int M = ShapeOf::pairs;

    // settings: the result of for_small_problems().
    CUDA_OPT_HD SmallProblem(Team team, ShapeOf shape, const Settings &settings, const Workspace &workspace,
                             const Values &vectors, const BoxArrays<Real> &box)
        : team_(team), shape_(shape), settings_(settings), workspace_(workspace),
          persistent_(*reinterpret_cast<Persistent<ShapeOf> *>(workspace.persistent)),
          sweeps_(team, shape, workspace, vectors, box) {}

    CUDA_OPT_HD Values x() const { return sweeps_.x(); }
    CUDA_OPT_HD Values g() const { return sweeps_.g(); }
    CUDA_OPT_HD double &f() const { return sweeps_.f(); }
    CUDA_OPT_HD const Results &results() const { return persistent_.iteration.results; }

    // Called before the start is stored in x. It clears only data that is read before it is written, to save time.
    CUDA_OPT_HD_INLINE void begin() {
        if (!is_full(shape_) || M == 0) {
            const Values vectors = x(); // x is the first vector, and the others follow it
            const auto count = static_cast<int>(vectors_bytes<Real>(shape_) / static_cast<int64_t>(sizeof(Real)));
            for (int k = team_.lane(); k < count; k += Team::width) vectors[k] = 0;
            team_.sync();
        }
        if (team_.lane() != 0) return;
        auto *const persistent = new (&persistent_) Persistent<ShapeOf>;
        dense::PlaceArrays place{reinterpret_cast<double *>(persistent + 1)};
        persistent->matrix.each_array(shape_.m, place);
        persistent->matrix.begin(is_full(shape_));
        persistent->iteration.n = shape_.n;
    }

    // Called after x has been stored. Advances to the first evaluation, or to termination if the input is invalid. Like
    // the next three functions, it returns in every lane CUDA_OPT_EVALUATE_FG or the return code of the solve.
    CUDA_OPT_HD_INLINE int start() {
        const StartReport report = sweeps_.check_start();
        team_.sync();
        return team_.of_first([&] {
            Iteration &it = persistent_.iteration;
            if (!it.accept_input(report)) {
                it.note_invalid(sweeps_.variable(it.invalid_index()));
                return int{CUDA_OPT_IMPROPER_INPUT};
            }
            persistent_.hessian.begin(settings_);
            it.begin(report);
            return request_evaluation();
        });
    }

    // Advances from f and g at x to the next task. supply(h) writes the caller's diagonal at x to h; all lanes call it.
    template <class Supply> CUDA_OPT_HD_INLINE int next_trial(double seconds, const Supply &supply) {
        Iteration &it = persistent_.iteration;
        Next next = decide([&] {
            it.seconds = seconds;
            use_stored_pairs();
            if (!it.first)
                update_and_request_products(
                    trial_panel(settings_, it, persistent_.matrix, persistent_.hessian, it.bounded));
            return Next::products;
        });
        for (bool judges = true; next < Next::step;) {
            if (next == Next::failure) next = decide([&] { return recover(); });
            if (next == Next::diagonal) {
                supply(sweeps_.h());
                next = decide([&] {
                    persistent_.hessian.accept_supplied(it.results.iterations);
                    return begin_direction(false);
                });
            }
            if (next == Next::products || next == Next::again) {
                sweeps_.inner_products(operands().panel, operands().update);
                next = decide([&] { return judges ? judge_point() : Next::model; });
                judges = next == Next::again;
            }
            if (next == Next::model) next = decide([&] { return form_model(); });
            if (next == Next::truncation) {
                const double alpha = sweeps_.truncation(operands().direction);
                next = decide([&] {
                    operands().direction.alpha = alpha;
                    it.results.truncations++;
                    return Next::direction;
                });
            }
            if (next == Next::direction) {
                sweeps_.direction(operands().direction);
                next = decide([&] { return judge_direction(); });
            }
        }
        if (next == Next::step) sweeps_.step(it.trial_step());
        return team_.of_first([&] { return next == Next::end ? finish() : request_evaluation(); });
    }

    // Ends the solve, instead of an evaluation, if the caller stops it or a wait for the device was too long.
    CUDA_OPT_HD_INLINE int stop() {
        return team_.of_first([&] {
            persistent_.iteration.results.evaluations--; // the requested evaluation was not made
            persistent_.iteration.end(CUDA_OPT_STOPPED, Event::stopped);
            return finish();
        });
    }

    CUDA_OPT_HD_INLINE int give_up(bool stop_requested, double seconds) {
        return team_.of_first([&] {
            persistent_.iteration.give_up(stop_requested, seconds);
            return finish();
        });
    }

  private:
    // The next action between one evaluation and the next.
    enum class Next {
        products,   // compute the inner products at x
        again,      // compute the inner products at x again, after infinite slopes were removed from g
        model,      // form the quadratic model from the inner products
        diagonal,   // let the caller supply the diagonal
        direction,  // compute the direction that minimises the model
        truncation, // compute the last direction again, truncated at the box
        failure,    // discard the pairs or end the solve, after a failed line search or a direction without descent
        step,       // form the point at another step along d, and evaluate f and g there
        evaluation, // evaluate f and g at the first step along the direction
        end
    };

    // The first lane calls decide(), and all lanes receive the result. Threads with a problem each reconverge here.
    template <class Decide> CUDA_OPT_HD_INLINE Next decide(const Decide &decide) const {
        return opaque_value(static_cast<Next>(team_.of_first([&] { return static_cast<int>(decide()); })));
    }
    // The operands of the sweeps, in the registers of a single thread or in the workspace, where all lanes read them.
    CUDA_OPT_HD Operands &operands() {
        if constexpr (Team::width == 1) return operands_;
        else return *reinterpret_cast<Operands *>(workspace_.scratch);
    }

    // ---- the decisions of the first lane

    // Judges the trial point or the start from f, g and the inner products, then evaluates the stopping tests.
    CUDA_OPT_HD_INLINE Next judge_point() {
        Iteration &it = persistent_.iteration;
        const PanelProducts sums = sweeps_.products();
        if constexpr (ShapeOf::bounds)
            if (it.removes_infinite_slopes(settings_, sums)) {
                sweeps_.remove_infinite_slopes();
                operands().update = {};
                return Next::again;
            }
        const bool is_start = it.first;
        bool has_products = settings_.metric != Metric::callers;
        if (!is_start) {
            if (settings_.metric == Metric::callers && operands().panel.weighted && sums.variable_sums[bad_weights] > 0)
                return report_bad_diagonal();
            it.measure_trial(settings_, sums);
            if (it.step_max_matters(settings_, sums, false)) it.set_step_max(settings_, sweeps_.largest_step());
            const TrialVerdict verdict = it.judge_trial(settings_, sums);
            if (it.saves_trial(settings_, sums, verdict)) sweeps_.save_trial();
            switch (verdict) {
            case TrialVerdict::evaluate: return Next::step;
            case TrialVerdict::fail: return Next::failure;
            case TrialVerdict::end: return Next::end;
            case TrialVerdict::accept: break;
            }
            if (it.accept(settings_, sums)) sweeps_.save_best();
            has_products =
                append_pair(settings_, it, persistent_.matrix, persistent_.hessian, sums, operands().panel, it.bounded);
        }
        it.measure(sums, persistent_.matrix.theta());
        measure([&] { return it.unknown_norm(); });
        if (!is_start) it.note_progress(settings_);
        else if (!it.accept_start(sums, 0)) return Next::end;
        IterateVerdict verdict{};
        measure([&] { return it.judge_iterate(settings_, persistent_.matrix.pairs(), verdict); });
        if (verdict == IterateVerdict::end) return Next::end;
        if (verdict == IterateVerdict::restart_anew) persistent_.hessian.clear();
        if (verdict == IterateVerdict::restart || verdict == IterateVerdict::restart_anew) {
            it.restart();
            refresh();
            has_products = false;
        }
        if (persistent_.hessian.is_due(settings_, it.results.iterations)) return Next::diagonal;
        return begin_direction(has_products);
    }

    // Called if the line search has failed or the direction is not a descent direction.
    CUDA_OPT_HD_INLINE Next recover() {
        Iteration &it = persistent_.iteration;
        const auto &matrix = persistent_.matrix;
        sweeps_.restore(it.f_base);
        it.at_iterate = true;
        it.note_failure(settings_, matrix.pairs(), matrix.theta());
        measure([&] { return it.norm_after_failure(settings_, matrix.pairs()); });
        if (it.after_failure(settings_, matrix.pairs()) == FailureVerdict::end) return Next::end;
        refresh();
        return begin_direction(false);
    }

    // Measures the norms that missing() returns, until it returns Norm::none.
    template <class Missing> CUDA_OPT_HD_INLINE void measure(const Missing &missing) {
        Iteration &it = persistent_.iteration;
        for (Norm kind; (kind = missing()) != Norm::none;)
            note_norm(it, persistent_.matrix, kind,
                      sweeps_.norm(norm_request(settings_, it, persistent_.matrix, kind, false)));
    }

    CUDA_OPT_HD_INLINE Next begin_direction(bool has_products) {
        cudaopt::begin_direction(settings_, persistent_.iteration, persistent_.matrix);
        if (has_products) return Next::model;
        if (persistent_.hessian.begins_from_sizes()) update_and_request_products(operands().panel);
        else request_products(model_panel());
        return Next::products;
    }

    // Finds the Cauchy point, then minimises the model over the variables that are free there.
    CUDA_OPT_HD_INLINE Next form_model() {
        Iteration &it = persistent_.iteration;
        auto &matrix = persistent_.matrix;
        const PanelProducts sums = sweeps_.products();
        if (!weigh_products(settings_, matrix, persistent_.hessian, sums, it.bounded))
            return settings_.metric == Metric::callers ? report_bad_diagonal() : break_down();
        PanelRequest &panel = operands().direction.panel;
        panel = model_panel();
        panel.older_steps = false;
        CauchyPoint point;
        if (!find_minimiser(sums, point)) return break_down();
        it.note_cauchy_point(point, !it.truncated);
        set_direction(operands().direction, point, it, matrix);
        it.begin_search(matrix.theta());
        if (!it.truncated) return Next::direction;
        truncate();
        return Next::truncation;
    }

    CUDA_OPT_HD_INLINE bool find_minimiser(const PanelProducts &sums, CauchyPoint &point) {
        auto &matrix = persistent_.matrix;
        if constexpr (!ShapeOf::bounds) {
            dense::QuasiDefiniteOf<M> none;
            double p[2 * M], workspace[2 * M];
            point.segments = 1;
            matrix.to_basis(sums.leading_products + panel::gradient * sums.columns, p);
            for (int i = 0; i < 2 * matrix.model_pairs(); i++) p[i] = -p[i];
            return minimise_subspace(matrix, p, nullptr, 0, nullptr, none, workspace, sweeps_.coefficients());
        } else {
            auto &transient = *reinterpret_cast<Transient<M> *>(workspace_.scratch + rounded_up(sizeof(Operands)));
            if constexpr (M == 0) {
                new (&transient) Transient<0>;
                dense::PlaceArrays place{reinterpret_cast<double *>(&transient + 1)};
                transient.each_array(shape_.m, place);
                return find_minimiser(sums, point, transient.cauchy, transient.factors, transient.subspace.data());
            } else {
                dense::QuasiDefiniteOf<M> factors;
                double workspace[2 * M];
                return find_minimiser(sums, point, transient.cauchy, factors, workspace);
            }
        }
    }

    // Computes the Cauchy point and the subspace minimiser. factors: memory for the factors of M^-1, then of K.
    template <class Factors>
    CUDA_OPT_HD_INLINE bool find_minimiser(const PanelProducts &sums, CauchyPoint &point, CauchySearch<M> &cauchy,
                                           Factors &factors, double *workspace) {
        const auto &matrix = persistent_.matrix;
        const bool bounded = persistent_.iteration.bounded;
        if (bounded && !matrix.factor(factors)) return false;
        CauchyState state =
            cauchy.begin(matrix, factors, operands().direction.panel, sums, bounded, settings_.approximate_cauchy);
        while (state == CauchyState::window)
            state = cauchy.resume(matrix, factors, sums,
                                  sweeps_.crossed(cauchy.panel(), cauchy.window_begin(), cauchy.window_end()));
        // Forms the inner products over the variables that are free at the Cauchy point.
        if (state == CauchyState::inner_products) {
            sweeps_.form_free_gram(cauchy.panel());
            cauchy.use_new_products();
        }
        if (state == CauchyState::breakdown) return false;
        point = cauchy.point();
        return minimise_over_free(persistent_.iteration, matrix, cauchy, sums, factors, workspace,
                                  sweeps_.coefficients());
    }

    // Checks that the direction is a descent direction. If it is not, the direction is truncated at the box, or the
    // step fails. Called when the direction and the sums of its sweep are known.
    CUDA_OPT_HD_INLINE Next judge_direction() {
        Iteration &it = persistent_.iteration;
        if (it.descends(settings_, sweeps_.direction_sums(), persistent_.matrix.pairs())) return Next::evaluation;
        if (!it.can_truncate()) {
            it.failure = Event::no_descent;
            return Next::failure;
        }
        if (it.ends_at_limit(settings_, false)) return Next::end;
        sweeps_.restore(it.f_base);
        it.truncated = true;
        // The quadratic model has to be formed again with the new diagonal.
        if (persistent_.hessian.has_changed()) {
            update_and_request_products(persistent_.matrix.stored_panel(it.bounded));
            return Next::products;
        }
        it.begin_search(persistent_.matrix.theta());
        truncate();
        return Next::truncation;
    }

    CUDA_OPT_HD_INLINE void truncate() {
        // The newest y is already stored, and no sweep has to compute it as g - g_base.
        operands().direction.panel.fresh = false;
        operands().direction.truncate = true;
    }

    CUDA_OPT_HD_INLINE PanelRequest model_panel() {
        return persistent_.hessian.model_panel(settings_, operands().panel, persistent_.matrix.weights(),
                                               persistent_.iteration.bounded);
    }

    CUDA_OPT_HD_INLINE void request_products(const PanelRequest &panel, const DiagonalUpdate &update = {}) {
        operands().panel = panel;
        operands().update = update;
    }

    // If an update of the learned diagonal is due, the sweep of these products performs it first.
    CUDA_OPT_HD_INLINE void update_and_request_products(PanelRequest panel) {
        const Iteration &it = persistent_.iteration;
        const DiagonalUpdate update =
            take_update(settings_, it, persistent_.matrix, persistent_.hessian, panel, it.bounded);
        request_products(panel, update);
    }

    CUDA_OPT_HD_INLINE void use_stored_pairs() {
        request_products(persistent_.matrix.stored_panel(persistent_.iteration.bounded));
    }

    CUDA_OPT_HD_INLINE void refresh() {
        discard_pairs(settings_, persistent_.iteration, persistent_.matrix, persistent_.hessian);
        use_stored_pairs();
    }

    // Discards the pairs and continues from x, after a factorisation broke down or a coefficient was not finite.
    CUDA_OPT_HD_INLINE Next break_down() {
        refresh();
        request_products(model_panel());
        return Next::products;
    }

    CUDA_OPT_HD_INLINE Next report_bad_diagonal() {
        persistent_.iteration.end_by_bad_diagonal(sweeps_.first_bad_weight());
        return Next::end;
    }

    // Ends the solve: x, f and g become those of the best iterate. Returns the code of the end.
    CUDA_OPT_HD_INLINE int finish() {
        Iteration &it = persistent_.iteration;
        if (it.best_saved) sweeps_.restore_best(it.restore_best_results());
        else if (!it.at_iterate) sweeps_.restore(it.f_base);
        it.at_iterate = true;
        measure([&] { return it.norm_at_end(); });
        it.record_end(settings_);
        return it.end_code;
    }

    CUDA_OPT_HD_INLINE int request_evaluation() {
        persistent_.iteration.count_evaluation();
        return CUDA_OPT_EVALUATE_FG;
    }

    Team team_;
    ShapeOf shape_;
    const Settings &settings_;
    const Workspace workspace_;
    Persistent<ShapeOf> &persistent_;
    SmallSweeps<Real, Team, ShapeOf> sweeps_;
    std::conditional_t<Team::width == 1, Operands, dense::Nothing> operands_{};
};

} // namespace cudaopt::batch
