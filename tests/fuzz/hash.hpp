// A hash of the numbers that a solve yields. Equal numbers have the same hash.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace fuzz {

// FNV-1a. 0 and -0 are one value, and so are all NaNs.
class Hash {
  public:
    template <class Real> Hash &add(const Real *values, std::size_t count) {
        for (std::size_t i = 0; i < count; i++) {
            const double value = static_cast<double>(values[i]) + 0.0;
            uint64_t bits;
            std::memcpy(&bits, &value, sizeof bits);
            if (std::isnan(value)) bits = 1;
            hash_ = (hash_ ^ bits) * 0x100000001b3u;
            hash_ ^= hash_ >> 29;
        }
        return *this;
    }
    uint64_t value() const { return hash_; }

  private:
    uint64_t hash_ = 0xcbf29ce484222325u;
};

// Returns the hash of a point with its f and g. Infinite components of g count as 0, because the solver sets those to 0
// that a bound removes.
template <class Real> uint64_t hash_of(const Real *x, double f, const Real *g, std::size_t n) {
    Hash hash;
    hash.add(x, n).add(&f, 1);
    for (std::size_t i = 0; i < n; i++) {
        const Real finite = std::isinf(g[i]) ? Real(0) : g[i];
        hash.add(&finite, 1);
    }
    return hash.value();
}

} // namespace fuzz
