/* In its specification, the 2013 manual of L-BFGS for GPU-CUDA calls the header cu.lbfgs_dp.h; its usual name is
 * cu_lbfgs_dp.h. */
#include "cu_lbfgs_dp.h"
