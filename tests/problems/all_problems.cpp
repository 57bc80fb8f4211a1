#include "sets.hpp"

namespace cudaopt_problems {

const Problems &all_problems() {
    static const Problems all = [] {
        Problems problems;
        for (const auto &set :
             {more_garbow_hillstrom, nist_regressions, classics, bound_constrained, in_our_boxes, badly_scaled})
            append(problems, set());
        return problems;
    }();
    return all;
}

} // namespace cudaopt_problems
