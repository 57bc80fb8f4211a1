// Creates pattern searches for the twelve test functions, on the host or on CUDA.
#pragma once

#include "cuda_opt/search.cuh"
#include "testfuncs/search/functions.hpp"

#include <memory>
#include <vector>

namespace driver {

// Returns whether the library was built with CUDA and finds a device.
bool cuda_is_here();

// Creates a pattern search within the bounds, in double or single precision. If the search rejects its input, code()
// and message() give the reason.
std::unique_ptr<cudaopt::PatternSearch> make_search(const cudaopt::testfuncs::search::Function &function, bool on_cuda,
                                                    const std::vector<double> &lower, const std::vector<double> &upper,
                                                    const cudaopt::SearchOptions &options, bool single = false);

// make_search() calls one of these two functions. make_host_search() is defined in searches_host.cpp.
// make_cuda_search() is defined in searches_cuda.cu or, without CUDA, in searches_cuda_absent.cpp, where it throws.
std::unique_ptr<cudaopt::PatternSearch> make_host_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single);
std::unique_ptr<cudaopt::PatternSearch> make_cuda_search(const cudaopt::testfuncs::search::Function &function,
                                                         const std::vector<double> &lower,
                                                         const std::vector<double> &upper,
                                                         const cudaopt::SearchOptions &options, bool single);

// Creates a pattern search as an object of the class template Search, for example HostSearch. `fixed` are the numbers
// of variables that are compile-time constants in the code of the search.
template <template <class, int, class> class Search, class Real, int... fixed>
std::unique_ptr<cudaopt::PatternSearch>
make_search_of_kind(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &lower,
                    const std::vector<double> &upper, const cudaopt::SearchOptions &options) {
    return std::visit(
        [&](const auto &f) {
            using F = std::decay_t<decltype(f)>;
            std::unique_ptr<cudaopt::PatternSearch> search;
            const auto n = static_cast<int>(lower.size());
            const bool is_fixed =
                ((n == fixed && (search = std::make_unique<Search<F, fixed, Real>>(f, lower, upper, options))) || ...);
            if (!is_fixed) search = std::make_unique<Search<F, 0, Real>>(f, lower, upper, options);
            return search;
        },
        function);
}

} // namespace driver
