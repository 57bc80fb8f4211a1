#include "lbfgsb/subspace.hpp"

namespace cudaopt {

bool Subspace::minimise(LimitedMemory &memory, const CauchyPoint &point, bool all_free) {
    const int size = 2 * memory.pairs();
    if (size == 0) return true;
    const double theta = memory.theta(), scale = 1 / (theta * theta);
    for (int i = 0; i < size; i++) v_[i] = scale * (point.p[i] + theta * (point.c[i] - point.t * point.p[i]));
    if (all_free) {
        memory.apply_full_space_inverse(v_.data());
    } else {
        if (!memory.factor_subspace(point.over_free)) return false;
        memory.apply_subspace_inverse(v_.data());
    }
    memory.to_panel(v_.data(), q_.data());
    return true;
}

} // namespace cudaopt
