/* The example of the 2013 manual of L-BFGS for GPU-CUDA includes utils.h. The header of the solver also declares these
 * utilities. */
#include "cu_lbfgs_dp.h"
