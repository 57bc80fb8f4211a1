// One allocation of a batch or of a search failing: out of memory with a sentence or no harm done, nothing left over,
// and after a reset the bits of a handle to which nothing has happened.
#pragma once

#include "trials.hpp"

namespace failing {

template <class Trial> Outcome attempt(Trial &trial) {
    const int code = trial.create();
    return code == 0 ? trial.solve() : Outcome{code, 0, 0};
}

// A Trial has the handle `s`; create() and prepare(), which give codes: the first makes the handle and prepares it, the
// second prepares one that was reset; solve(), from the start; and the code `end` of a solve to which nothing happens.
template <class Make> std::string complaint_about_trial(const Make &make, int threads, int64_t number, Mode mode) {
    std::string wrong;
    auto trial = make();
    arm(number, mode);
    const Outcome first = attempt(trial);
    const bool sentence = is_sentence(cuda_opt_message(trial.s));
    if (mode == Mode::from_then_on && cuda_opt_backend(trial.s) > 0) { // again, with nothing to be had still
        cuda_opt_reset(trial.s);
        trial.solve();
    }
    calm();
    auto other = make();
    const Outcome wanted = attempt(other);
    if (wanted.code != trial.end) wrong = "undisturbed it ends with code " + std::to_string(wanted.code);
    if (!(first == wanted) && first.code != CUDA_OPT_OUT_OF_MEMORY) wrong = "code " + std::to_string(first.code);
    if (!sentence) wrong = "no sentence";
    if (wrong.empty() && cuda_opt_backend(trial.s) > 0) {
        cuda_opt_reset(trial.s);
        const int code = trial.prepare();
        const Outcome again = trial.solve();
        if (code != 0 || !(again == wanted))
            wrong = "other bits after a reset: code " + std::to_string(again.code) + ", '" + cuda_opt_message(trial.s) +
                    "'";
    }
    cuda_opt_destroy(&trial.s);
    cuda_opt_destroy(&other.s);
    if (wrong.empty() && threads == 1 && left_over() != 0)
        wrong = std::to_string(left_over()) + " blocks are left over";
    return wrong;
}

} // namespace failing
