// When a slow solve restarts: the rule by itself, on the numbers of iterates.
#include <catch2/catch.hpp>

#include "lbfgsb/slow_progress.hpp"

using cudaopt::Iteration;
using cudaopt::Settings;

namespace {

// The evaluation at which the first iterate in [from, to] restarts, or 0. Each iterate takes one evaluation.
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
// The start has f = 1001; afterwards f is 1 and no longer falls.
double after_start(double k) { return k == 1 ? 1001 : 1; }

} // namespace

TEST_CASE("A solve without progress restarts after 250 evaluations, then 750, then 2250", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 9999, after_start, one) == 252); // the fall from the start is progress
    CHECK(restart_within(it, 253, 9999, after_start, one) == 1002);
    CHECK(restart_within(it, 1003, 9999, after_start, one) == 3252);
}

TEST_CASE("A fall of f by 1e-7 of the fall so far is progress, and a smaller one is none", "[slow]") {
    const auto falling = [](double share) {
        return [=](double k) { return k == 1 ? 1001 : 1 - share * 1000 * k / 200; };
    };
    Iteration slow, fast;
    CHECK(restart_within(fast, 1, 9999, falling(1.1e-7), one) == 0);
    CHECK(restart_within(slow, 1, 9999, falling(0.7e-7), one) > 0);
    Iteration rising; // nothing is progress where f is above its start
    CHECK(restart_within(
              rising, 1, 9999, [](double k) { return k; }, one) == 251);
}

TEST_CASE("A projected gradient that is smaller by a factor of 0.3 is progress", "[slow]") {
    const auto halved_every = [](double evaluations) {
        return [=](double k) { return std::pow(0.5, std::floor(k / evaluations)); };
    };
    Iteration fast, slow;
    CHECK(restart_within(fast, 1, 2000, after_start, halved_every(120)) == 0);
    CHECK(restart_within(slow, 1, 2000, after_start, halved_every(140)) > 0);
    Iteration rough; // the least one counts, and not the last
    CHECK(restart_within(rough, 1, 2000, after_start, [](double k) {
              return k == 100 ? 0.2 : k < 100 ? 1 : 0.5;
          }) == 350);
}

TEST_CASE("Progress of f does not raise the projected gradient that the next one is compared with", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 999, after_start, [](double k) { return k == 2 ? 10 : k < 100 ? 1 : 0.5; }) == 252);
}

TEST_CASE("The path of L-BFGS-B 3.0 has no such restarts", "[slow]") {
    Settings settings;
    settings.robust = false;
    Iteration it;
    CHECK(restart_within(it, 1, 99999, after_start, one, settings) == 0);
}
