/* The manual's example includes a driver.h, of which the manual shows nothing. A program that has one of its own finds
 * that first; for others this one gives what such a driver cannot do without. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cu_lbfgs_dp.h"
