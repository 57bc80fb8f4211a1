// What the compiler knows of a state's problem. One state machine serves all kinds: what a kind cannot meet is not
// compiled, and has no room in its state.
#pragma once

namespace cudaopt {

// Any number of pairs, told when the state is made; bounds, or none; any metric.
struct AnyKind {
    static constexpr int pairs = 0;
    static constexpr bool bounds = true, keeps_search = true;
};

// A small problem among many: so many pairs, one number as metric; bounds, or certainly none. The Cauchy search has its
// place in the state, or lasts a turn, and then it may stand in registers.
template <int pairs_, bool bounds_ = true, bool keeps_search_ = false> struct SmallKind {
    static constexpr int pairs = pairs_;
    static constexpr bool bounds = bounds_, keeps_search = keeps_search_;
};

} // namespace cudaopt
