#include "lbfgsb/subspace.hpp"

#include <algorithm>
#include <cmath>

namespace cudaopt {

bool Subspace::minimise(LimitedMemory &memory, const CauchyPoint &point, bool all_free) {
    const int size = 2 * memory.pairs();
    if (size == 0) return true;
    const double scale = 1 / memory.theta();
    for (int i = 0; i < size; i++) v_[i] = scale * (scale * point.p[i] + (point.c[i] - point.t * point.p[i]));
    if (all_free) {
        memory.apply_full_space_inverse(v_.data());
    } else {
        if (!memory.factor_subspace(point.over_free)) return false;
        memory.apply_subspace_inverse(v_.data());
    }
    if (!std::all_of(v_.begin(), v_.begin() + size, [](double v) { return std::isfinite(v); })) return false;
    memory.to_panel(v_.data(), q_.data());
    return true;
}

} // namespace cudaopt
