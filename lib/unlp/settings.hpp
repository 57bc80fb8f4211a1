// The settings of the manual's interface, of which each thread has its own, and the thread's message.
#pragma once

#include <limits>

#include "cuda_opt.h"
#include "boundary/translate_exceptions.hpp"

namespace cudaopt::unlp {

struct Settings {
    static constexpr double default_gtol = 0.9;

    double gtol = default_gtol;
    double stpmin = 1e-20;
    double stpmax = 1e20;
    double xtol = 1e-16;
    double eps = -1; // negative: solve's argument
    int maxfev = 20;
    int icall = 2000;
    int frequency = -1;
    int type = 0;
    bool first_hessian = false;
    bool chosen_xtol = false, chosen_iprint = false; // by their setters

    // What holds in the manual's own form: its defaults, where the thread has chosen nothing else.
    Settings as_manual() const {
        Settings same = *this;
        if (!chosen_xtol) same.xtol = std::numeric_limits<double>::epsilon();
        if (!chosen_iprint) same.frequency = 1;
        return same;
    }

    bool logs() const { return frequency >= 0; }
};

Settings &settings();

// The line search's info, as MCSRCH numbers it, of the last search that this thread's solves have ended.
int &last_info();

// Set this thread's message.
void set_message(const char *format, ...);
// For a call that refuses its arguments: the message, and the code.
template <class... Values> int refuse(const char *format, Values... values) {
    set_message(format, values...);
    return CUDA_OPT_IMPROPER_INPUT;
}
// A call that can fail: what action() throws becomes the message, and a code.
template <class Action> int guarded(const Action &action) noexcept {
    return translate_exceptions(action, [](int code, const char *words) {
        set_message("%s", words);
        return code;
    });
}

} // namespace cudaopt::unlp
