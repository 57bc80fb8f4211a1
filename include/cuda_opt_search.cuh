/* The former name of cuda_opt/search.cuh, kept for the programs that include it. */
#include "cuda_opt/search.cuh"
