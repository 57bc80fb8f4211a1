/* libcuda_opt_setulb: the interface of L-BFGS-B 3.0 (Zhu, Byrd, Lu, Nocedal, Morales) over cuda_opt.
 *
 * Programs that call setulb link -lcuda_opt_setulb instead of -llbfgsb, and stay as they are. The arrays are
 * host memory; the work is done on the GPU where there is one, else on the host. See docs/setulb.md for what each entry
 * of isave, dsave and lsave holds, for the environment variables, and for the few differences. */
#ifndef CUDA_OPT_SETULB_H
#define CUDA_OPT_SETULB_H

#include <stddef.h>

#if defined(__GNUC__)
/** What the library exports. */
#define CUDA_OPT_SETULB_API __attribute__((visibility("default")))
#else
#define CUDA_OPT_SETULB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** In Fortran: call setulb(n, m, x, l, u, nbd, f, g, factr, pgtol, wa, iwa, task, iprint, csave, lsave, isave, dsave),
 *  default integers and logicals of 32 bits, double precision. From C everything is passed by its address.
 *  @param wa     2 m n + 5 n + 11 m^2 + 8 m values
 *  @param iwa    3 n values; not used
 *  @param task   60 characters, padded with blanks, without a final '\0'
 *  @param csave  likewise
 *  @param lsave  4 entries
 *  @param isave  44 entries
 *  @param dsave  29 entries
 *  @param task_length   what Fortran compilers append; not looked at
 *  @param csave_length  likewise */
CUDA_OPT_SETULB_API void setulb_(const int *n, const int *m, double *x, const double *l, const double *u,
                                 const int *nbd, double *f, double *g, const double *factr, const double *pgtol,
                                 double *wa, int *iwa, char *task, const int *iprint, char *csave, int *lsave,
                                 int *isave, double *dsave, size_t task_length, size_t csave_length);

/** Free what the library holds for the problem of these arrays, when it is given up before its end. Not needed after
 *  CONVERGENCE, ABNORMAL, ERROR or STOP, nor where a new START on the same arrays follows. Should the problem be gone
 *  on with nevertheless, it goes on from its last iterate.
 *  @param isave  NULL: of all problems that no thread is in the middle of a call with */
CUDA_OPT_SETULB_API void cuda_opt_setulb_release(const int *isave);
/** The same for Fortran: call cuda_opt_setulb_release(isave). */
CUDA_OPT_SETULB_API void cuda_opt_setulb_release_(const int *isave);

/** In Fortran: call timer(seconds). CPU time of the calling thread, from an arbitrary origin. */
CUDA_OPT_SETULB_API void timer_(double *seconds);

#ifdef __cplusplus
}
#endif
#endif
