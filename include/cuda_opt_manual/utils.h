/* The header of the solver also has the utilities of the 2013 manual. */
#include "cu_lbfgs_dp.h"
