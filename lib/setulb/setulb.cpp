// setulb with the calling sequence and the tasks of L-BFGS-B 3.0, over the C interface.
//
// The caller's arrays are the problem: base point, counts and tolerances are in them between calls. The handle that a
// ticket in isave leads to holds the memory of the method. Where there is none, because it had to make room or because
// the arrays are a copy, a new one starts from the base point with an empty memory.
#include "cuda_opt_setulb.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>

#include "setulb/input.hpp"
#include "setulb/kept.hpp"
#include "setulb/report.hpp"

namespace cudaopt::drop_in {

namespace {

constexpr char pgtol_holds[] = "CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL";
constexpr char factr_holds[] = "CONVERGENCE: REL_REDUCTION_OF_F_<=_FACTR*EPSMCH";
constexpr int bad_backend_name = 1; // beside the negative codes

int mark_of(const Call &call) { return static_cast<int>(0x5e7b0000u + static_cast<unsigned>(call.m)); }

int asked_backend() {
    const char *asked = std::getenv("CUDA_OPT_BACKEND");
    const std::string name = asked ? asked : "";
    if (name.empty() || name == "auto") return CUDA_OPT_BACKEND_AUTO;
    if (name == "host") return CUDA_OPT_BACKEND_HOST;
    if (name == "cuda") return CUDA_OPT_BACKEND_CUDA;
    throw Failure{bad_backend_name};
}

std::string words_for(int code) {
    switch (code) {
    case bad_backend_name: return "ERROR: CUDA_OPT_BACKEND IS NOT auto, host OR cuda";
    case CUDA_OPT_OUT_OF_MEMORY: return "ERROR: OUT OF MEMORY";
    case CUDA_OPT_BACKEND_UNAVAILABLE: return "ERROR: NO CUDA DEVICE";
    case CUDA_OPT_CUDA_FAILURE: return "ERROR: A CUDA CALL FAILED";
    default: return std::string("ERROR: ") + cuda_opt_task_name(code);
    }
}

// A problem that stands at x and wishes for f and g there. Where memory is short, those that wait longest make room.
std::unique_ptr<Problem> started(const Call &call, const double *x, std::unique_ptr<Problem> problem) {
    const int backend = asked_backend();
    for (;;) {
        try {
            if (!problem || !problem->fits(call.n, call.m, backend)) {
                problem.reset();
                problem = std::make_unique<Problem>(call.n, call.m, backend);
            }
            problem->start(call, x);
            return problem;
        } catch (const Failure &failure) {
            problem.reset();
            if (failure.code != CUDA_OPT_OUT_OF_MEMORY || !kept().take_oldest()) throw;
        }
    }
}

void begin(const Call &call) {
    const Refusal why = refusal(call);
    if (why.words) {
        call.set_task(why.words);
        return report_error(call, why.index);
    }
    std::unique_ptr<Problem> problem;
    for (auto &given_up : kept().take_overlapping(call)) problem = std::move(given_up);
    prepare_entries(call);
    report_input(call);
    report_start(call, move_into_box(call));
    problem = started(call, call.x, std::move(problem));
    call[mark] = mark_of(call);
    call[dimension] = call.n;
    call.set_task("FG_START");
    kept().keep(std::move(problem), call);
}

void end(const Call &call, const std::string &words) {
    call.set_task(words.c_str());
    words.compare(0, 5, "ERROR") == 0 ? report_error(call, 0) : report_end(call);
}

void stop(const Call &call) {
    kept().take(call.ticket());
    if (std::memcmp(call.task + 6, "CPU", 3) == 0 && call[evaluations] > 0) call.restore_base();
    report_end(call);
}

void forget_pairs(const Call &call) {
    call[updates] = call[pairs] = call[search_evaluations] = 0;
    call[theta] = 1;
    call[updated] = 0;
}

// What became of the step that NEW_X announced.
void note_update(const Call &call, Problem &problem) {
    call[updated] = !problem.skipped_update();
    if (call[updated]) {
        call[updates]++;
        call[pairs] = std::min(call[updates], call.m);
        call[theta] = problem.measure(CUDA_OPT_THETA);
    } else {
        call[skipped_updates]++;
        report_skipped_update(call);
    }
}

// What the Cauchy point, the subspace step and the line search of this iteration came to.
void note_search(const Call &call, Problem &problem) {
    const auto number = [&](int key) { return static_cast<int>(problem.count(key)); };
    const bool walked = call[constrained] || call[pairs] == 0;
    // One more than the breakpoints passed, unless nothing is left to move beyond the last.
    call[segments] = walked ? std::min(1 + number(CUDA_OPT_CAUCHY_BREAKPOINTS), call.n) : 0;
    call[all_segments] += call[segments];
    call[free_variables] = number(CUDA_OPT_CAUCHY_FREE_COUNT);
    call[active_constraints] = call.n - call[free_variables];
    call[leaving] = call.n + 1;
    const bool in_subspace = call[pairs] > 0 && call[free_variables] > 0;
    call[beyond_box] = !in_subspace ? -1 : number(CUDA_OPT_SUBSPACE_PROJECTED) > 0;
    call[direction_norm] = problem.measure(CUDA_OPT_DIRECTION_NORM2);
    call[direction_squared] = call[direction_norm] * call[direction_norm];
    call[slope_start] = problem.measure(CUDA_OPT_SLOPE_START);
    call[slope] = problem.measure(CUDA_OPT_SLOPE);
    call[step] = problem.measure(CUDA_OPT_STEP);
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

// What the solver answers becomes the caller's next task.
void answer(const Call &call, std::unique_ptr<Problem> problem, int task) {
    if (problem->dropped_memory()) forget_pairs(call);
    switch (task) {
    case CUDA_OPT_EVALUATE_FG:
        problem->get_x(call.x);
        call[evaluations]++;
        call[backtracks] = call[search_evaluations]++;
        call.set_task("FG_LNSRCH");
        return kept().keep(std::move(problem), call);
    case CUDA_OPT_NEW_ITERATE:
        note_search(call, *problem);
        call[iteration]++;
        call[projected_gradient] = problem->measure(CUDA_OPT_PG_NORM_INF);
        Call::set_text(call.csave, line_search_words(problem->count(CUDA_OPT_LINE_SEARCH_INFO)));
        report_new_x(call);
        call.set_task("NEW_X");
        return kept().keep(std::move(problem), call);
    case CUDA_OPT_CONVERGED: return end(call, pgtol_holds);
    case CUDA_OPT_LINE_SEARCH_FAILED:
    case CUDA_OPT_NOT_FINITE:
        note_search(call, *problem);
        call.restore_base();
        call[iteration]++;
        return end(call, "ABNORMAL_TERMINATION_IN_LNSRCH");
    default: throw Failure{task};
    }
}

// At the base point, with its f and g, but without a past.
std::unique_ptr<Problem> revived(const Call &call) {
    auto problem = started(call, call.base_x(), nullptr);
    problem->put(call[f_base], call.base_g());
    forget_pairs(call);
    return problem;
}

void go_on(const Call &call) {
    const bool at_start = call.task_begins("FG_ST"), at_iterate = call.task_begins("NEW_X");
    auto problem = kept().take(call);
    if (at_iterate) {
        if (call[projected_gradient] <= call.pgtol) return end(call, pgtol_holds);
        const double scale = std::max({std::fabs(call[f_base]), std::fabs(*call.f), 1.0});
        if (call[f_base] - *call.f <= call[f_tolerance] * scale) return end(call, factr_holds);
        if (problem) note_update(call, *problem);
    }
    if (at_start) call[evaluations] = 1;
    if (at_start || at_iterate) {
        call.save_base();
        call[search_evaluations] = 0;
    }
    try {
        if (!problem) problem = revived(call);
        else if (!at_iterate) problem->put(*call.f, call.g);
        const int task = problem->solve();
        if (at_start) {
            call[projected_gradient] = problem->measure(CUDA_OPT_PG_NORM_INF);
            report_first_point(call);
        }
        if (at_start || at_iterate) report_iteration(call);
        answer(call, std::move(problem), task);
    } catch (const Failure &) {
        call.restore_base();
        throw;
    }
}

void serve(const Call &call) {
    const auto begun = std::chrono::steady_clock::now();
    try {
        if (call.task_is_start()) begin(call);
        else if (call[mark] != mark_of(call) || call[dimension] != call.n)
            end(call, "ERROR: NO START BEFORE THIS TASK");
        else if (call.task_begins("STOP")) stop(call);
        else if (call.task_begins("FG_ST") || call.task_begins("FG_LN") || call.task_begins("NEW_X")) go_on(call);
        else end(call, "ERROR: UNKNOWN TASK");
    } catch (const Failure &failure) {
        end(call, words_for(failure.code));
    } catch (const std::bad_alloc &) {
        end(call, words_for(CUDA_OPT_OUT_OF_MEMORY));
    }
    if (!call.task_begins("ERROR"))
        call[seconds] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

} // namespace

} // namespace cudaopt::drop_in

using namespace cudaopt::drop_in;

void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd, double *f,
             double *g, const double *factr, const double *pgtol, double *wa, int *, char *task, const int *iprint,
             char *csave, int *lsave, int *isave, double *dsave, size_t, size_t) {
    serve({*n, *m, x, l, u, nbd, f, g, *factr, *pgtol, wa, task, *iprint, csave, lsave, isave, dsave});
}

void cuda_opt_setulb_release(const int *isave) {
    if (isave) {
        Call call{};
        call.isave = const_cast<int *>(isave);
        kept().take(call.ticket());
    } else {
        while (kept().take_oldest()) {
        }
    }
}

void cuda_opt_setulb_release_(const int *isave) { cuda_opt_setulb_release(isave); }
