// Creates the objects whose classes are written once for both backends (NAME_on.hpp). Such a class applies the rules of
// its folder through an executor, which is HostExecutor or CudaExecutor (sweeps/host/executor.hpp,
// sweeps/cuda/executor.cuh). Each backend compiles these classes in one file, host.cpp or cuda.cu.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda_opt.h"

namespace cudaopt {

class CheckSweeps;
class OperatorSweeps;
class ScaledVariables;
class SearchSweeps;

// The functions that create the objects. bits: the precision of the caller's vectors; history_bits: that of the
// history; device: MemorySpace::device().
struct Makers {
    std::unique_ptr<CheckSweeps> (*check_sweeps)(int64_t n, int bits, int device);
    std::unique_ptr<OperatorSweeps> (*operator_sweeps)(int64_t n, int bits, int history_bits, int device);
    std::unique_ptr<ScaledVariables> (*scaled_variables)(int64_t n, int bits, int device);
    std::unique_ptr<SearchSweeps> (*search_sweeps)(int device);
};
extern const Makers host_makers, cuda_makers;

// backend: CUDA_OPT_BACKEND_HOST or CUDA_OPT_BACKEND_CUDA
inline const Makers &makers_of(int backend) { return backend == CUDA_OPT_BACKEND_CUDA ? cuda_makers : host_makers; }

} // namespace cudaopt
