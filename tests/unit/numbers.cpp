// Tests of the predicates of numbers. They are compared with the conversions that define them.
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "dense/numbers.hpp"
#include "dense/array.hpp"
#include "lbfgsb/box.hpp"

using namespace cudaopt;

namespace {

bool survives_conversion(double v) {
    const volatile float narrow = static_cast<float>(v); // volatile prevents the compiler from removing the conversion
    return static_cast<double>(narrow) == v;
}

// GCC 12 optimises two adjacent tests for AVX-512 by removing their conversions, which is wrong.
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
__attribute__((target("arch=x86-64-v4"), optimize("O3"), noinline))
#endif
void test_both(const double *values, bool *are_single) {
    are_single[0] = is_single(values[0]);
    are_single[1] = is_single(values[1]);
}

bool can_run() {
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
    return __builtin_cpu_supports("x86-64-v4");
#else
    return true;
#endif
}

} // namespace

TEST_CASE("is_single holds exactly for the numbers that conversion to float preserves") {
    const double quantum = std::ldexp(1.0, -149);
    for (const double scale :
         {1.0, 0x1p127, 0x1p128, 0x1p500, 0x1p-126, 0x1p-127, 0x1p-148, 0x1p-149, 0x1p-150, 0x1p-1000})
        for (const double factor : {1.0, 1.5, 1 + 0x1p-23, 1 + 0x1p-24, 1 + 0x1p-52, 2 - 0x1p-23, 2 - 0x1p-24, 1 / 3.0})
            for (const double v : {scale * factor, -scale * factor}) {
                INFO(v);
                CHECK(is_single(v) == survives_conversion(v));
            }
    for (const double v : {0.0, -0.0, quantum, 1.5 * quantum, double{FLT_MAX}, double{FLT_MIN}, DBL_MAX, DBL_MIN,
                           static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
        INFO(v);
        CHECK(is_single(v) == survives_conversion(v));
    }
}

TEST_CASE("Two adjacent calls of is_single both test their argument with AVX-512") {
    if (!can_run()) return;
    const double values[][2] = {{0.1, 0.2}, {0.1, 0.5}, {0.5, 0.1}, {0.5, 0.25}};
    for (const auto &pair : values) {
        bool are_single[2] = {};
        test_both(pair, are_single);
        CHECK(are_single[0] == (pair[0] == 0.5));
        CHECK(are_single[1] == (pair[1] != 0.1 && pair[1] != 0.2));
    }
}

// Both logarithms have an error of a few units in the last place.
TEST_CASE("logarithm agrees with the C library and is NaN for all other numbers") {
    for (int exponent = -1074; exponent < 1024; exponent++)
        for (const double m : {1.0, 1 + DBL_EPSILON, 1.01, 1.2, 1.39, 1.41, 1.5, 1.99, 2 - DBL_EPSILON}) {
            const double v = std::ldexp(m, exponent), wanted = std::log(v);
            CAPTURE(v);
            CHECK(std::fabs(logarithm(v) - wanted) <= 8 * DBL_EPSILON * std::fabs(wanted));
        }
    CHECK(logarithm(DBL_MAX) == Approx(std::log(DBL_MAX)).epsilon(8 * DBL_EPSILON));
    for (const double v : {0.0, -0.0, -1.0, -infinity, infinity, cudaopt::not_a_number})
        CHECK(std::isnan(logarithm(v)));
}

TEST_CASE("The data of dense::Nothing is a null pointer") {
    // The compiler evaluates a direct call at compile time, because it is a constant expression. A call through a
    // volatile pointer is executed.
    double *(*volatile const data)() = dense::Nothing::data;
    CHECK(data() == nullptr);
}
