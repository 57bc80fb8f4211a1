// A damaged or forged checkpoint is refused, and a refusal does not change the handle or its arrays.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cuda_opt.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

struct Solve {
    cudaopt::Minimiser<double> s;
    std::vector<double> x, g, lower, upper;
    double f = 0;
    int task = 1;

    Solve(int n, int m, double least = -10)
        : s(n, m, CUDA_OPT_BACKEND_HOST), x(static_cast<std::size_t>(n), -1), g(x.size()), lower(x.size(), least),
          upper(x.size(), 10) {
        s.set_int(CUDA_OPT_THREADS, 1);
        s.set_bounds(lower.data(), upper.data());
    }
    void run(int calls) {
        while (calls-- > 0 && task > 0) {
            task = s.solve(x.data(), &f, g.data());
            f = task > 0 ? 0 : f;
            for (std::size_t i = 0; task > 0 && i < x.size(); i++) {
                const double weight = static_cast<double>(i + 1), d = x[i] - 0.3 * weight;
                f += weight * d * d + d * d * d * d;
                g[i] = 2 * weight * d + 4 * d * d * d;
            }
        }
    }
    int load(const Bytes &from) {
        return cuda_opt_load(s, from.data(), static_cast<int64_t>(from.size()), x.data(), &f, g.data());
    }
};

uint64_t crc64(const unsigned char *bytes, std::size_t count) {
    uint64_t remainder = ~uint64_t{0};
    for (std::size_t i = 0; i < count; i++) {
        remainder ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            remainder = (remainder & 1) != 0 ? (remainder >> 1) ^ 0xc96c5795d7870f42u : remainder >> 1;
    }
    return ~remainder;
}

Bytes sealed(Bytes forged) {
    const std::size_t body = forged.size() - sizeof(uint64_t);
    const uint64_t sum = crc64(forged.data(), body);
    std::memcpy(forged.data() + body, &sum, sizeof sum);
    return forged;
}

} // namespace

TEST_CASE("A checkpoint with two exchanged words is refused", "[checkpoint]") {
    for (const std::size_t width : {4, 8, 16})
        for (const int calls : {1, 4, 9}) {
            Solve from(3, 2);
            from.run(calls);
            const Bytes good = from.s.save();
            Solve to(3, 2);
            for (std::size_t a = 0; a + width <= good.size(); a += width)
                for (std::size_t b = a + width; b + width <= good.size(); b += width) {
                    if (std::memcmp(&good[a], &good[b], width) == 0) continue;
                    Bytes exchanged = good;
                    std::swap_ranges(&exchanged[a], &exchanged[a] + width, &exchanged[b]);
                    if (to.load(exchanged) != CUDA_OPT_IMPROPER_INPUT) FAIL("words " << a << " and " << b);
                }
            CHECK(to.s.get_int(CUDA_OPT_DIMENSION) == 3);
            CHECK(to.load(good) == 0);
        }
}

TEST_CASE("A refused load changes neither the arrays nor the kept correction pairs", "[checkpoint]") {
    Solve from(4, 3);
    from.run(8);
    const Bytes good = from.s.save();
    const auto prepared = [](Solve &one) { // keeps the correction pairs of a previous solve
        one.run(1000);
        one.s.check(cuda_opt_warm_start(one.s));
        one.task = 1;
        std::fill(one.x.begin(), one.x.end(), 2.5);
    };
    Solve undisturbed(4, 3, 0.5), disturbed(4, 3, 0.5); // the saved x is outside these bounds
    prepared(undisturbed), prepared(disturbed);
    const std::vector<double> x = disturbed.x, g = disturbed.g;
    Bytes damaged = good;
    damaged[damaged.size() / 2] ^= 4;
    for (const Bytes &bad : {damaged, good, Bytes(good.begin(), good.end() - 1), Bytes()}) {
        CHECK(disturbed.load(bad) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(disturbed.x == x);
        CHECK(disturbed.g == g);
        CHECK(disturbed.f == undisturbed.f);
        CHECK(disturbed.s.get_int(CUDA_OPT_PAIRS) == undisturbed.s.get_int(CUDA_OPT_PAIRS));
        CHECK(disturbed.s.get_int(CUDA_OPT_PAIRS) > 0);
    }
    undisturbed.run(1000), disturbed.run(1000);
    CHECK(disturbed.task == undisturbed.task);
    CHECK(disturbed.x == undisturbed.x);
    CHECK(disturbed.f == undisturbed.f);
    CHECK(disturbed.s.get_int(CUDA_OPT_EVALUATIONS) == undisturbed.s.get_int(CUDA_OPT_EVALUATIONS));
}

TEST_CASE("A checkpoint with a given diagonal is refused if no array for it is set", "[checkpoint]") {
    const std::vector<double> diagonal{0.5, 0.25, 0.125, 0.0625};
    const auto prepare = [&](Solve &one) {
        one.s.set_diagonal(diagonal.data());
        one.s.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_DIAGONAL);
    };
    Solve from(4, 3);
    prepare(from);
    from.run(7);
    REQUIRE(from.task > 0);
    const Bytes saved = from.s.save();
    Solve to(4, 3);
    const std::vector<double> x = to.x;
    CHECK(to.load(saved) == CUDA_OPT_MISUSE);
    CHECK_THAT(to.s.message(), Catch::Contains("cuda_opt_set_diagonal has given no array"));
    CHECK(to.x == x);
    to.s.set_diagonal(diagonal.data());
    CHECK(to.load(saved) == 0);
    from.run(1000), to.run(1000);
    CHECK(to.task == 0);
    CHECK(to.x == from.x);
    CHECK(to.f == from.f);
}

TEST_CASE("A checkpoint of an older version is refused with its version", "[checkpoint]") {
    Solve from(3, 2);
    from.run(5);
    Bytes older = from.s.save();
    uint32_t version;
    std::memcpy(&version, &older[8], sizeof version);
    version--;
    std::memcpy(&older[8], &version, sizeof version);
    Solve to(3, 2);
    CHECK(to.load(sealed(older)) == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(to.s.message(), Catch::Contains("the checkpoint is of version " + std::to_string(version)));
}

// A checkpoint with a correct checksum can still be inconsistent. Whatever a word of the state is replaced by, the load
// is refused, or the solve continues without an access outside its arrays.
TEST_CASE("Wrong integers in a checkpoint with a valid checksum cause no access out of bounds", "[checkpoint]") {
    Solve from(4, 3);
    from.run(9);
    const Bytes good = from.s.save();
    Solve check(4, 3);
    REQUIRE(check.load(sealed(good)) == 0); // sealed() computes the same checksum
    int refused = 0;
    constexpr std::size_t header = 56;
    for (const uint32_t hostile : {0xffffffffu, 0x7fffffffu, 4u, 0x01010101u})
        for (std::size_t at = header; at + 12 < good.size(); at += 4) {
            Bytes forged = good;
            std::memcpy(&forged[at], &hostile, sizeof hostile);
            Solve to(4, 3);
            const int code = to.load(sealed(forged));
            CHECK(to.s.get_int(CUDA_OPT_DIMENSION) == 4);
            CHECK(to.s.get_int(CUDA_OPT_MEMORY) == 3);
            if (code == 0) to.run(30);
            else refused++;
        }
    CHECK(refused > 100);
}
