/* The specification of the manual includes cu_lbfgs_dp.h by this name. */
#include "cu_lbfgs_dp.h"
