/* The utilities of the 2013 manual stand beside its solver. */
#include "cu_lbfgs_dp.h"
