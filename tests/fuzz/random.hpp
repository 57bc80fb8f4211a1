// The source of random numbers and extreme values for the fuzzers. The numbers are the same on all platforms. A copy of
// a Random continues from the same state, so that a sequence of calls can be repeated.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace fuzz {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Random {
  public:
    // Consecutive seeds lead to distant states.
    explicit Random(uint64_t seed) : state_(mixed(seed)) {}

    // splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
    uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }
    int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
    int64_t from_to(int64_t least, int64_t most) { return least + below(most - least + 1); }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    double uniform(double least, double most) { return least + (most - least) * uniform(); }
    bool chance(double probability) { return uniform() < probability; }
    double sign() { return chance(0.5) ? 1 : -1; }
    // 10^uniform(least, most).
    double power_of_10(double least, double most) { return std::pow(10, uniform(least, most)); }
    template <class T> T pick(std::initializer_list<T> values) {
        return values.begin()[below(static_cast<int64_t>(values.size()))];
    }

    double hostile() {
        if (chance(0.3)) return sign() * power_of_10(-320, 308);
        return sign() * pick({0.0, 1.0, infinity, std::nan(""), DBL_MAX, DBL_MIN, 4.9e-324, 1e-300, 1e-160, 1e-20,
                              DBL_EPSILON, 0.5, 1e20, 1e154, 1e160, 1e300, 1.7e308});
    }
    int64_t hostile_integer() {
        if (chance(0.3)) return static_cast<int64_t>(next());
        return pick<int64_t>({0, 1, -1, 2, 3, 20, 4096, 4097, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1000});
    }

  private:
    static uint64_t mixed(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t state_;
};

} // namespace fuzz
