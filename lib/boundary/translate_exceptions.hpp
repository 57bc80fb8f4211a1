// The API boundary of all interfaces. Every call that can fail runs inside translate_exceptions(), so that no exception
// reaches the caller. The function allocates nothing, so that it also works when memory is exhausted.
#pragma once

#include <new>

#include "cuda_opt.h"
#include "boundary/message.hpp"

namespace cudaopt {

// Returns action(). If it throws, returns report(code, words). Both return a code.
template <class Action, class Report> int translate_exceptions(const Action &action, const Report &report) noexcept {
    try {
        return action();
    } catch (const BackendFailure &failure) {
        return report(failure.code, failure.what());
    } catch (const std::bad_alloc &) {
        return report(CUDA_OPT_OUT_OF_MEMORY, "out of memory on the host");
    } catch (...) { // The library throws only the types above; this comes from a function of the caller.
        return report(CUDA_OPT_MISUSE, "a function of the caller's has thrown an exception");
    }
}

} // namespace cudaopt
