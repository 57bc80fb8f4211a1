/* The manual's example includes driver.h, whose contents the manual does not show. The driver.h of a program is found
 * before this one. For programs without one, this file includes the headers that every such driver needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cu_lbfgs_dp.h"
