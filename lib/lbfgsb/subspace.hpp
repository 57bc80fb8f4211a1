// Subspace minimisation by the direct primal method (Byrd, Lu, Nocedal, Zhu 1995, section 5.1), reduced to what does
// not depend on n. With r_c = (1 - theta t*) g - W M c on the free rows and v = (M^-1 - W_F'W_F / theta)^-1 W_F'r_c,
//
//     x_c - x + d_u = -g / theta + W (M c / theta - v / theta^2)    on the free rows,
//
// so that sweep 2 needs two numbers a row: g_i and w_i'q. W_F'r_c itself follows from p, c and the Gram matrix.
#pragma once

#include "lbfgsb/cauchy_point.hpp"

namespace cudaopt {

class Subspace {
  public:
    explicit Subspace(int m) : v_(2 * m), mc_(2 * m), q_(panel::columns(m)) {}

    // False: breakdown of the factorisation. Otherwise coefficients() holds q in panel order.
    bool minimise(LimitedMemory &memory, const CauchyPoint &point, bool all_free);
    const double *coefficients() const { return q_.data(); }

  private:
    dense::Vector v_, mc_, q_;
};

} // namespace cudaopt
