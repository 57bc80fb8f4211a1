// A handle works on its own device, with memory of that device or managed memory. The current device has no influence.
// Memory of another device is refused before it is accessed.
#include <catch2/catch.hpp>
#include <string>

#include "../support/configurations.hpp"
#include "cuda_opt.hpp"
#include "on_device.hpp"

using namespace cudaopt_test;

namespace {

constexpr int64_t n = 20;

int solve_bowl(cuda_opt *s, double *x, double *f, double *g) {
    int task;
    while ((task = cuda_opt_solve(s, x, f, g)) == CUDA_OPT_EVALUATE_FG) on_device::bowl(n, x, f, g);
    return task;
}

// Returns whether the message names the array and both devices.
bool names(const cuda_opt *s, const std::string &array) {
    const std::string sentence = cuda_opt_message(s);
    return sentence.find(array) == 0 && sentence.find("device 0") != std::string::npos &&
           sentence.find("device 1") != std::string::npos;
}

} // namespace

TEST_CASE("A handle accepts managed memory", "[devices]") {
    if (skipped<CudaDouble>()) return;
    const cudaopt::Minimiser<double> s(n, 3, CUDA_OPT_BACKEND_CUDA);
    auto *x = static_cast<double *>(on_device::allocate_managed(n * sizeof(double)));
    auto *g = static_cast<double *>(on_device::allocate_managed(n * sizeof(double)));
    auto *f = static_cast<double *>(on_device::allocate_managed(sizeof(double)));
    for (int64_t i = 0; i < n; i++) x[i] = 2;
    CHECK(solve_bowl(s, x, f, g) == CUDA_OPT_CONVERGED);
    s.synchronize();
    CHECK(x[n - 1] == Approx(1 - 1.0 / n).epsilon(1e-3));
    for (double *memory : {x, g, f}) on_device::release(memory);
}

TEST_CASE("Memory of another device is refused and the handle remains usable", "[devices]") {
    if (skipped<CudaDouble>()) return;
    if (on_device::devices() < 2) {
        WARN("skipped: the refusal of memory of another device is not tested, because it needs two CUDA devices");
        return;
    }
    on_device::use(0);
    auto *far = static_cast<double *>(on_device::allocate(4 * n * sizeof(double)));
    on_device::use(1);
    {
        const cudaopt::Minimiser<double> s(n, 3, CUDA_OPT_BACKEND_CUDA);
        const cudaopt::Array<double> x(s, std::vector<double>(n, 2)), g(s, n), f(s, 1);
        CHECK(cuda_opt_set_bounds(s, far, nullptr) == CUDA_OPT_MISUSE);
        CHECK(names(s, "lower"));
        CHECK(cuda_opt_set_bounds(s, nullptr, far) == CUDA_OPT_MISUSE);
        CHECK(names(s, "upper"));
        CHECK(cuda_opt_set_diagonal(s, far) == CUDA_OPT_MISUSE);
        CHECK(names(s, "the diagonal"));
        CHECK(cuda_opt_solve(s, far, f.data(), g.data()) == CUDA_OPT_MISUSE);
        CHECK(names(s, "x"));
        CHECK(cuda_opt_solve(s, x.data(), far, g.data()) == CUDA_OPT_MISUSE);
        CHECK(names(s, "f"));
        CHECK(cuda_opt_solve(s, x.data(), f.data(), far) == CUDA_OPT_MISUSE);
        CHECK(names(s, "g"));
        CHECK(solve_bowl(s, x.data(), f.data(), g.data()) == CUDA_OPT_CONVERGED);
        CHECK(x.to_host()[n - 1] == Approx(1 - 1.0 / n).epsilon(1e-3));

        cuda_opt *search = nullptr;
        REQUIRE(cuda_opt_create_search(&search, 1, 1, CUDA_OPT_BACKEND_CUDA) == 0);
        CHECK(cuda_opt_set_bounds(search, far, far) == CUDA_OPT_MISUSE);
        CHECK(names(search, "lower"));
        CHECK(cuda_opt_search_set_steps(search, far) == CUDA_OPT_MISUSE);
        CHECK(names(search, "steps"));
        CHECK(cuda_opt_search_solve(search, far, g.data()) == CUDA_OPT_MISUSE);
        CHECK(names(search, "points"));
        CHECK(cuda_opt_search_solve(search, x.data(), far) == CUDA_OPT_MISUSE);
        CHECK(names(search, "values"));
        cuda_opt_destroy(&search);
    }
    on_device::use(0);
    on_device::release(far);
}

TEST_CASE("A handle works on its own device while another device is current", "[devices]") {
    if (skipped<CudaDouble>()) return;
    if (on_device::devices() < 2) {
        WARN("skipped: the device of a handle is not tested, because the test needs two CUDA devices");
        return;
    }
    for (const int bits : {64, 32, 16}) { // the first call allocates the memory for a lower history precision
        INFO(bits << " bits");
        on_device::use(1);
        cudaopt::Minimiser<double> s(n, 3, CUDA_OPT_BACKEND_CUDA);
        s.set_int(CUDA_OPT_HISTORY_BITS, bits);
        on_device::use(0);
        const cudaopt::Array<double> x(s, std::vector<double>(n, 2)), g(s, n), f(s, 1); // these are on device 1
        int task;
        while ((task = cuda_opt_solve(s, x.data(), f.data(), g.data())) == CUDA_OPT_EVALUATE_FG) {
            on_device::use(1);
            on_device::bowl(n, x.data(), f.data(), g.data());
            on_device::use(0);
        }
        CHECK(task == CUDA_OPT_CONVERGED);
        CHECK(x.to_host()[n - 1] == Approx(1 - 1.0 / n).epsilon(1e-3));
    }
}
