#include "settings.hpp"

#include <cmath>
#include <cstdarg>

#include "cuda_opt_unlp.h"
#include "boundary/format.hpp"

namespace cudaopt::unlp {

namespace {

thread_local Settings of_thread;
thread_local int info_of_thread = 0;
thread_local char message[512] = "";

template <class Value> int set(Value &setting, Value value, bool in_range, const char *name, const char *range) {
    if (!in_range) return refuse("%s is %g, but has to be %s", name, static_cast<double>(value), range);
    setting = value;
    return 0;
}

bool finite_from_0(double value) { return value >= 0 && std::isfinite(value); }

} // namespace

Settings &settings() { return of_thread; }
int &last_info() { return info_of_thread; }

void set_message(const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    format(message, sizeof message, pattern, arguments);
    va_end(arguments);
}

} // namespace cudaopt::unlp

using namespace cudaopt::unlp;

const char *cuda_opt_unlp_message(void) { return message; }

int cuda_opt_unlp_info(void) { return last_info(); }

int cuda_opt_unlp_enable_first_Hessian(int enable) {
    settings().first_hessian = enable != 0;
    return 0;
}

int cuda_opt_unlp_change_eps(double eps) {
    return set(settings().eps, eps, std::isfinite(eps), "eps", "finite; negative for the argument of the solve");
}

int cuda_opt_unlp_set_iprint(int frequency, int type) {
    const int code = set(settings().type, type, type >= 0 && type <= 3, "iprint's type", "from 0 to 3");
    if (code != 0) return code;
    settings().frequency = frequency;
    settings().chosen_iprint = true;
    return 0;
}

int cuda_opt_unlp_set_GTOL(double gtol) {
    // GTOL is not checked here but when a solve starts, as in VA15 (Nocedal's L-BFGS code).
    settings().gtol = gtol;
    if (gtol > 1e-4 && gtol < 1) return 0;
    set_message("GTOL is %g, but has to be above 1e-4 and below 1: the next solve sets it back to %g", gtol,
                Settings::default_gtol);
    return 1;
}

int cuda_opt_unlp_set_STPMIN(double stpmin) {
    return set(settings().stpmin, stpmin, finite_from_0(stpmin), "STPMIN", "at least 0, and finite");
}

int cuda_opt_unlp_set_STPMAX(double stpmax) {
    return set(settings().stpmax, stpmax, finite_from_0(stpmax) && stpmax > 0, "STPMAX", "above 0, and finite");
}

int cuda_opt_unlp_set_XTOL(double xtol) {
    const int code = set(settings().xtol, xtol, finite_from_0(xtol), "XTOL", "at least 0, and finite");
    if (code == 0) settings().chosen_xtol = true;
    return code;
}

int cuda_opt_unlp_set_maxfev(int maxfev) { return set(settings().maxfev, maxfev, maxfev >= 1, "maxfev", "at least 1"); }

int cuda_opt_unlp_set_icall(int icall) {
    return set(settings().icall, icall, icall >= 0, "icall", "at least 0; 0 for no limit");
}

void cuda_opt_unlp_default_settings(void) { settings() = {}; }
