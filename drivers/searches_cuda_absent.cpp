#include "searches.hpp"

#include "failure.hpp"

namespace driver {

bool cuda_is_here() { return false; }

std::unique_ptr<cudaopt::PatternSearch> make_cuda_search(const cudaopt::testfuncs::search::Function &,
                                                         const std::vector<double> &, const std::vector<double> &,
                                                         const cudaopt::SearchOptions &, bool) {
    throw Failure(exit_failed, "the searches were built without CUDA");
}

} // namespace driver
