// This file implements cuda_opt_unlp_solve by a handle of cuda_opt.h. It does so for the order of arguments of this
// library and for that of the 2013 manual of L-BFGS for GPU-CUDA. A call performs either the whole solve with the
// caller's function, or one step of the solve by reverse communication.
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "cuda_opt_unlp.h"
#include "boundary/format.hpp"
#include "boundary/per_thread.hpp"
#include "device.hpp"
#include "manual_log.hpp"
#include "settings.hpp"

// The macro of cuda_opt_unlp.h is removed, because this file defines cuda_opt_unlp_solve as well as
// cuda_opt_unlp_solve_n_first.
#undef cuda_opt_unlp_solve

using namespace cudaopt::unlp;

namespace {

struct Destroy {
    void operator()(cuda_opt *s) const { cuda_opt_destroy(&s); }
};
using Handle = std::unique_ptr<cuda_opt, Destroy>;

struct Arguments {
    int n, m;
    double *x, *f, *g, *diagonal;
    double eps;
    int *state;
    bool manual; // True if the call uses the conventions, defaults and log of the 2013 manual of L-BFGS for GPU-CUDA.

    Settings effective() const { return manual ? settings().as_manual() : settings(); }
};

struct Solve {
    int n, m;
    // The log in the format of the 2013 manual of L-BFGS for GPU-CUDA. It is allocated separately, because the handle
    // stores its address.
    std::unique_ptr<ManualLog> log;
    Handle handle;
    int64_t searches_ended = 0; // The number of completed line searches.
};

// The solves by reverse communication that this thread has started. The key is the address of the caller's variable
// dev_istate. The solves are destroyed when the thread ends.
using Solves = std::map<const int *, Solve>;
cudaopt::PerThread<Solves> of_thread;

void print_line(void *, const char *line) { std::puts(line); }

int report_unknown_space(const char *name) {
    set_message("CUDA fails to tell where %s points to", name);
    return CUDA_OPT_CUDA_FAILURE;
}

int improper(const Arguments &a) {
    if (a.n < 1) return refuse("n is %d, but has to be at least 1", a.n);
    if (a.m < 1) return refuse("m is %d, but has to be at least 1; 3 to 7 are usual", a.m);
    if (!(a.eps >= 0 && std::isfinite(a.eps))) return refuse("eps is %g, but has to be at least 0, and finite", a.eps);
    if (!a.x) return refuse("dev_x is NULL");
    const int device = device_of(a.x);
    if (device == unknown_device) return report_unknown_space("dev_x");
    const struct {
        const char *name;
        const void *pointer;
        bool needed = true;
    } others[] = {{"dev_objf", a.f},
                  {"dev_grad", a.g},
                  {"dev_istate", a.state},
                  {"dev_hess", a.diagonal, settings().first_hessian}};
    for (const auto &[name, pointer, needed] : others) {
        if (!needed) continue;
        if (!pointer) return refuse("%s is NULL", name);
        const int other = device_of(pointer);
        if (other == unknown_device) return report_unknown_space(name);
        if (other != device) return refuse("%s is not in the memory of dev_x", name);
    }
    if (device == on_host) return 0;
    const int current = current_device();
    if (current == unknown_device) {
        set_message("CUDA fails to tell which device is the current one");
        return CUDA_OPT_CUDA_FAILURE;
    }
    if (device != current)
        return refuse("dev_x is on CUDA device %d, but device %d is the current one", device, current);
    return 0;
}

// Checks GTOL as VA15 (Nocedal's L-BFGS code) does: an invalid value is replaced by the default, and the solve is not
// rejected.
void restore_gtol(bool logs) {
    Settings &mine = settings();
    if (mine.gtol > 1e-4 && mine.gtol < 1) return;
    if (logs)
        cudaopt::print("  WARNING: GTOL = %e IS NOT BETWEEN 1E-04 AND 1: SET BACK TO %e\n", mine.gtol,
                       Settings::default_gtol);
    mine.gtol = Settings::default_gtol;
}

int apply_settings(Solve &solve, const Arguments &a) {
    restore_gtol(a.effective().logs());
    cuda_opt *const s = solve.handle.get();
    const Settings mine = a.effective();
    // Values that the 2013 manual of L-BFGS for GPU-CUDA prescribes are set explicitly, because the library's defaults
    // may differ.
    const std::pair<int32_t, double> reals[] = {{CUDA_OPT_PGTOL, 0},
                                                {CUDA_OPT_FACTR, 0},
                                                {CUDA_OPT_F_TARGET, -std::numeric_limits<double>::infinity()},
                                                {CUDA_OPT_ROUNDING, 0},
                                                {CUDA_OPT_F_UNBOUNDED, -std::numeric_limits<double>::infinity()},
                                                {CUDA_OPT_FTOL, 1e-4},
                                                {CUDA_OPT_GTOL, mine.gtol},
                                                {CUDA_OPT_XTOL, mine.xtol},
                                                // STPMIN is first set to 0, which is valid with any STPMAX.
                                                {CUDA_OPT_STPMIN, 0},
                                                {CUDA_OPT_STPMAX, mine.stpmax},
                                                {CUDA_OPT_STPMIN, mine.stpmin}};
    const std::pair<int32_t, int64_t> integers[] = {{CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR},
                                                    {CUDA_OPT_ROBUST, 1},
                                                    {CUDA_OPT_MAX_EVALUATIONS, 0},
                                                    {CUDA_OPT_MAXFEV, mine.maxfev},
                                                    {CUDA_OPT_MAX_ITERATIONS, mine.icall},
                                                    {CUDA_OPT_IPRINT_FREQUENCY, mine.frequency},
                                                    {CUDA_OPT_IPRINT_TYPE, mine.type},
                                                    {CUDA_OPT_DIAGCO, mine.first_hessian}};
    int code = 0;
    for (const auto &[key, value] : reals)
        if (code == 0) code = cuda_opt_set_real(s, key, value);
    for (const auto &[key, value] : integers)
        if (code == 0) code = cuda_opt_set_int(s, key, value);
    if (code == 0 && mine.first_hessian) code = cuda_opt_set_diagonal(s, a.diagonal);
    if (code != 0 || !mine.logs()) return code;
    if (!a.manual) return cuda_opt_set_log(s, print_line, nullptr);
    solve.log = std::make_unique<ManualLog>(a.n, a.m, mine.xtol);
    return cuda_opt_set_log(s, ManualLog::write, solve.log.get());
}

// Creates a handle and returns 0. If this fails, the function sets the message and returns a negative code.
int start(Solve &solve, const Arguments &a) {
    last_info() = 0;
    if (const int code = improper(a)) return code;
    cuda_opt *s = nullptr;
    int code = cuda_opt_create(&s, a.n, a.m, device_of(a.x) == on_host ? CUDA_OPT_BACKEND_HOST : CUDA_OPT_BACKEND_CUDA);
    solve.handle.reset(s);
    if (code == 0) code = apply_settings(solve, a);
    if (code != 0) set_message("%s", s ? cuda_opt_message(s) : "out of memory");
    return code;
}

int64_t result(cuda_opt *s, int32_t key) {
    int64_t value = 0;
    cuda_opt_get_int(s, key, &value);
    return value;
}

// Records how a line search ended, for cuda_opt_unlp_info(). During a line search the solver's result LINE_SEARCH_INFO
// has a value that the line search routine MCSRCH does not define. Therefore it is recorded only when a line search
// ends.
void record_info(Solve &solve, int task, int64_t searches_ended) {
    const bool has_ended = searches_ended != solve.searches_ended;
    solve.searches_ended = searches_ended;
    if (has_ended || task == CUDA_OPT_CONVERGED || task == CUDA_OPT_LINE_SEARCH_FAILED || task == CUDA_OPT_UNBOUNDED)
        last_info() = static_cast<int>(result(solve.handle.get(), CUDA_OPT_LINE_SEARCH_INFO));
}

int step(Solve &solve, const Arguments &a) {
    cuda_opt *const s = solve.handle.get();
    if (solve.log) solve.log->before_step();
    int task = cuda_opt_set_real(s, CUDA_OPT_EPS, settings().eps >= 0 ? settings().eps : a.eps);
    if (task == 0) task = cuda_opt_solve(s, a.x, a.f, a.g);
    const int64_t searches_ended = result(s, CUDA_OPT_ITERATIONS) + result(s, CUDA_OPT_REFRESHES);
    if (solve.log) solve.log->after_step(task, searches_ended);
    record_info(solve, task, searches_ended);
    set_message("%s", cuda_opt_message(s));
    return task;
}

// Waits for the work that the caller has enqueued on the device, so that the measured time of an evaluation includes
// this work.
void wait_for(const double *f) {
    double there;
    // If this copy fails, the next step of the solve reports the error.
    copy(&there, f, sizeof there);
}

// Performs a whole solve with the caller's function. If eval_fg throws an exception, it propagates to the caller,
// because this function is not called inside translate_exceptions(). Nothing else in this function throws.
template <class Evaluate> int solve_with(const Evaluate &evaluate, const Arguments &a) {
    Solve solve{a.n, a.m, nullptr, nullptr};
    if (const int code = guarded([&] { return start(solve, a); })) return code;
    int task;
    do {
        task = step(solve, a);
        if (task != CUDA_OPT_EVALUATE_FG) continue;
        evaluate();
        if (solve.log) wait_for(a.f);
        // The task CUDA_OPT_SUPPLY_DIAGONAL requires no action, because dev_hess already contains the diagonal.
    } while (task > 0);
    return task;
}

int continue_solve(const Arguments &a) {
    Solves &active_solves = of_thread.made();
    const auto found = active_solves.find(a.state);
    if (found == active_solves.end())
        return refuse("dev_istate asks to go on, but in this thread no solve with it is going on; 0 starts one");
    Solve &solve = found->second;
    const int task = a.n == solve.n && a.m == solve.m && a.eps >= 0
                         ? step(solve, a)
                         : refuse("n, m or eps is not what it was when this solve started");
    if (task <= 0) active_solves.erase(found);
    return task;
}

int solve_step(const Arguments &a) {
    int state = 0;
    if (!a.state) return refuse("dev_istate is NULL");
    if (const int code = copy(&state, a.state, sizeof state)) {
        set_message("dev_istate cannot be read: CUDA failed");
        return code;
    }
    if (state < 0 || state > CUDA_OPT_SUPPLY_DIAGONAL)
        return refuse("dev_istate is %d, but has to be 0 to start a solve, or what the last call left there", state);
    if (state == 0) {
        of_thread.made().erase(a.state);
        Solve fresh{a.n, a.m, nullptr, nullptr};
        if (const int code = start(fresh, a)) return code;
        of_thread.made()[a.state] = std::move(fresh);
    }
    return continue_solve(a);
}

int release(const int *state) {
    Solves &active_solves = of_thread.made();
    if (!state) active_solves.clear();
    else if (active_solves.erase(state) == 0) return refuse("in this thread no solve with this dev_istate is going on");
    return 0;
}

// Writes the state of the solve to the caller's variable dev_istate, and returns the code for the caller. If there is a
// log, it also prints the message of a failure that ends the solver without an entry in the log.
int with_state(const Arguments &a, int state) {
    if (a.state && copy(a.state, &state, sizeof state) != 0 && state >= 0) {
        set_message("dev_istate cannot be written: CUDA failed");
        state = CUDA_OPT_CUDA_FAILURE;
    }
    const bool unlogged = state == CUDA_OPT_IMPROPER_INPUT || state <= CUDA_OPT_CUDA_FAILURE;
    if (unlogged && a.effective().logs()) cudaopt::print(" %s\n", cuda_opt_unlp_message());
    return state;
}

} // namespace

int cuda_opt_unlp_solve(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x, double *dev_objf, double *dev_grad,
                        double *dev_hess, double *dev_workvec, double eps, int *dev_istate) {
    return cuda_opt_unlp_solve_n_first(n, m, eval_fg, dev_x, dev_objf, dev_grad, dev_hess, dev_workvec, eps,
                                       dev_istate);
}

int cuda_opt_unlp_solve_n_first(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x, double *dev_objf,
                                double *dev_grad, double *dev_hess, double *, double eps, int *dev_istate) {
    const Arguments a{n, m, dev_x, dev_objf, dev_grad, dev_hess, eps, dev_istate, false};
    return with_state(a, eval_fg ? solve_with([&] { eval_fg(n, dev_x, dev_objf, dev_grad); }, a)
                                 : guarded([&] { return solve_step(a); }));
}

int cuda_opt_unlp_manual_solve(int n, int m, cuda_opt_unlp_manual_function eval_fg, double *dev_x, double *dev_objf,
                               double *dev_grad, double *dev_hess, double *, double eps, int *dev_istate) {
    const Arguments a{n, m, dev_x, dev_objf, dev_grad, dev_hess, eps, dev_istate, true};
    return with_state(a, eval_fg ? solve_with([&] { eval_fg(dev_x, dev_objf, dev_grad, n); }, a)
                                 : guarded([&] { return solve_step(a); }));
}

int cuda_opt_unlp_release(const int *dev_istate) {
    return guarded([=] { return release(dev_istate); });
}
