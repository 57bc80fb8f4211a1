// The settings of the 2013 manual's interface and the message of the last call. Each thread has its own.
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
    double eps = -1; // negative: use the argument eps of the solve
    int maxfev = 20;
    int icall = 2000;
    int frequency = -1;
    int type = 0;
    bool first_hessian = false;
    // True if the thread has set xtol and iprint.
    bool chosen_xtol = false, chosen_iprint = false;

    // Returns the settings for the order of arguments of the 2013 manual: the manual's defaults, except for the values
    // that the thread has set.
    Settings as_manual() const {
        Settings same = *this;
        if (!chosen_xtol) same.xtol = std::numeric_limits<double>::epsilon();
        if (!chosen_iprint) same.frequency = 1;
        return same;
    }

    bool logs() const { return frequency >= 0; }
};

Settings &settings();

// Returns the value of info, with the codes of MCSRCH, of the last line search that a solve of this thread has
// completed.
int &last_info();

// Sets the message of this thread.
void set_message(const char *format, ...);
// Rejects the arguments of a call: sets the message and returns the code for invalid arguments.
template <class... Values> int refuse(const char *format, Values... values) {
    set_message(format, values...);
    return CUDA_OPT_IMPROPER_INPUT;
}
// Calls action(). An exception is translated into a message and a return code.
template <class Action> int guarded(const Action &action) noexcept {
    return translate_exceptions(action, [](int code, const char *words) {
        set_message("%s", words);
        return code;
    });
}

} // namespace cudaopt::unlp
