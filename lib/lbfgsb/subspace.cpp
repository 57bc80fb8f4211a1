#include "lbfgsb/subspace.hpp"

#include <algorithm>

namespace cudaopt {

bool Subspace::minimise(LimitedMemory &memory, const CauchyPoint &point, bool all_free) {
    const int size = 2 * memory.pairs();
    if (size == 0) return true;
    const double theta = memory.theta();
    const bool at_cauchy_point = point.t > 0;

    if (at_cauchy_point) {
        std::copy(point.c.begin(), point.c.end(), mc_.begin());
        memory.apply_middle(mc_.data());
    }
    for (int i = 0; i < size; i++) {
        v_[i] = -(1 - theta * point.t) * point.p[i];
        if (at_cauchy_point) v_[i] -= dense::dot(point.gram.row(i), mc_.data(), size);
    }
    if (all_free) {
        memory.apply_full_space_inverse(v_.data());
    } else {
        if (!memory.factor_subspace(point.gram)) return false;
        memory.apply_subspace_inverse(v_.data());
    }
    for (int i = 0; i < size; i++) v_[i] = (at_cauchy_point ? mc_[i] / theta : 0) - v_[i] / (theta * theta);
    memory.to_panel(v_.data(), q_.data());
    return true;
}

} // namespace cudaopt
