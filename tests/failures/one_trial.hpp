// One allocation of a batch or of a pattern search fails. The call must then return CUDA_OPT_OUT_OF_MEMORY with a
// message, or have the result of a solve without a failure. No memory may leak, and after a reset the handle must give
// results that are bitwise identical to those of another handle.
#pragma once

#include "trials.hpp"

namespace failing {

template <class Trial> Outcome attempt(Trial &trial) {
    const int code = trial.create();
    return code == 0 ? trial.solve() : Outcome{code, 0, 0};
}

// A Trial has the handle `s`. Its function create() creates and prepares the handle, and prepare() prepares a handle
// that was reset; both return a code. solve() solves from the start, and `end` is the code of a solve without a
// failure.
template <class Make> std::string complaint_about_trial(const Make &make, int threads, int64_t number, Mode mode) {
    std::string wrong;
    auto trial = make();
    arm(number, mode);
    const Outcome first = attempt(trial);
    const bool sentence = is_sentence(cuda_opt_message(trial.s));
    if (mode == Mode::from_then_on && cuda_opt_backend(trial.s) > 0) { // solve again while all allocations fail
        cuda_opt_reset(trial.s);
        trial.solve();
    }
    calm();
    auto other = make();
    const Outcome wanted = attempt(other);
    if (wanted.code != trial.end) wrong = "a solve without a failure returns code " + std::to_string(wanted.code);
    if (!(first == wanted) && first.code != CUDA_OPT_OUT_OF_MEMORY) wrong = "code " + std::to_string(first.code);
    if (!sentence) wrong = "the message is not a sentence";
    if (wrong.empty() && cuda_opt_backend(trial.s) > 0) {
        cuda_opt_reset(trial.s);
        const int code = trial.prepare();
        const Outcome again = trial.solve();
        if (code != 0 || !(again == wanted))
            wrong = "a different result after a reset: code " + std::to_string(again.code) + ", '" +
                    cuda_opt_message(trial.s) + "'";
    }
    cuda_opt_destroy(&trial.s);
    cuda_opt_destroy(&other.s);
    if (wrong.empty() && threads == 1 && left_over() != 0)
        wrong = std::to_string(left_over()) + " blocks are not freed";
    return wrong;
}

} // namespace failing
