// check_same_bits() checks that the results and all iterates of two solves are bitwise identical.
#pragma once

#include <catch2/catch.hpp>

#include "harness.hpp"

namespace cudaopt_test {

inline void check_same_bits(const Outcome &a, const Outcome &b) {
    CHECK(a.task == b.task);
    CHECK(a.message == b.message);
    CHECK(a.f == b.f);
    CHECK(a.x == b.x);
    CHECK(a.g == b.g);
    CHECK(a.evaluations == b.evaluations);
    REQUIRE(a.history.size() == b.history.size());
    for (std::size_t k = 0; k < a.history.size(); k++) {
        INFO("iteration " << k + 1);
        CHECK(a.history[k].f == b.history[k].f);
        CHECK(a.history[k].pg_norm2 == b.history[k].pg_norm2);
        CHECK(a.history[k].step == b.history[k].step);
    }
}

} // namespace cudaopt_test
