// These tests check that the solver allocates no host memory after its first call. The program defines malloc and its
// family to count allocations, and is therefore separate from the other tests.
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>

#include "../support/harness.hpp"
#include "cuda_opt_batch.h"

using namespace cudaopt_test;

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};

void count() {
    if (counting) allocations++;
}

} // namespace

// glibc provides these functions, which malloc and its family normally call.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *memory, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);

void *malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}
void *calloc(std::size_t number, std::size_t size) {
    count();
    return __libc_calloc(number, size);
}
void *realloc(void *memory, std::size_t size) {
    count();
    return __libc_realloc(memory, size);
}
void *aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
void *memalign(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    count();
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
}

namespace {

// The extended Rosenbrock function, in a form that allocates nothing.
template <class Real> double rosenbrock(const std::vector<Real> &x, std::vector<Real> &g) {
    return pairwise_sum(0, static_cast<int64_t>(x.size()) / 2, [&](int64_t k) {
        const double a = x[2 * k], b = x[2 * k + 1];
        const double valley = b - a * a, slope = 1 - a;
        g[2 * k] = static_cast<Real>(-400 * a * valley - 2 * slope);
        g[2 * k + 1] = static_cast<Real>(200 * valley);
        return 100 * valley * valley + slope * slope;
    });
}

int64_t lines_logged = 0;
void count_line(void *, const char *) { lines_logged++; }

} // namespace

TEST_CASE("The allocation counter counts one allocation", "[memory]") {
    allocations = 0;
    counting = true;
    int *volatile memory = new int; // volatile, because otherwise the compiler removes the allocation
    counting = false;
    delete memory;
    CHECK(allocations == 1);
}

CONFIGURED_TEST_CASE("A solve allocates no host memory after its first call", "[memory]", HOST_CONFIGURATIONS) {
    using Real = typename TestType::Real;
    const auto [n, threads] = GENERATE(table<int64_t, int>({{50000, 0}, {50000, 1}, {50000, 2}, {500, 2}}));
    for (const bool bounded : {false, true})
        for (const auto &[approximate, metric] :
             {std::pair(false, 0), std::pair(true, 0), std::pair(false, 1), std::pair(false, 2), std::pair(false, 3)}) {
            INFO("n = " << n << ", threads: " << threads << ", bounded: " << bounded
                        << ", approximate Cauchy point: " << approximate << ", metric: " << metric);
            // The bounds vary, so that the Cauchy points cross many breakpoints.
            std::vector<Real> x(n), g(n), lower(n), upper(n), diagonal(n, Real(0.01)), is_free(n);
            Uniform uniform(3);
            for (int64_t i = 0; i < n; i++) {
                x[i] = i % 2 == 0 ? Real(-1.2) : Real(0.5);
                lower[i] = static_cast<Real>(uniform() - 2);
                upper[i] = static_cast<Real>(uniform());
            }
            double f = 0;
            Handle<TestType> handle(n, 7);
            if (bounded) REQUIRE(Abi<Real>::set_bounds(handle, lower.data(), upper.data()) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_APPROXIMATE_CAUCHY, approximate) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_METRIC, metric) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_DIAGONAL_EVERY, 3) == 0);
            if (metric != 3) REQUIRE(Abi<Real>::set_diagonal(handle, diagonal.data()) == 0);
            std::vector<Real> in(n), out(n);
            REQUIRE(Abi<Real>::set_operator(handle, in.data(), out.data(), is_free.data()) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_REPORT_ITERATES, 1) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_THREADS, threads) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_IPRINT_FREQUENCY, 1) == 0);
            REQUIRE(cuda_opt_set_int(handle, CUDA_OPT_MAX_ITERATIONS, 25) == 0);
            REQUIRE(cuda_opt_set_log(handle, count_line, nullptr) == 0);
            int task = Abi<Real>::solve(handle, x.data(), &f, g.data());
            REQUIRE(task == CUDA_OPT_EVALUATE_FG);

            allocations = 0;
            counting = true;
            while (task > 0) {
                if (task == CUDA_OPT_EVALUATE_FG) f = rosenbrock(x, g);
                if (task == CUDA_OPT_APPLY_OPERATOR) std::copy(in.begin(), in.end(), out.begin());
                task = Abi<Real>::solve(handle, x.data(), &f, g.data());
            }
            counting = false;
            CHECK(allocations == 0);
            CHECK(lines_logged > 0);
        }
}

TEST_CASE("A pattern search allocates no host memory after its first call", "[memory]") {
    constexpr int64_t n = 6, walks = 3000;
    std::vector<double> points(n * 2 * walks), values(2 * walks), lower(n, -2), upper(n, 3), x(n);
    for (const auto &[rule, round] : {std::pair<int, int>{0, 0}, {1, 0}, {2, 0}, {0, 4}, {2, 4}}) {
        INFO("rule " << rule << ", rounds of " << round);
        cuda_opt *s = nullptr;
        REQUIRE(cuda_opt_create_search(&s, n, walks, CUDA_OPT_BACKEND_HOST) == 0);
        REQUIRE(cuda_opt_set_bounds(s, lower.data(), upper.data()) == 0);
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_AT_SMALLEST_STEP, rule) == 0);
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_HALVINGS, 3) == 0);
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_ROUND_ITERATIONS, round) == 0);
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 20) == 0);
        int task = cuda_opt_search_solve(s, points.data(), values.data());
        allocations = 0;
        counting = true;
        while (task == CUDA_OPT_EVALUATE_BATCH) {
            int64_t batch = 0, walk = 0;
            double f = 0;
            cuda_opt_get_int(s, CUDA_OPT_BATCH, &batch);
            for (int64_t p = 0; p < batch; p++) {
                values[p] = 0;
                for (int64_t j = 0; j < n; j++) values[p] += points[j * 2 * walks + p] * points[j * 2 * walks + p];
            }
            task = cuda_opt_search_solve(s, points.data(), values.data());
            cuda_opt_get_real(s, CUDA_OPT_F, &f);
            cuda_opt_search_ranked(s, walks / 2, &walk);
            cuda_opt_search_walk(s, walk, x.data(), &f);
        }
        counting = false;
        CHECK((task == 0 || task == CUDA_OPT_ITERATION_LIMIT));
        CHECK(allocations == 0);
        cuda_opt_destroy(&s);
    }
}

TEST_CASE("A batch allocates no host memory after its first call", "[memory]") {
    constexpr int64_t n = 6, count = 300;
    for (const int threads : {1, 2})
        for (const bool packed : {false, true}) {
            INFO("threads: " << threads << ", packed: " << packed);
            std::vector<double> x(n * count), f(count), g(n * count), numbers(count);
            Uniform uniform(7);
            for (double &one : x) one = 4 * uniform() - 2;
            cuda_opt *s = nullptr;
            REQUIRE(cuda_opt_create_batch(&s, n, count, 5, CUDA_OPT_BACKEND_HOST) == 0);
            REQUIRE(cuda_opt_set_uniform_bounds(s, -1.5, 0.8) == 0);
            REQUIRE(cuda_opt_set_int(s, CUDA_OPT_THREADS, threads) == 0);
            REQUIRE(cuda_opt_set_int(s, CUDA_OPT_BATCH_PACKED, packed) == 0);
            int task = cuda_opt_batch_solve(s, x.data(), f.data(), g.data());
            REQUIRE(task == CUDA_OPT_EVALUATE_BATCH);
            allocations = 0;
            counting = true;
            while (task > 0) {
                int64_t active = 0;
                cuda_opt_get_int(s, CUDA_OPT_BATCH, &active);
                const int64_t *const list = cuda_opt_batch_active(s);
                for (int64_t k = 0; k < active; k++) {
                    const int64_t row = packed ? k : list[k];
                    f[row] = 0;
                    for (int64_t j = row * n; j < row * n + n; j += 2) {
                        const double valley = x[j + 1] - x[j] * x[j], slope = 1 - x[j];
                        g[j] = -400 * x[j] * valley - 2 * slope;
                        g[j + 1] = 200 * valley;
                        f[row] += 100 * valley * valley + slope * slope;
                    }
                }
                task = cuda_opt_batch_solve(s, x.data(), f.data(), g.data());
                cuda_opt_batch_get_real(s, CUDA_OPT_F, numbers.data());
                cuda_opt_batch_message(s, 17);
            }
            counting = false;
            CHECK(task == 0);
            CHECK(allocations == 0);
            cuda_opt_destroy(&s);
        }
}
