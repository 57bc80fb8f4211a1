/* The 2013 manual of L-BFGS for GPU-CUDA includes cu_lbfgs_dp.h by the name of this file in its specification. */
#include "cu_lbfgs_dp.h"
