// The calls that come once for each precision, under one name, and a hash of what they yield.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cuda_opt.h"

namespace fuzz {

struct Double {
    using Real = double;
    static constexpr auto create = cuda_opt_create;
    static constexpr auto set_bounds = cuda_opt_set_bounds;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal;
    static constexpr auto solve = cuda_opt_solve;
    static constexpr auto load = cuda_opt_load;
    static int wrong_solve(cuda_opt *s) {
        float x = 0, g = 0;
        double f = 0;
        return cuda_opt_solve_f32(s, &x, &f, &g);
    }
};
struct Single {
    using Real = float;
    static constexpr auto create = cuda_opt_create_f32;
    static constexpr auto set_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds_f32;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal_f32;
    static constexpr auto solve = cuda_opt_solve_f32;
    static constexpr auto load = cuda_opt_load_f32;
    static int wrong_solve(cuda_opt *s) {
        double x = 0, g = 0, f = 0;
        return cuda_opt_solve(s, &x, &f, &g);
    }
};

// FNV-1a; 0 and -0 are one value.
class Hash {
  public:
    template <class Real> void add(const Real *values, std::size_t count) {
        for (std::size_t i = 0; i < count; i++) {
            const double value = static_cast<double>(values[i]) + 0.0;
            uint64_t bits;
            std::memcpy(&bits, &value, sizeof bits);
            if (std::isnan(value)) bits = 1;
            hash_ = (hash_ ^ bits) * 0x100000001b3u;
            hash_ ^= hash_ >> 29;
        }
    }
    uint64_t value() const { return hash_; }

  private:
    uint64_t hash_ = 0xcbf29ce484222325u;
};

} // namespace fuzz
