// Tests of the rule by which a slow solve restarts, applied to given values of f and ||P g|| at each iterate.
#include <catch2/catch.hpp>

#include "lbfgsb/iteration.hpp"

using cudaopt::Iteration;
using cudaopt::Settings;

namespace {

// Returns the evaluation at which the first iterate in [from, to] restarts, or 0. Each iterate takes one evaluation.
template <class F, class Norm>
int64_t restart_within(Iteration &it, int64_t from, int64_t to, const F &f, const Norm &norm,
                       const Settings &settings = {}) {
    for (int64_t k = from; k <= to; k++) {
        it.results.evaluations = k;
        it.results.f = f(static_cast<double>(k));
        it.results.pg_norm_max = norm(static_cast<double>(k));
        if (it.restarts_slow_solve(settings)) return k;
    }
    return 0;
}

double one(double) { return 1; }
// At the start f = 1001; afterwards f is 1 and no longer decreases.
double after_start(double k) { return k == 1 ? 1001 : 1; }

} // namespace

TEST_CASE("A solve without progress restarts after 250 evaluations and then after 750 and 2250", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 9999, after_start, one) == 252); // the decrease from the start is progress
    CHECK(restart_within(it, 253, 9999, after_start, one) == 1002);
    CHECK(restart_within(it, 1003, 9999, after_start, one) == 3252);
}

TEST_CASE("A decrease of f is progress from 1e-7 of the decrease since the start on", "[slow]") {
    const auto falling = [](double share) {
        return [=](double k) { return k == 1 ? 1001 : 1 - share * 1000 * k / 200; };
    };
    Iteration slow, fast;
    CHECK(restart_within(fast, 1, 9999, falling(1.1e-7), one) == 0);
    CHECK(restart_within(slow, 1, 9999, falling(0.7e-7), one) > 0);
    Iteration rising; // f that is above its start makes no progress
    CHECK(restart_within(
              rising, 1, 9999, [](double k) { return k; }, one) == 251);
}

TEST_CASE("A projected gradient below 0.3 times the least one so far is progress", "[slow]") {
    const auto halved_every = [](double evaluations) {
        return [=](double k) { return std::pow(0.5, std::floor(k / evaluations)); };
    };
    Iteration fast, slow;
    CHECK(restart_within(fast, 1, 2000, after_start, halved_every(120)) == 0);
    CHECK(restart_within(slow, 1, 2000, after_start, halved_every(140)) > 0);
    Iteration rough; // compared with the least one, not with the last
    CHECK(restart_within(rough, 1, 2000, after_start, [](double k) {
              return k == 100 ? 0.2 : k < 100 ? 1 : 0.5;
          }) == 350);
}

TEST_CASE("Progress of f does not raise the reference value of the projected gradient", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 999, after_start, [](double k) { return k == 2 ? 10 : k < 100 ? 1 : 0.5; }) == 252);
}

TEST_CASE("A solve with ROBUST = 0 does not restart because of slow progress", "[slow]") {
    Settings settings;
    settings.robust = false;
    Iteration it;
    CHECK(restart_within(it, 1, 99999, after_start, one, settings) == 0);
}
