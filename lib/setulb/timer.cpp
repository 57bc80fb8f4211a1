// The clock that comes with L-BFGS-B 3.0; its third driver, and programs made from it, limit their time by it.
#include <ctime>

#include "cuda_opt_setulb.h"

void timer_(double *seconds) {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    *seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
