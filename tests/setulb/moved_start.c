/* LD_PRELOAD puts this setulb_ before that of L-BFGS-B 3.0. It multiplies the start by 1 + MOVED, an environment
 * variable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_opt_setulb.h"

void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd, double *f,
             double *g, const double *factr, const double *pgtol, double *wa, int *iwa, char *task, const int *iprint,
             char *csave, int *lsave, int *isave, double *dsave, size_t task_length, size_t csave_length) {
    __typeof__(setulb_) *const next = (__typeof__(setulb_) *)dlsym(RTLD_NEXT, "setulb_");
    if (strncmp(task, "START", 5) == 0)
        for (int i = 0; i < *n; i++) x[i] *= 1 + atof(getenv("MOVED"));
    next(n, m, x, l, u, nbd, f, g, factr, pgtol, wa, iwa, task, iprint, csave, lsave, isave, dsave, task_length,
         csave_length);
}
