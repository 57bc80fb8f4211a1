// A pattern search for each of the twelve functions, on the host or on CUDA.
#pragma once

#include "cuda_opt/search.cuh"
#include "testfuncs/search/functions.hpp"

#include <memory>
#include <vector>

namespace driver {

// Whether the CUDA backend is built in and finds a device.
bool cuda_is_here();

// A search in the box, in double or single precision. With 20 and with 30 variables n is known to the compiler. What
// the search refuses is in its code() and message().
std::unique_ptr<cudaopt::PatternSearch> make_search(const cudaopt::testfuncs::search::Function &function, bool on_cuda,
                                                    const std::vector<double> &lower, const std::vector<double> &upper,
                                                    const cudaopt::SearchOptions &options, bool single = false);

// The halves of make_search(): in searches_host.cpp; in searches_cuda.cu, or in searches_cuda_absent.cpp, which
// throws.
std::unique_ptr<cudaopt::PatternSearch> make_host_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single);
std::unique_ptr<cudaopt::PatternSearch> make_cuda_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single);

// The same for a kind of search, a class template as HostSearch is.
template <template <class, int, class> class Search, class Real>
std::unique_ptr<cudaopt::PatternSearch>
make_search_of_kind(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &lower,
                    const std::vector<double> &upper, const cudaopt::SearchOptions &options) {
    return std::visit(
        [&](const auto &f) -> std::unique_ptr<cudaopt::PatternSearch> {
            using F = std::decay_t<decltype(f)>;
            switch (lower.size()) {
            case 20: return std::make_unique<Search<F, 20, Real>>(f, lower, upper, options);
            case 30: return std::make_unique<Search<F, 30, Real>>(f, lower, upper, options);
            default: return std::make_unique<Search<F, 0, Real>>(f, lower, upper, options);
            }
        },
        function);
}

} // namespace driver
