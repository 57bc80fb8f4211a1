#include "polish.hpp"

#include "cuda_opt.hpp"

namespace driver {

Polished polish(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &x,
                const std::vector<double> &lower, const std::vector<double> &upper, int64_t max_evaluations) {
    const auto n = static_cast<int>(x.size());
    constexpr int pairs = 10;
    cudaopt::Minimiser<double> s(n, pairs, CUDA_OPT_BACKEND_HOST);
    s.set_bounds(lower.data(), upper.data());
    s.set_int(CUDA_OPT_THREADS, 1)
        .set_int(CUDA_OPT_MAX_ITERATIONS, 0)
        .set_int(CUDA_OPT_MAX_EVALUATIONS, max_evaluations);
    // With these stopping tests the result is as accurate as rounding errors allow.
    s.set_real(CUDA_OPT_PGTOL, 0).set_real(CUDA_OPT_FACTR, 1);

    Polished result{x, 0, 0, ""};
    std::vector<double> moving = x, g(x.size());
    double f = 0, lowest = cudaopt::testfuncs::search::evaluate(function, x.data(), n);
    int task;
    while ((task = s.solve(moving.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG) {
        f = cudaopt::testfuncs::search::evaluate(function, moving.data(), n, g.data());
        result.evaluations++;
        if (f < lowest) {
            lowest = f;
            result.x = moving;
        }
    }
    // If there was no evaluation, the solver has rejected the input, and check() throws.
    if (result.evaluations == 0) s.check(task);
    result.f = lowest;
    result.end = s.message();
    return result;
}

} // namespace driver
