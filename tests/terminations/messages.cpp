// The message of an ended solve names the numbers with which it ended, whatever is set afterwards.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cuda_opt.h"
#include "cuda_opt_batch.h"

namespace {

// Runs a solve of x_0^4 + 10 x_1^2 to its end.
int run(cuda_opt *s, double *x, double *f, double *g) {
    int task;
    while ((task = cuda_opt_solve(s, x, f, g)) > 0) {
        *f = x[0] * x[0] * x[0] * x[0] + 10 * x[1] * x[1];
        g[0] = 4 * x[0] * x[0] * x[0], g[1] = 20 * x[1];
    }
    return task;
}

} // namespace

TEST_CASE("A limit that is changed after the end does not change the message, nor after a load") {
    double x[] = {3, 4}, f, g[2];
    cuda_opt *s = nullptr, *loaded = nullptr;
    REQUIRE(cuda_opt_create(&s, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    REQUIRE(cuda_opt_create(&loaded, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 3);
    CHECK(run(s, x, &f, g) == CUDA_OPT_ITERATION_LIMIT);
    cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 50);
    const std::string message = cuda_opt_message(s);
    CHECK_THAT(message, Catch::StartsWith("the limit of 3 iterations is reached"));
    int64_t bytes = 0;
    cuda_opt_save(s, nullptr, &bytes);
    std::vector<char> saved(static_cast<std::size_t>(bytes));
    REQUIRE(cuda_opt_save(s, saved.data(), &bytes) == 0);
    REQUIRE(cuda_opt_load(loaded, saved.data(), bytes, x, &f, g) == 0);
    cuda_opt_set_int(loaded, CUDA_OPT_MAX_ITERATIONS, 77);
    CHECK(cuda_opt_message(loaded) == message);
    cuda_opt_destroy(&s);
    cuda_opt_destroy(&loaded);
}

TEST_CASE("The message of a problem of a batch names the bound with which it ended") {
    double x[] = {1, 1, 3, 4}, f[2], g[4];
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_batch(&s, 2, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    cuda_opt_set_real(s, CUDA_OPT_PGTOL, 1e-2);
    for (int round = 0; cuda_opt_batch_solve(s, x, f, g) > 0; round++) {
        for (int p = 0; p < 2; p++) { // the first problem ends long before the second
            const double factor = p == 0 ? 1 : 1e4, *const at = x + 2 * p;
            f[p] = at[0] * at[0] * at[0] * at[0] + factor * at[1] * at[1];
            g[2 * p] = 4 * at[0] * at[0] * at[0], g[2 * p + 1] = 2 * factor * at[1];
        }
        if (round == 20) cuda_opt_set_real(s, CUDA_OPT_PGTOL, 1e-7);
    }
    CHECK_THAT(cuda_opt_batch_message(s, 0), Catch::EndsWith("is at or below pgtol = 0.01"));
    cuda_opt_destroy(&s);
}

// With an operator, FACTR and ROUNDING require that theta of the present model predicts a small decrease. A restart
// along -g changes theta.
TEST_CASE("A restart with an operator converges at the rounding level of f") {
    double x[] = {0.5}, f, g[1], in[1], out[1], is_free[1];
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create(&s, 1, 5, CUDA_OPT_BACKEND_HOST) == 0);
    cuda_opt_set_int(s, CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR);
    cuda_opt_set_operator(s, in, out, is_free);
    cuda_opt_set_real(s, CUDA_OPT_FACTR, 1e10);
    cuda_opt_set_real(s, CUDA_OPT_RELATIVE_GTOL, 1e3);
    constexpr double values[] = {100, 100 - 1e-5, 100 - 3e-5}, slopes[] = {1e-2, 9e-3, 4.5e-3};
    int evaluations = 0, task;
    while ((task = cuda_opt_solve(s, x, &f, g)) > 0) {
        if (task == CUDA_OPT_APPLY_OPERATOR) {
            out[0] = 1e3 * in[0];
            continue;
        }
        const int k = evaluations++;
        f = k < 3 ? values[k] : 101;
        g[0] = k < 3 ? slopes[k] : 4.5e-3 + 1e-9 * (k + 1);
    }
    INFO(cuda_opt_message(s));
    CHECK(task == CUDA_OPT_CONVERGED);
    int64_t test = 0;
    cuda_opt_get_int(s, CUDA_OPT_STOP_TEST, &test);
    CHECK(test == CUDA_OPT_ROUNDING);
    cuda_opt_destroy(&s);
}
