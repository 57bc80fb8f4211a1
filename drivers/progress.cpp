#include "progress.hpp"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace driver {

Progress::Progress(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO)) {}

void Progress::show(const cudaopt::Handle &s, double seconds) {
    if (!wanted_ || seconds < next_) return;
    next_ = seconds + 0.2;
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%" PRId64 " iterations  f = %e  ||Pg|| = %e  %.0f s ", s.get_int(CUDA_OPT_ITERATIONS),
                 s.get_real(CUDA_OPT_F), s.get_real(CUDA_OPT_PG_NORM2), seconds);
}

void Progress::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

} // namespace driver
