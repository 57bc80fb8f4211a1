/* The example of the 2013 manual includes utils.h. The header of the solver also declares these utilities. */
#include "cu_lbfgs_dp.h"
