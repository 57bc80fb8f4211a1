// The rim of the C ABI, of all its interfaces: what can fail in a call of theirs is done at_rim(), and nothing that is
// thrown passes it. It allocates nothing, so that it also holds when memory is what is lacking.
#pragma once

#include <new>

#include "cuda_opt.h"
#include "rim/failure.hpp"

namespace cudaopt {

// action(), or where that throws answer(code, words); both return a code.
template <class Action, class Answer> int at_rim(const Action &action, const Answer &answer) noexcept {
    try {
        return action();
    } catch (const BackendFailure &failure) {
        return answer(failure.code, failure.what());
    } catch (const std::bad_alloc &) {
        return answer(CUDA_OPT_OUT_OF_MEMORY, "out of memory on the host");
    } catch (...) { // the library itself throws nothing else
        return answer(CUDA_OPT_MISUSE, "a function of the caller's has thrown an exception");
    }
}

} // namespace cudaopt
