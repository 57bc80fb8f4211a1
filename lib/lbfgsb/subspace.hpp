// Subspace minimisation by the direct primal method (Byrd, Lu, Nocedal, Zhu 1995, section 5.1), reduced to what does
// not depend on n. With r_c = (1 - theta t*) g - W M c on the free rows, K = M^-1 - G / theta and G = W_F'W_F,
//
//     x_c - x + d_u = -g / theta + W q,    q = M c / theta - K^-1 W_F'r_c / theta^2    on the free rows.
//
// W_F'r_c = -(1 - theta t*) p - G M c, and K^-1 G M c = theta (K^-1 c - M c), so that neither M nor G is needed besides
// K:
//
//     q = K^-1 (p / theta + (c - t* p)) / theta,
//
// where c - t* p is W'(x_c - x) over the rows that were crossed: 0 where there are none. Divided twice: theta^2 leaves
// the range of numbers long before theta does.
#pragma once

#include "lbfgsb/cauchy_point.hpp"

namespace cudaopt {

class Subspace {
  public:
    explicit Subspace(int m) : v_(2 * m), q_(panel::columns(m)) {}

    // False: breakdown of the factorisation, or a coefficient is not finite. Otherwise coefficients() holds q in panel
    // order.
    bool minimise(LimitedMemory &memory, const CauchyPoint &point, bool all_free);
    template <class Archive> void exchange(Archive &archive) { archive.array(q_.data(), static_cast<int>(q_.size())); }
    const double *coefficients() const { return q_.data(); }

  private:
    dense::Vector v_, q_;
};

} // namespace cudaopt
