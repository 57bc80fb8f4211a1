#include "searches.hpp"

namespace driver {

std::unique_ptr<cudaopt::PatternSearch> make_host_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single) {
    return (single ? make_search_of_kind<cudaopt::HostSearch, float>
                   : make_search_of_kind<cudaopt::HostSearch, double>)(function, lower, upper, options);
}

std::unique_ptr<cudaopt::PatternSearch> make_search(const cudaopt::testfuncs::search::Function &function, bool on_cuda,
                                                    const std::vector<double> &lower, const std::vector<double> &upper,
                                                    const cudaopt::SearchOptions &options, bool single) {
    return (on_cuda ? make_cuda_search : make_host_search)(function, lower, upper, options, single);
}

} // namespace driver
