/* The library libcuda_opt_setulb provides the interface of L-BFGS-B 3.0 (Zhu, Byrd, Lu, Nocedal, Morales) on top of
 * cuda_opt.
 *
 * Programs that call setulb link -lcuda_opt_setulb instead of -llbfgsb; their source does not change. The arrays are in
 * host memory; the work is done on the GPU if there is one, otherwise on the host. docs/setulb.md documents the
 * elements of isave, dsave and lsave, the environment variables, and the few differences from L-BFGS-B 3.0. */
#ifndef CUDA_OPT_SETULB_H
#define CUDA_OPT_SETULB_H

#include <stddef.h>

#if defined(__GNUC__)
/** The macro CUDA_OPT_SETULB_API marks the functions that the library exports. */
#define CUDA_OPT_SETULB_API __attribute__((visibility("default")))
#else
#define CUDA_OPT_SETULB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Minimise by reverse communication with the arguments of L-BFGS-B 3.0. A Fortran program calls setulb(n, m, x, l, u,
 *  nbd, f, g, factr, pgtol, wa, iwa, task, iprint, csave, lsave, isave, dsave), with default integers and logicals of
 *  32 bits and double precision. A C program passes the address of each argument.
 *  @param wa     2 m n + 5 n + 11 m^2 + 8 m values
 *  @param iwa    3 n values; not used
 *  @param task   60 characters, padded with blanks, without a final '\0'
 *  @param csave  60 characters, padded with blanks, without a final '\0'
 *  @param lsave  4 entries
 *  @param isave  44 entries
 *  @param dsave  29 entries
 *  @param task_length   length of task, which Fortran compilers append to the arguments; not used
 *  @param csave_length  length of csave, which Fortran compilers append to the arguments; not used */
CUDA_OPT_SETULB_API void setulb_(const int *n, const int *m, double *x, const double *l, const double *u,
                                 const int *nbd, double *f, double *g, const double *factr, const double *pgtol,
                                 double *wa, int *iwa, char *task, const int *iprint, char *csave, int *lsave,
                                 int *isave, double *dsave, size_t task_length, size_t csave_length);

/** Free the memory of a problem that is abandoned before its end. This is not needed after CONVERGENCE, ABNORMAL, ERROR
 *  or STOP, nor if a new START on the same arrays follows. If setulb is called again for this problem nevertheless, it
 *  continues from the last iterate.
 *  @param isave  the array of the problem; NULL: all problems, except those that are in a call of another thread */
CUDA_OPT_SETULB_API void cuda_opt_setulb_release(const int *isave);
/** Does the same as cuda_opt_setulb_release() for Fortran programs: call cuda_opt_setulb_release(isave). */
CUDA_OPT_SETULB_API void cuda_opt_setulb_release_(const int *isave);

/** Returns the CPU time of the calling thread, in seconds from an arbitrary origin. A Fortran program calls
 *  timer(seconds). */
CUDA_OPT_SETULB_API void timer_(double *seconds);

#ifdef __cplusplus
}
#endif
#endif
