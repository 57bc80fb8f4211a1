/* The former name of cuda_opt/search_kernel.cuh, kept for the programs that include it. */
#include "cuda_opt/search_kernel.cuh"
