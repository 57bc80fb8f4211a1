/* The one token with which a function is compiled for host and device alike. */
#pragma once

#ifdef __CUDACC__
#define CUDA_OPT_HD __host__ __device__
#else
#define CUDA_OPT_HD
#endif
