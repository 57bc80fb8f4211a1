// Tests of the numbers with fewer bits than x: their rounding, and the direction that is stored in them.
#include "sweeps/rules.hpp"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../support/problems.hpp"

namespace unit_stored_numbers {

using cudaopt::bfloat16;
using cudaopt::infinity;
using cudaopt::largest_number;
using cudaopt::next_away_from_zero;
using cudaopt_test::Uniform;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr uint16_t bits_of_infinity = 0x7f80, sign_bit = 0x8000;

bfloat16 of_bits(int bits) {
    bfloat16 v;
    v.bits = static_cast<uint16_t>(bits);
    return v;
}

// Returns the number that the bits represent by definition: a sign, eight bits of the exponent, seven of the
// significand.
double meaning_of(int bits) {
    const int exponent = bits >> 7 & 0xff, digits = bits & 0x7f;
    const double size = exponent == 255 ? (digits == 0 ? infinity : not_a_number)
                        : exponent == 0 ? std::ldexp(digits, -133)
                                        : std::ldexp(128 + digits, exponent - 134);
    return bits & sign_bit ? -size : size;
}

// Returns the bits of the number nearest to `value`, which is not NaN. A tie is rounded to even. Infinity is treated as
// 2^128.
uint16_t nearest_bits(double value) {
    static const std::vector<double> sizes = [] {
        std::vector<double> all;
        for (int bits = 0; bits < bits_of_infinity; bits++) all.push_back(meaning_of(bits));
        all.push_back(std::ldexp(1.0, 128));
        return all;
    }();
    const double size = std::min(std::fabs(value), sizes.back());
    // The index of the first number that is not smaller than `size`.
    auto at = static_cast<int>(std::lower_bound(sizes.begin(), sizes.end(), size) - sizes.begin());
    if (at > 0) {
        const double up = sizes[at] - size, down = size - sizes[at - 1];
        if (down < up || (down == up && at % 2 == 1)) at--;
    }
    return static_cast<uint16_t>(std::signbit(value) ? at | sign_bit : at);
}

void check_rounding(float value) {
    const bfloat16 rounded(value);
    if (rounded.bits != nearest_bits(value))
        FAIL(value << " becomes " << rounded.bits << ", not " << nearest_bits(value));
}

// Returns a number of any sign and scale that a double can have.
double of_any_scale(Uniform &uniform) {
    const double size = std::ldexp(1 + uniform(), static_cast<int>(2098 * uniform()) - 1074);
    return uniform() < 0.5 ? size : -size;
}

// Returns the adjacent number of the type towards zero.
float towards_zero(float v) { return std::nextafter(v, 0.0f); }
bfloat16 towards_zero(bfloat16 v) { return of_bits(v.bits & ~sign_bit ? v.bits - 1 : v.bits); }

template <class Real> Real point_in(double x, double l, double u) {
    return static_cast<Real>(std::min(std::max(x, l), u));
}

struct Tally {
    int at_bound = 0, away = 0, beyond = 0, vanishing = 0;
};

template <class Real, class History> void check_direction(Real x, Real to, double l, double u, Tally &tally) {
    constexpr double largest = largest_number<History>;
    const History stored = cudaopt::stored_direction<Real, History>(x, to, l, u);
    const double d = stored, way = static_cast<double>(to) - static_cast<double>(x);
    const auto fail = [&](const char *why) {
        FAIL("d = " << d << " " << why << ", from x = " << x << " to " << to << " in [" << l << ", " << u << "]");
    };
    if (!std::isfinite(d)) fail("is not finite");
    if (to == x) {
        if (d != 0) fail("is not 0 although the trial point is x");
        return;
    }
    if (d != 0 && (d > 0) != (to > x)) fail("has the wrong sign");
    if (std::fabs(way) >= largest) { // the displacement exceeds the largest stored number
        tally.beyond++;
        if (std::fabs(d) != largest) fail("is not the largest number");
        return;
    }
    const History nearest(way);
    const bool bound = to == l || to == u;
    if (!bound && d != static_cast<double>(nearest)) fail("is not the nearest number");
    if (!bound) return;
    tally.at_bound++;
    tally.away += d != static_cast<double>(nearest);
    tally.vanishing += static_cast<double>(nearest) == 0;
    const Real reached = point_in<Real>(static_cast<Real>(static_cast<double>(x) + d), l, u);
    if (reached != to) fail("does not reach the bound");
    // d differs from the exact displacement by at most one unit in the last place.
    const double inner = towards_zero(stored), outer = next_away_from_zero(stored);
    if (!(std::fabs(way) >= std::fabs(inner) && std::fabs(way) <= std::fabs(outer)))
        fail("is wrong by more than a unit in the last place");
}

// Checks directions from x to the bounds, to points between them, and to the numbers adjacent to the bounds.
template <class Real, class History> void check_box(double x_, double l_, double u_, Uniform &uniform, Tally &tally) {
    const double l = static_cast<Real>(std::min(l_, u_)), u = static_cast<Real>(std::max(l_, u_));
    constexpr double most = largest_number<Real>;
    const Real x = point_in<Real>(static_cast<Real>(x_), l, u);
    if (!std::isfinite(x)) return;
    const Real low = point_in<Real>(-most, l, u), high = point_in<Real>(most, l, u);
    const Real between = point_in<Real>(static_cast<Real>(x + (high / 2 - x / 2) * uniform()), l, u);
    for (const Real to : {low, high, between, std::nextafter(low, high), std::nextafter(high, low), x})
        check_direction<Real, History>(x, to, l, u, tally);
}

struct DoubleAndFloat {
    using Real = double;
    using History = float;
};
struct DoubleAndBfloat16 {
    using Real = double;
    using History = bfloat16;
};
struct FloatAndBfloat16 {
    using Real = float;
    using History = bfloat16;
};

} // namespace

TEST_CASE("bfloat16: every bit pattern is converted to its number and back", "[stored]") {
    for (int bits = 0; bits < 1 << 16; bits++) {
        const double value = of_bits(bits), expected = meaning_of(bits);
        if (std::isnan(expected)) {
            if (!std::isnan(value) || !std::isnan(static_cast<double>(bfloat16(value)))) FAIL(bits << " is not NaN");
        } else if (value != expected || std::signbit(value) != std::signbit(expected) || bfloat16(value).bits != bits) {
            FAIL(bits << " is " << value << ", then " << bfloat16(value).bits);
        }
    }
    CHECK(sizeof(bfloat16) == 2);
}

TEST_CASE("bfloat16: numbers are rounded to nearest with ties to even", "[stored]") {
    Uniform uniform(40);
    // Each number, the midpoint to the next one, and numbers adjacent to both are rounded.
    for (int bits = 0; bits <= bits_of_infinity; bits++)
        for (const uint32_t digits :
             {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, static_cast<uint32_t>(65536 * uniform())})
            for (const uint32_t sign : {0u, 0x80000000u}) {
                const uint32_t wide = sign | static_cast<uint32_t>(bits) << 16 | digits;
                float value;
                std::memcpy(&value, &wide, sizeof value);
                if (!std::isnan(value)) check_rounding(value);
            }
    // Doubles are rounded twice, because they are first converted to single precision.
    for (int k = 0; k < 100000; k++) {
        const double value = of_any_scale(uniform);
        const bfloat16 rounded(value);
        if (rounded.bits != nearest_bits(static_cast<float>(value))) FAIL(value << " becomes " << rounded.bits);
        const double inner = towards_zero(rounded), outer = next_away_from_zero(rounded);
        if (std::isfinite(static_cast<double>(rounded)) &&
            !(std::fabs(value) >= std::fabs(inner) && std::fabs(value) <= std::fabs(outer)))
            FAIL(value << " becomes " << static_cast<double>(rounded));
    }
    CHECK(bfloat16(-0.0).bits == sign_bit);
    CHECK(bfloat16(-1e-300).bits == sign_bit);
    CHECK(bfloat16(infinity).bits == bits_of_infinity);
    CHECK(bfloat16(-infinity).bits == (bits_of_infinity | sign_bit));
    CHECK(bfloat16(1e300).bits == bits_of_infinity);
    CHECK(bfloat16(-1e39).bits == (bits_of_infinity | sign_bit));
    for (const double sign : {1.0, -1.0}) CHECK(std::isnan(static_cast<double>(bfloat16(sign * not_a_number))));
}

TEST_CASE("next_away_from_zero returns the adjacent number of the type", "[stored]") {
    for (int bits = 0; bits < bits_of_infinity; bits++) {
        CHECK(static_cast<double>(next_away_from_zero(of_bits(bits))) == meaning_of(bits + 1));
        CHECK(static_cast<double>(next_away_from_zero(of_bits(bits | sign_bit))) == -meaning_of(bits + 1));
    }
    Uniform uniform(41);
    const float most = std::numeric_limits<float>::max(), boundless = std::numeric_limits<float>::infinity();
    for (const float v :
         {0.0f, 1.0f, most, std::numeric_limits<float>::min(), std::numeric_limits<float>::denorm_min()}) {
        CHECK(next_away_from_zero(v) == std::nextafter(v, boundless));
        CHECK(next_away_from_zero(-v) == std::nextafter(-v, -boundless));
    }
    for (int k = 0; k < 10000; k++) {
        const auto v = static_cast<float>(of_any_scale(uniform));
        if (std::isinf(v)) continue;
        const float next = std::nextafter(v, std::signbit(v) ? -boundless : boundless);
        if (next_away_from_zero(v) != next) FAIL(v << " is followed by " << next_away_from_zero(v));
    }
}

TEST_CASE("largest_number is the largest finite number of each type", "[stored]") {
    CHECK(largest_number<bfloat16> == meaning_of(bits_of_infinity - 1));
    CHECK(largest_number<float> == std::numeric_limits<float>::max());
    CHECK(largest_number<double> == std::numeric_limits<double>::max());
}

TEMPLATE_TEST_CASE("A stored direction reaches the bound of a trial point and is otherwise rounded to nearest",
                   "[stored]", DoubleAndFloat, DoubleAndBfloat16, FloatAndBfloat16) {
    using Real = typename TestType::Real;
    using History = typename TestType::History;
    Uniform uniform(42);
    Tally tally;
    const double smallest = std::is_same_v<History, float> ? 0x1p-149 : 0x1p-133;
    const double sizes[] = {0,
                            std::numeric_limits<Real>::denorm_min(),
                            std::numeric_limits<Real>::min(),
                            smallest / 2,
                            smallest,
                            1e-30,
                            0x1p-53,
                            1e-8,
                            0.1,
                            1,
                            1 + std::numeric_limits<Real>::epsilon(),
                            1 + 0x1p-8,
                            1 + 0x1p-24,
                            1e8,
                            1e30,
                            largest_number<History>,
                            largest_number<Real>,
                            infinity};
    std::vector<double> values;
    for (const double size : sizes) values.push_back(size), values.push_back(-size);
    for (const double x : values)
        for (const double l : values)
            for (const double u : values) check_box<Real, History>(x, l, u, uniform, tally);
    for (int k = 0; k < 30000; k++) {
        const double x = of_any_scale(uniform), beside = x * (1 + 4 * uniform() * std::numeric_limits<Real>::epsilon());
        check_box<Real, History>(x, of_any_scale(uniform), of_any_scale(uniform), uniform, tally);
        check_box<Real, History>(x, beside, of_any_scale(uniform), uniform, tally);
        const double scale = std::ldexp(1.0, static_cast<int>(200 * uniform()) - 100);
        const auto near = [&] { return scale * (2 * uniform() - 1); };
        check_box<Real, History>(near(), near(), near(), uniform, tally);
        check_box<Real, History>(1e-3 * near(), near(), near(), uniform, tally);
    }
    CHECK(tally.at_bound > 10000);
    CHECK(tally.away > 1000);
    CHECK(tally.vanishing > 100);
    CHECK(tally.beyond > 100);
}

} // namespace unit_stored_numbers
