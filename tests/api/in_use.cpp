// Tests that a handle in use is not freed, that copies of zero bytes succeed, and that arrays without elements can be
// used.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "cuda_opt.hpp"

namespace {

struct Destroyer {
    cuda_opt *handle = nullptr;
    int lines = 0, refused = 0;

    static void destroy(void *user, const char *) {
        Destroyer &me = *static_cast<Destroyer *>(user);
        me.lines++;
        cuda_opt *same = me.handle;
        cuda_opt_destroy(&same);
        const std::string sentence = cuda_opt_message(me.handle);
        me.refused += same == me.handle &&
                      sentence.find("cuda_opt_destroy was called by the function of the log") != std::string::npos;
    }
};

} // namespace

TEST_CASE("The log's function cannot destroy the handle that calls it", "[api]") {
    Destroyer one;
    double x[2] = {-1.2, 1}, f = 0, g[2] = {};
    REQUIRE(cuda_opt_create(&one.handle, 2, 3, CUDA_OPT_BACKEND_HOST) == 0);
    cuda_opt_set_int(one.handle, CUDA_OPT_IPRINT_FREQUENCY, 1);
    cuda_opt_set_log(one.handle, Destroyer::destroy, &one);
    int task;
    while ((task = cuda_opt_solve(one.handle, x, &f, g)) == CUDA_OPT_EVALUATE_FG) {
        const double a = x[1] - x[0] * x[0], b = 1 - x[0];
        f = 100 * a * a + b * b;
        g[0] = -400 * x[0] * a - 2 * b;
        g[1] = 200 * a;
    }
    CHECK(task == CUDA_OPT_CONVERGED);
    CHECK(std::string(cuda_opt_message(one.handle)).find("converged") != std::string::npos);
    CHECK(one.lines > 10);
    CHECK(one.refused == one.lines);
    cuda_opt_destroy(&one.handle);
    CHECK(one.handle == nullptr);
}

TEST_CASE("Copies of zero bytes succeed with any pointers", "[api]") {
    double value = 3;
    cudaopt::Minimiser<double> s(10, 3, CUDA_OPT_BACKEND_HOST);
    for (void *const there : {static_cast<void *>(nullptr), static_cast<void *>(&value)})
        for (void *const here : {static_cast<void *>(nullptr), static_cast<void *>(&value)}) {
            CHECK(cuda_opt_copy_in(s, there, here, 0) == 0);
            CHECK(cuda_opt_copy_out(s, here, there, 0) == 0);
        }
    CHECK(value == 3);
    CHECK(cuda_opt_copy_in(s, nullptr, &value, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_in(s, &value, nullptr, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(s, nullptr, &value, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(s, &value, nullptr, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_in(s, &value, &value, -1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(s, nullptr, nullptr, -1) == CUDA_OPT_MISUSE);
}

TEST_CASE("An array without elements can be read and written", "[api]") {
    cudaopt::Minimiser<double> s(10, 3, CUDA_OPT_BACKEND_HOST);
    s.set_ranks(1, 2, 10, 0);
    cudaopt::Array<double> x(s, s.own_dimension());
    x.write(0, nullptr, 0);
    x.read(0, nullptr, 0);
    CHECK(x.to_host().empty());
    CHECK(cudaopt::Array<double>(s, std::vector<double>{}).to_host().empty());
}
