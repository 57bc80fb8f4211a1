/* The name by which the manual's specification includes cu_lbfgs_dp.h. */
#include "cu_lbfgs_dp.h"
