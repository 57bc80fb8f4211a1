/* The example of the 2013 manual of L-BFGS for GPU-CUDA includes functions.h, whose contents the manual does not show.
 * The program has to define the test functions. A functions.h of the program has precedence over this one. */
#include "cu_lbfgs_dp.h"
