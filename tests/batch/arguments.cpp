// Invalid input gives a return code and a message that names the values.
#include <catch2/catch.hpp>

#include <string>

#include "cuda_opt_batch.h"
#include "run.hpp"

using namespace cudaopt_test;

namespace {

struct Handles {
    cuda_opt *s = nullptr;
    ~Handles() { cuda_opt_destroy(&s); }
    std::string says() const { return cuda_opt_message(s); }
};

} // namespace

TEST_CASE("A batch with invalid sizes is refused with a message that names the sizes", "[batch]") {
    const auto refused = [](int64_t n, int64_t count, int32_t m, int code, const std::string &sentence) {
        Handles h;
        CHECK(cuda_opt_create_batch(&h.s, n, count, m, CUDA_OPT_BACKEND_HOST) == code);
        CHECK(h.says() == sentence);
        double x = 0, f = 0, g = 0;
        CHECK(cuda_opt_batch_solve(h.s, &x, &f, &g) == code); // such a handle accepts no solve
        CHECK(cuda_opt_batch_active(h.s) == nullptr);
    };
    refused(0, 1, 5, CUDA_OPT_IMPROPER_INPUT,
            "the number of variables n is 0, but has to be from 1 to 4096 in a batch; cuda_opt_create is for more");
    refused(4097, 1, 5, CUDA_OPT_IMPROPER_INPUT,
            "the number of variables n is 4097, but has to be from 1 to 4096 in a batch; cuda_opt_create is for more");
    refused(5, 0, 5, CUDA_OPT_IMPROPER_INPUT, "the number of problems is 0, but has to be at least 1");
    refused(5, -3, 5, CUDA_OPT_IMPROPER_INPUT, "the number of problems is -3, but has to be at least 1");
    for (const int m : {-1, 65})
        refused(5, 1, m, CUDA_OPT_IMPROPER_INPUT,
                "the number of correction pairs m is " + std::to_string(m) +
                    ", but has to be from 0, the default, to 64 in a batch");
    Handles h, by_default;
    int64_t pairs = 0;
    REQUIRE(cuda_opt_create_batch(&by_default.s, 500, 2, 0, CUDA_OPT_BACKEND_HOST) == 0);
    REQUIRE(cuda_opt_get_int(by_default.s, CUDA_OPT_HISTORY_SIZE, &pairs) == 0);
    CHECK(pairs == 10);
    CHECK(cuda_opt_create_batch(&h.s, 4096, INT64_MAX, 64, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_OUT_OF_MEMORY);
    CHECK(h.says().rfind("out of memory: 9223372036854775807 problems of ", 0) == 0);
    CHECK(cuda_opt_create_batch(nullptr, 1, 1, 1, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_MISUSE);
}

TEST_CASE("A call out of order or with a handle of another kind is refused with a message", "[batch]") {
    Handles batch, single, search;
    REQUIRE(cuda_opt_create_batch(&batch.s, 2, 3, 5, CUDA_OPT_BACKEND_HOST) == 0);
    REQUIRE(cuda_opt_create(&single.s, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    REQUIRE(cuda_opt_create_search(&search.s, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    double x[6] = {}, f[3] = {}, g[7] = {}, other[6]; // six from g[1] on are a diagonal's below
    float single_precision[6] = {};
    int64_t counts[3];
    const auto refuses = [](Handles &h, int code, int given, const std::string &sentence) {
        CHECK(given == code);
        CHECK(h.says() == sentence);
    };
    for (Handles *h : {&single, &search}) {
        const std::string needs = " needs a handle of cuda_opt_create_batch";
        refuses(*h, CUDA_OPT_MISUSE, cuda_opt_batch_solve(h->s, x, f, g), "cuda_opt_batch_solve" + needs);
        refuses(*h, CUDA_OPT_MISUSE, cuda_opt_batch_get_int(h->s, CUDA_OPT_ITERATIONS, counts),
                "cuda_opt_batch_get_int" + needs);
        refuses(*h, CUDA_OPT_MISUSE, cuda_opt_batch_set_bounds(h->s, x, x), "cuda_opt_batch_set_bounds" + needs);
        refuses(*h, CUDA_OPT_MISUSE, cuda_opt_batch_set_diagonal(h->s, x), "cuda_opt_batch_set_diagonal" + needs);
        CHECK(cuda_opt_batch_message(h->s, 0) == "cuda_opt_batch_message" + needs);
        CHECK(cuda_opt_batch_active(h->s) == nullptr);
    }
    const std::string apart = "x, of 48 bytes, and g, of 48 bytes, overlap: each needs memory of its own";
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_solve(batch.s, x, f, x), apart);
    const std::string not_for = " is not for a handle of cuda_opt_create_batch";
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_solve(batch.s, x, f, g), "cuda_opt_solve" + not_for);
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_warm_start(batch.s), "cuda_opt_warm_start" + not_for);
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_get_diagonal(batch.s, x), "cuda_opt_get_diagonal" + not_for);
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_set_diagonal_f32(batch.s, single_precision),
            "cuda_opt_batch_set_diagonal_f32 is for single precision, but the handle was made for double");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_int(batch.s, CUDA_OPT_INITIAL_HESSIAN, 3),
            "an operator as initial Hessian is not for a handle of cuda_opt_create_batch");
    REQUIRE(cuda_opt_set_int(batch.s, CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_DIAGONAL) == 0);
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_solve(batch.s, x, f, g),
            "the initial Hessian is the caller's diagonal, but neither cuda_opt_batch_set_diagonal nor "
            "cuda_opt_set_diagonal has given an array");
    REQUIRE(cuda_opt_batch_set_diagonal(batch.s, g + 1) == 0);
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_solve(batch.s, x, f, g),
            "g, of 48 bytes, and the diagonal, of 48 bytes, overlap: each needs memory of its own");
    REQUIRE(cuda_opt_batch_set_diagonal(batch.s, nullptr) == 0);
    REQUIRE(cuda_opt_set_int(batch.s, CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR) == 0);
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_int(batch.s, CUDA_OPT_TIMED, 0), "CUDA_OPT_TIMED" + not_for);
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_int(batch.s, CUDA_OPT_NOISE_AUTO, 1),
            "CUDA_OPT_NOISE_AUTO" + not_for);
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_int(batch.s, CUDA_OPT_BATCH_PACKED, 2),
            "CUDA_OPT_BATCH_PACKED is 2, but has to be from 0 to 1");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_int(batch.s, 12345, 2),
            "12345 is not the key of an integer setting");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_set_uniform_bounds(batch.s, 2, 1),
            "the bounds leave no finite x: l = 2, u = 1 for all variables");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_set_bounds_f32(batch.s, single_precision, nullptr),
            "cuda_opt_batch_set_bounds_f32 is for single precision, but the handle was made for double");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_get_int(batch.s, CUDA_OPT_ITERATIONS, counts),
            "cuda_opt_batch_get_int has to come after the first call of cuda_opt_batch_solve");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_solve(batch.s, x, nullptr, g), "f is NULL");
    int64_t value = 0;
    double real = 0;
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_get_int(batch.s, CUDA_OPT_ITERATIONS, &value),
            std::to_string(CUDA_OPT_ITERATIONS) + " is not the key of an integer setting or result of a whole batch");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_get_real(batch.s, CUDA_OPT_F, &real),
            "400 is not the key of a real setting or result of a whole batch");

    REQUIRE(cuda_opt_batch_solve(batch.s, x, f, g) == CUDA_OPT_EVALUATE_BATCH);
    CHECK(batch.says() == "evaluate f and g of 3 of 3 problems, round 1");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_solve(batch.s, other, f, g),
            "x, f and g have to be the same at each call of one batch; call cuda_opt_reset to start with others");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_set_bounds(batch.s, x, x),
            "cuda_opt_set_bounds has to come before the first call of cuda_opt_batch_solve, or after cuda_opt_reset");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_set_diagonal(batch.s, other),
            "cuda_opt_set_diagonal has to come before the first call of cuda_opt_batch_solve, or after cuda_opt_reset");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_set_int(batch.s, CUDA_OPT_INITIAL_HESSIAN, 2),
            "CUDA_OPT_INITIAL_HESSIAN can be set before the first call of cuda_opt_batch_solve only");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_set_int(batch.s, CUDA_OPT_THREADS, 1),
            "CUDA_OPT_THREADS can be set before the first call of cuda_opt_batch_solve only");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_set_int(batch.s, CUDA_OPT_BATCH_PACKED, 1),
            "CUDA_OPT_BATCH_PACKED has to come before the first call of cuda_opt_batch_solve, or after cuda_opt_reset");
    refuses(batch, CUDA_OPT_MISUSE, cuda_opt_batch_get_int(batch.s, CUDA_OPT_ITERATIONS, nullptr),
            "cuda_opt_batch_get_int: values is NULL");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_batch_get_int(batch.s, CUDA_OPT_EPS, counts),
            "200 is not the key of an integer result of a problem");
    refuses(batch, CUDA_OPT_IMPROPER_INPUT, cuda_opt_batch_get_real(batch.s, CUDA_OPT_EPS, other),
            "200 is not the key of a real result of a problem");
    CHECK(std::string(cuda_opt_batch_message(batch.s, 3)) ==
          "cuda_opt_batch_message: there is no problem 3, they are counted from 0 to 2");
    CHECK(std::string(cuda_opt_batch_message(batch.s, 2)) == "evaluate f and g at x, evaluation 1");
}

TEST_CASE("The memory per problem of a batch is as large as cuda_opt_batch.h states", "[batch]") {
    const auto bytes_of = [](int64_t n, int64_t count, int32_t m) {
        Handles h;
        REQUIRE(cuda_opt_create_batch(&h.s, n, count, m, CUDA_OPT_BACKEND_HOST) == 0);
        REQUIRE(cuda_opt_set_int(h.s, CUDA_OPT_THREADS, 1) == 0);
        std::vector<double> x(n * count), f(count), g(n * count);
        REQUIRE(cuda_opt_batch_solve(h.s, x.data(), f.data(), g.data()) == CUDA_OPT_EVALUATE_BATCH);
        int64_t bytes = 0;
        REQUIRE(cuda_opt_get_int(h.s, CUDA_OPT_WORKSPACE_BYTES, &bytes) == 0);
        return bytes;
    };
    for (const int n : {1, 4, 20, 100, 203})
        for (const auto &[m, besides] : {std::pair(5, 7600.0), std::pair(10, 18300.0), std::pair(20, 56500.0)}) {
            INFO("n = " << n << ", m = " << m);
            const auto each = static_cast<double>(bytes_of(n, 2000, m) - bytes_of(n, 1000, m)) / 1000;
            const double vectors = 8.0 * (2 * m + 8) * ((n + 3) / 4 * 4);
            CHECK(each >= vectors);
            CHECK(each <= vectors + 1.02 * besides + 64);
        }
}
