// Minimises the extended Rosenbrock function with x_1, x_3, ... <= 0.5, in C++17 and single precision.
#include <cuda_opt.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct Destroy {
    void operator()(cuda_opt* s) const { cuda_opt_destroy(&s); }
};
using Solver = std::unique_ptr<cuda_opt, Destroy>;

Solver make_solver(int64_t n, int32_t m)
{
    cuda_opt* s = nullptr;
    const int code = cuda_opt_create_f32(&s, n, m, CUDA_OPT_BACKEND_HOST);
    Solver solver(s);
    if (code != 0)
        throw std::runtime_error(cuda_opt_message(s));
    return solver;
}

double rosenbrock(const std::vector<float>& x, std::vector<float>& g)
{
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

} // namespace

int main()
try {
    const std::size_t n = 1000;
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> x(n), g(n), lower(n, -infinity), upper(n, infinity);
    for (std::size_t i = 0; i < n; i += 2) {
        x[i] = -1.2f;
        x[i + 1] = 1;
        upper[i] = 0.5f;
    }

    const Solver solver = make_solver(n, 5);
    cuda_opt* const s = solver.get();
    cuda_opt_set_bounds_f32(s, lower.data(), upper.data());

    double f = 0;
    int task;
    while ((task = cuda_opt_solve_f32(s, x.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG)
        f = rosenbrock(x, g);
    if (task != CUDA_OPT_CONVERGED)
        throw std::runtime_error(cuda_opt_message(s));

    int64_t at_upper = 0;
    cuda_opt_get_int(s, CUDA_OPT_UPPER_COUNT, &at_upper);
    std::printf("f = %.3f, x = %.3f %.3f, %d at the upper bound\n", f, x[0], x[1], static_cast<int>(at_upper));
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
