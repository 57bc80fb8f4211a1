/* The manual's example includes a functions.h, of which the manual shows nothing; the test functions are the program's.
 * A program that has one of its own finds that first. */
#include "cu_lbfgs_dp.h"
