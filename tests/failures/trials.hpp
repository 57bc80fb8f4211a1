// Parts of small solves whose results are compared bitwise. They allocate no memory.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "cuda_opt.h"
#include "failing.hpp"

namespace failing {

// Extended Rosenbrock.
template <class Real> double rosenbrock(const Real *x, Real *g, int64_t n) {
    double f = 0;
    for (int64_t i = 0; i + 1 < n; i += 2) {
        const double a = x[i], b = x[i + 1], valley = b - a * a, slope = 1 - a;
        g[i] = static_cast<Real>(-400 * a * valley - 2 * slope);
        g[i + 1] = static_cast<Real>(200 * valley);
        f += 100 * valley * valley + slope * slope;
    }
    return f;
}

// The result of a solve, for comparisons.
struct Outcome {
    int code = 1;
    double f = 0;
    uint64_t hash = 0;
    bool operator==(const Outcome &other) const { return code == other.code && f == other.f && hash == other.hash; }
};

template <class Real> uint64_t hash_of(const Real *values, std::size_t count) {
    uint64_t hash = 0;
    for (std::size_t i = 0; i < count; i++) {
        const double value = values[i];
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

// Returns whether the message of a failure looks like a sentence.
inline bool is_sentence(const char *message) { return std::strlen(message) >= 8 && std::strchr(message, ' '); }

} // namespace failing
