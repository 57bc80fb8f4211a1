// Minimises the extended Rosenbrock function with x_1, x_3, ... <= 0.5, in C++17 and single precision.
#include <cuda_opt.hpp>

#include <cstdio>
#include <exception>
#include <limits>
#include <vector>

static double rosenbrock(const std::vector<float> &x, std::vector<float> &g) {
    double f = 0;
    for (std::size_t i = 0; i < x.size(); i += 2) {
        const float a = x[i + 1] - x[i] * x[i];
        const float b = 1 - x[i];
        f += 100 * double(a) * a + double(b) * b;
        g[i] = -400 * x[i] * a - 2 * b;
        g[i + 1] = 200 * a;
    }
    return f;
}

int main() try {
    const std::size_t n = 1000;
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> x(n), g(n), lower(n, -infinity), upper(n, infinity);
    for (std::size_t i = 0; i < n; i += 2) {
        x[i] = -1.2f;
        x[i + 1] = 1;
        upper[i] = 0.5f;
    }

    cudaopt::Minimiser<float> s(n, 5, CUDA_OPT_BACKEND_HOST);
    s.set_bounds(lower.data(), upper.data());

    double f = 0;
    int task;
    while ((task = s.solve(x.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG) f = rosenbrock(x, g);
    s.check(task);

    std::printf("f = %.3f, x = %.3f %.3f, %d at the upper bound\n", f, x[0], x[1],
                static_cast<int>(s.get_int(CUDA_OPT_UPPER_COUNT)));
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
