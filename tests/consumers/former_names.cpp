// The headers of the pattern search by the names they had before they went to cuda_opt/, as C++ and as CUDA.
#include <cuda_opt_search.cuh>
#include <cuda_opt_search_poll.cuh>
#include <cuda_opt_search_walks.cuh>
#ifdef __CUDACC__
#include <cuda_opt_search_kernel.cuh>
#endif

#include <cstdio>
#include <vector>

struct Sphere {
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += x[j] * x[j];
        return sum;
    }
};

int main() {
    cudaopt::SearchOptions options;
    options.walks = 100;
    options.iterations = 200;
    cudaopt::HostSearch<Sphere> search(Sphere(), std::vector<double>(5, -100), std::vector<double>(5, 100), options);
    search.run();
    std::printf("f = %.0f\n", search.summary().value);
    return 0;
}
