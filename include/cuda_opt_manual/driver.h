/* The example of the 2013 manual of L-BFGS for GPU-CUDA includes driver.h, whose contents the manual does not show. A
 * driver.h of the program has precedence over this one. For programs without one, this file includes the headers that
 * every such driver needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cu_lbfgs_dp.h"
