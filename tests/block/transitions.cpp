// Random solves change the state only as the table of transitions (lbfgsb/states.hpp) says.
#include <catch2/catch.hpp>
#include <set>

#include "../support/problems.hpp"
#include "on_host.hpp"

using namespace block_test;
using cudaopt::may_follow;
using cudaopt::Settings;
using cudaopt::State;

namespace {

struct Walk {
    StateMachine *state;
    std::set<std::pair<State, State>> &seen;
    int calls = 0, stop_at = 0; // 0: the caller does not stop the solve
    Verb requested = Verb::task;

    Request operator()(const Reply &reply) {
        const State before = state->state();
        const bool stops = ++calls >= stop_at && stop_at > 0 && requested == Verb::task && calls > 1;
        if (stops) stop_at = 0;
        const Request request = stops ? state->stop() : state->advance(reply);
        requested = request.verb;
        if (seen.emplace(before, state->state()).second) {
            INFO(name_of(before) << " -> " << name_of(state->state()));
            CHECK(may_follow(before, state->state()));
        }
        return request;
    }
};

} // namespace

TEST_CASE("The state changes only as the table of transitions says", "[block]") {
    cudaopt_test::Uniform uniform(68);
    const auto choose = [&](int count) { return static_cast<int>(uniform() * count); };
    const auto often = [&](double share) { return uniform() < share; };
    std::set<std::pair<State, State>> seen;
    for (int k = 0; k < 600; k++) {
        constexpr int sizes[] = {1, 2, 20, 64};
        Problem problem{static_cast<Kind>(choose(10)), sizes[choose(4)]};
        if (problem.kind == Kind::torsion) problem.n = 64;
        problem.bounded = often(0.6);
        if (problem.bounded && often(0.5)) problem.least = -2 * uniform(), problem.largest = 0.5 + uniform();
        if (problem.kind == Kind::chained_rosenbrock && often(0.5)) problem.boxes = 1 + choose(5);
        const auto set = [&](Settings &s) {
            s.metric = choose(4);
            s.robust = often(0.8), s.report_iterates = often(0.5), s.noise_auto = often(0.3);
            s.diagonal_every = choose(3);
            s.log_frequency = often(0.3) ? 0 : -1;
            if (often(0.5)) s.eps = 0, s.factr = often(0.5) ? 1e7 : 1e13;
            if (often(0.2)) s.pgtol = 10 * uniform();
            if (often(0.3)) s.rounding = 1e300, s.factr = 1e-3;
            if (often(0.2)) s.noise_abs = 1e-6;
            if (often(0.3)) s.evaluations_per_search = 1 + choose(3), s.gtol = 1e-3;
            s.max_evaluations = often(0.3) ? 1 + choose(40) : 400;
            s.approximate_cauchy = often(0.1);
        };
        Prepared made = prepare("random", problem, 1 + choose(5), set, often(0.3) ? 1 : 0);
        made.job.machine.late_sums = often(0.5);
        PlainSweeps sweeps(made.job.machine, made.block.data() + made.job.sweeps);
        Trail trail{made.block.data() + made.job.trail, made.job.most_iterates, 0};
        Walk walk{&made.state(), seen, 0, often(0.3) ? 2 + choose(200) : 0, Verb::task};
        INFO("solve " << k << ", problem " << static_cast<int>(problem.kind) << ", n = " << problem.n);
        solve(problem, sweeps, trail, walk);
        CHECK(made.state().has_ended() != (made.state().task() == CUDA_OPT_IMPROPER_INPUT));
    }
    CHECK(seen.size() > 90);
}
