// This header declares the settings of the interface of the 2013 manual of L-BFGS for GPU-CUDA, and the message of its
// last call. Each thread has its own settings and message.
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
    double eps = -1; // A negative value means that the argument eps of the solve is used.
    int maxfev = 20;
    int icall = 2000;
    int frequency = -1;
    int type = 0;
    bool first_hessian = false;
    // chosen_xtol is true if the thread has set XTOL, chosen_iprint if it has set iprint.
    bool chosen_xtol = false, chosen_iprint = false;

    // Returns the settings for solves with the order of arguments of the 2013 manual of L-BFGS for GPU-CUDA. They have
    // the defaults of the manual, except for the values that the thread has set.
    Settings as_manual() const {
        Settings same = *this;
        if (!chosen_xtol) same.xtol = std::numeric_limits<double>::epsilon();
        if (!chosen_iprint) same.frequency = 1;
        return same;
    }

    bool logs() const { return frequency >= 0; }
};

Settings &settings();

// Returns how the last completed line search of this thread's solves ended, with the numbers of the line search routine
// MCSRCH.
int &last_info();

// Stores the message of this thread.
void set_message(const char *format, ...);
// Rejects the arguments of a call: stores the message and returns CUDA_OPT_IMPROPER_INPUT.
template <class... Values> int refuse(const char *format, Values... values) {
    set_message(format, values...);
    return CUDA_OPT_IMPROPER_INPUT;
}
// Calls action(). An exception is translated into a message of this thread and a return code.
template <class Action> int guarded(const Action &action) noexcept {
    return translate_exceptions(action, [](int code, const char *words) {
        set_message("%s", words);
        return code;
    });
}

} // namespace cudaopt::unlp
