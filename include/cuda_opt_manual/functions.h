/* The manual's example includes functions.h, whose contents the manual does not show; the program has to define the
 * test functions. The functions.h of a program is found before this one. */
#include "cu_lbfgs_dp.h"
