// This file implements setulb with the calling sequence and the tasks of L-BFGS-B 3.0 by calls of the C interface of
// cuda_opt.
//
// Between two calls the caller's arrays contain a part of the state of a solve: the point at which the line search
// started, counts and tolerances. The history is in a handle of cuda_opt, which a number in isave, the ticket,
// identifies. The handle may no longer exist, because the limit on saved problems was reached or because the arrays are
// a copy. In this case a new handle continues from the point at which the line search started, with an empty history.
#include "cuda_opt_setulb.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "boundary/translate_exceptions.hpp"
#include "input.hpp"
#include "saved_problems.hpp"
#include "report.hpp"

namespace cudaopt::drop_in {

namespace {

constexpr char pgtol_satisfied[] = "CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL";
constexpr char factr_satisfied[] = "CONVERGENCE: REL_REDUCTION_OF_F_<=_FACTR*EPSMCH";
constexpr char abnormal[] = "ABNORMAL_TERMINATION_IN_LNSRCH";
// L-BFGS-B 3.0 reports abnormal terminations with these values of info.
constexpr int no_descent = -4, many_steps = -5, nothing_lower = -9;
// The code for an invalid value of CUDA_OPT_BACKEND. It must differ from the return codes of cuda_opt.h, which are
// negative for failures.
constexpr int bad_backend_name = 1;

int mark_of(const Call &call) { return static_cast<int>(0x5e7b0000u + static_cast<unsigned>(call.m)); }

int requested_backend() {
    const char *value = std::getenv("CUDA_OPT_BACKEND");
    const std::string name = value ? value : "";
    if (name.empty() || name == "auto") return CUDA_OPT_BACKEND_AUTO;
    if (name == "host") return CUDA_OPT_BACKEND_HOST;
    if (name == "cuda") return CUDA_OPT_BACKEND_CUDA;
    throw BackendFailure(bad_backend_name, "");
}

const char *words_for(int code) {
    switch (code) {
    case bad_backend_name: return "CUDA_OPT_BACKEND IS NOT auto, host OR cuda";
    case CUDA_OPT_OUT_OF_MEMORY: return "OUT OF MEMORY";
    case CUDA_OPT_BACKEND_UNAVAILABLE: return "NO CUDA DEVICE";
    case CUDA_OPT_CUDA_FAILURE: return "A CUDA CALL FAILED";
    default: return cuda_opt_task_name(code);
    }
}

// Returns the code of the exception that action() throws, or 0 if it throws none.
template <class Action> int code_of(const Action &action) {
    const auto own = [&] {
        action();
        return 0;
    };
    return translate_exceptions(own, [](int code, const char *) { return code; });
}

void forget_pairs(const Call &call) {
    call[updates] = call[pairs] = call[search_evaluations] = 0;
    call[oldest_pair] = 1;
    call[theta] = 1;
    call[updated] = 0;
}

// Returns a problem that starts at x and has requested f and g there. If memory is exhausted, the function destroys
// saved problems, the least recently used first, and tries again.
std::unique_ptr<Problem> started(const Call &call, const double *x, std::unique_ptr<Problem> problem,
                                 Problem::History history) {
    const int backend = requested_backend();
    for (;;) {
        const int code = code_of([&] {
            if (!problem || !problem->fits(call.n, call.m, backend)) {
                problem.reset();
                forget_pairs(call);
                problem = std::make_unique<Problem>(call.n, call.m, backend);
            }
            problem->start(call, x, history);
        });
        if (code == 0) return problem;
        problem.reset();
        if (code != CUDA_OPT_OUT_OF_MEMORY || !saved_problems().take_oldest()) throw BackendFailure(code, "");
    }
}

void begin(const Call &call) {
    if (is_refused(call)) return;
    std::unique_ptr<Problem> problem;
    while (auto abandoned = saved_problems().take_overlapping(call)) problem = std::move(abandoned);
    prepare_entries(call);
    report_input(call);
    report_start(call, move_into_box(call));
    problem = started(call, call.x, std::move(problem), Problem::History::empty);
    call[mark] = mark_of(call);
    call[dimension] = call.n;
    call.set_task("FG_START");
    saved_problems().save(std::move(problem), call);
}

void end(const Call &call, const char *words) {
    call.set_task(words);
    call.task_begins("ERROR") ? report_error(call, 0) : report_end(call);
}

void stop(const Call &call) {
    saved_problems().take(call.ticket());
    if (std::memcmp(call.task + 6, "CPU", 3) == 0 && call[evaluations] > 0) call.restore_base();
    report_end(call);
}

// Records in isave whether the step that the task NEW_X reported has given a correction pair. If it has not, the update
// of the matrix was skipped.
void record_update(const Call &call, Problem &problem) {
    call[updated] = !problem.skipped_update();
    if (call[updated]) {
        call.add(updates, 1);
        call[pairs] = std::min(call[updates], call.m);
        call[oldest_pair] = call[updates] <= call.m ? 1 : call[updates] % call.m + 1;
        call[newest_pair] = (std::max(call[updates], 1) - 1) % call.m + 1;
        if (problem.shows_pairs()) call.save_pair();
        call[theta] = problem.measure(CUDA_OPT_THETA);
    } else {
        call.add(skipped_updates, 1);
        report_skipped_update(call);
    }
}

// Stores the results of the Cauchy point, the subspace minimisation and the line search of this iteration in isave and
// dsave.
void record_step(const Call &call, Problem &problem) {
    const bool walked = call[constrained] || call[pairs] == 0;
    // The number of segments of the Cauchy path is one more than the number of breakpoints passed. If all n breakpoints
    // are passed, no segment follows the last one, so the number is at most n.
    call.set(segments, walked ? std::min<int64_t>(1 + problem.count(CUDA_OPT_CAUCHY_BREAKPOINTS), call.n) : 0);
    call.add(all_segments, call[segments]);
    call.set(free_variables, problem.count(CUDA_OPT_CAUCHY_FREE_COUNT));
    call[active_constraints] = call.n - call[free_variables];
    call.set(leaving, int64_t{call.n} + 1);
    const bool in_subspace = call[pairs] > 0 && call[free_variables] > 0;
    call[beyond_box] = !in_subspace ? -1 : problem.count(CUDA_OPT_SUBSPACE_PROJECTED) > 0;
    call[direction_norm] = problem.measure(CUDA_OPT_DIRECTION_NORM2);
    call[direction_squared] = call[direction_norm] * call[direction_norm];
    call[slope_start] = problem.measure(CUDA_OPT_SLOPE_START);
    call[slope] = problem.measure(CUDA_OPT_SLOPE);
    call[step] = problem.measure(CUDA_OPT_STEP);
    call[search_slope_start] = call[slope_start];
    call[sufficient_slope] = 1e-3 * call[slope_start];
    call[search_f_start] = call[f_base];
    call[step_limit] = !call[constrained] ? 1e10 : call[iteration] == 0 ? 1 : 0;
}

const char *line_search_words(int64_t info) {
    switch (info) {
    case 1: return "CONVERGENCE";
    case 2: return "WARNING: XTOL TEST SATISFIED";
    case 4: return "WARNING: STP = STPMIN";
    case 5: return "WARNING: STP = STPMAX";
    case 6: return "WARNING: ROUNDING ERRORS PREVENT PROGRESS";
    default: return "";
    }
}

// Converts the task of the solver to the task of setulb, and stores the results in the caller's arrays.
void reply(const Call &call, std::unique_ptr<Problem> problem, int task) {
    if (problem->dropped_history()) forget_pairs(call);
    switch (task) {
    case CUDA_OPT_EVALUATE_FG:
        problem->get_x(call.x);
        call.add(evaluations, 1);
        call[backtracks] = call[search_evaluations];
        call.add(search_evaluations, 1);
        call.set_task("FG_LNSRCH");
        return saved_problems().save(std::move(problem), call);
    case CUDA_OPT_NEW_ITERATE:
        record_step(call, *problem);
        call.add(iteration, 1);
        call[projected_gradient] = problem->measure(CUDA_OPT_PG_NORM_INF);
        Call::set_text(call.csave, line_search_words(problem->count(CUDA_OPT_LINE_SEARCH_INFO)));
        report_new_x(call);
        call.set_task("NEW_X");
        return saved_problems().save(std::move(problem), call);
    // The solver's own tolerances are practically 0 (problem.cpp), because this file applies the tests with the
    // caller's pgtol and factr. The solver therefore reports convergence in two cases only: the projected gradient is
    // 0, or f did not change and the caller's factr is NaN, so that the test in this file is never true.
    case CUDA_OPT_CONVERGED:
        if (problem->count(CUDA_OPT_STOP_TEST) == CUDA_OPT_FACTR) return end(call, factr_satisfied);
        if (0 <= call.pgtol) return end(call, pgtol_satisfied);
        call.add(iteration, 1);
        call[fault] = no_descent;
        return end(call, abnormal);
    case CUDA_OPT_LINE_SEARCH_FAILED:
    case CUDA_OPT_NOT_FINITE:
        record_step(call, *problem);
        call.restore_base();
        call.add(iteration, 1);
        call[fault] = nothing_lower;
        return end(call, abnormal);
    default: throw BackendFailure(task, "");
    }
}

// Restarts the problem at the point at which the line search started, with f and g at this point. The correction pairs
// are kept if the handle still exists.
std::unique_ptr<Problem> at_base(const Call &call, std::unique_ptr<Problem> problem) {
    problem = started(call, call.base_x(), std::move(problem), Problem::History::retained);
    problem->put(call[f_base], call.base_g());
    return problem;
}

// Checks the caller's x and projects it into the box. The caller may have changed x after the last call. Returns
// whether the solve can continue at x.
bool accept_x(const Call &call) {
    if (is_refused(call)) return false;
    const int start_projected = call[projected];
    move_into_box(call);
    call[projected] = start_projected;
    return true;
}

// Handles an unknown task as L-BFGS-B 3.0 does: it requests f and g at the caller's x, and restarts there with the
// stored correction pairs.
void restart_at_x(const Call &call) {
    auto problem = saved_problems().take(call);
    if (!accept_x(call)) return;
    problem = started(call, call.x, std::move(problem), Problem::History::retained);
    call.set_task("FG_START");
    saved_problems().save(std::move(problem), call);
}

void continue_solve(const Call &call) {
    const bool at_start = call.task_begins("FG_ST"), at_iterate = call.task_begins("NEW_X");
    auto problem = saved_problems().take(call);
    if (at_iterate) {
        if (call[projected_gradient] <= call.pgtol) return end(call, pgtol_satisfied);
        const double scale = std::max({std::fabs(call[f_base]), std::fabs(*call.f), 1.0});
        if (call[f_base] - *call.f <= call[f_tolerance] * scale) {
            if (call[backtracks] >= 10) call[fault] = many_steps;
            return end(call, factr_satisfied);
        }
        if (problem) record_update(call, *problem);
    }
    // own_point is true if the solve has to continue at the caller's x, f and g. This is so if the caller has modified
    // f or the task, as L-BFGS-B 3.0 permits, or if the handle no longer exists. If the handle was lost at a trial
    // point of a line search, restore_base() first replaces x, f and g by those at which the line search started.
    const bool own_point = !problem || (at_start ? !problem->at_start() : at_iterate && *call.f != problem->f());
    if (!problem && !at_start && !at_iterate) call.restore_base();
    if (own_point && !accept_x(call)) return;
    if (at_start) call[evaluations] = 1;
    if (at_start || at_iterate || own_point) {
        call.save_base();
        call[search_evaluations] = 0;
    }
    try {
        if (own_point) problem = at_base(call, std::move(problem));
        else if (!at_iterate) problem->put(*call.f, call.g);
        const int task = problem->solve();
        if (at_start) {
            call[projected_gradient] = problem->measure(CUDA_OPT_PG_NORM_INF);
            report_first_point(call);
            const bool known = task == CUDA_OPT_EVALUATE_FG || task == CUDA_OPT_LINE_SEARCH_FAILED;
            if (known && call[projected_gradient] <= call.pgtol) return end(call, pgtol_satisfied);
        }
        if (at_start || at_iterate) report_iteration(call);
        reply(call, std::move(problem), task);
    } catch (...) {
        call.restore_base();
        throw;
    }
}

void serve(const Call &call) {
    const auto begun = std::chrono::steady_clock::now();
    const int code = code_of([&] {
        if (call.task_is_start()) begin(call);
        else if (call[mark] != mark_of(call) || call[dimension] != call.n)
            end(call, "ERROR: NO START BEFORE THIS TASK");
        else if (call.task_begins("STOP")) stop(call);
        else if (call.task_begins("FG_ST") || call.task_begins("FG_LN") || call.task_begins("NEW_X"))
            continue_solve(call);
        else restart_at_x(call);
    });
    if (code != 0) {
        char words[text_length + 1];
        std::snprintf(words, sizeof words, "ERROR: %s", words_for(code));
        end(call, words);
    }
    if (!call.task_begins("ERROR"))
        call[seconds] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

} // namespace

} // namespace cudaopt::drop_in

using namespace cudaopt::drop_in;

void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd, double *f,
             double *g, const double *factr, const double *pgtol, double *wa, int *, char *task, const int *iprint,
             char *csave, int *lsave, int *isave, double *dsave, std::size_t, std::size_t) {
    serve({*n, *m, x, l, u, nbd, f, g, *factr, *pgtol, wa, task, *iprint, csave, lsave, isave, dsave});
}

void cuda_opt_setulb_release(const int *isave) {
    code_of([=] {
        if (isave) {
            Call call{};
            call.isave = const_cast<int *>(isave);
            saved_problems().take(call.ticket());
        } else {
            while (saved_problems().take_oldest()) {
            }
        }
    });
}

void cuda_opt_setulb_release_(const int *isave) { cuda_opt_setulb_release(isave); }
