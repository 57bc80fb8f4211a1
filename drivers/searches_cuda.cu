// Pattern searches for the twelve test functions on CUDA. All kernels for them are instantiated in this file.
#include "searches.hpp"

namespace driver {

bool cuda_is_here() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

std::unique_ptr<cudaopt::PatternSearch> make_cuda_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single) {
    return (single ? make_search_of_kind<cudaopt::CudaSearch, float, 20, 30>
                   : make_search_of_kind<cudaopt::CudaSearch, double, 20, 30>)(function, lower, upper, options);
}

} // namespace driver
