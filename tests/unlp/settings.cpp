// Tests of the settings. Each has the effect of its key in cuda_opt.h, and each thread has its own settings.
#include <thread>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

const Problem problem = extended_rosenbrock(1000);

// Checks that a solve with the settings of the thread gives the same result as cuda_opt_solve with this setting, and
// that the result differs without the setting.
template <class Configuration, class Set> void check_same(const char *name, const Set &set) {
    INFO(name);
    ManualHarness<Configuration> harness(problem, 5);
    set(harness);
    const Outcome with = harness.run(), without = ManualHarness<Configuration>(problem, 5).run();
    Run<Configuration> run(problem);
    CHECK(run.called_back() == with.task);
    CHECK(run.x() == with.x);
    CHECK(run.evaluations() == with.evaluations);
    CHECK((with.task != without.task || with.x != without.x));
    cuda_opt_unlp_default_settings();
}

} // namespace

CONFIGURED_TEST_CASE("Each setting has the same effect as its key in cuda_opt.h", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    using Same = Harness<TestType>;
    REQUIRE(cuda_opt_unlp_set_GTOL(0.01) == 0);
    check_same<TestType>("GTOL", [](Same &s) { s.set_real(CUDA_OPT_GTOL, 0.01); });
    REQUIRE(cuda_opt_unlp_set_STPMIN(0.25) == 0);
    check_same<TestType>("STPMIN", [](Same &s) { s.set_real(CUDA_OPT_STPMIN, 0.25); });
    REQUIRE(cuda_opt_unlp_set_STPMAX(0.5) == 0);
    check_same<TestType>("STPMAX", [](Same &s) { s.set_real(CUDA_OPT_STPMAX, 0.5); });
    REQUIRE(cuda_opt_unlp_set_STPMAX(1e-25) == 0); // below the default of stpmin
    REQUIRE(cuda_opt_unlp_set_STPMIN(1e-26) == 0);
    check_same<TestType>("both", [](Same &s) { s.set_real(CUDA_OPT_STPMIN, 1e-26).set_real(CUDA_OPT_STPMAX, 1e-25); });
    REQUIRE(cuda_opt_unlp_set_XTOL(1e3) == 0);
    check_same<TestType>("XTOL", [](Same &s) { s.set_real(CUDA_OPT_XTOL, 1e3); });
    REQUIRE(cuda_opt_unlp_set_maxfev(2) == 0);
    check_same<TestType>("MAXFEV", [](Same &s) { s.set_int(CUDA_OPT_MAXFEV, 2); });
    REQUIRE(cuda_opt_unlp_set_icall(6) == 0);
    check_same<TestType>("MAX_ITERATIONS", [](Same &s) { s.set_int(CUDA_OPT_MAX_ITERATIONS, 6); });
    REQUIRE(cuda_opt_unlp_change_eps(10) == 0);
    check_same<TestType>("EPS", [](Same &s) { s.set_real(CUDA_OPT_EPS, 10); });
}

TEST_CASE("A solve ends with -10 after icall iterations", "[unlp]") {
    const Defaults defaults;
    REQUIRE(cuda_opt_unlp_set_icall(3) == 0);
    Run<HostDouble> run(problem);
    CHECK(run.called_back() == CUDA_OPT_ITERATION_LIMIT);
    CHECK(run.istate == -10);
}

TEST_CASE("eps can be changed during a solve", "[unlp]") {
    const Defaults defaults;
    Run<HostDouble> run(problem), plain(problem);
    plain.called_back();
    run.at_evaluation = [&] {
        if (run.evaluations() == 10) cuda_opt_unlp_change_eps(1e9);
    };
    CHECK(run.called_back() == 0);
    CHECK(run.evaluations() >= 10);
    CHECK(run.evaluations() < plain.evaluations());
    REQUIRE(cuda_opt_unlp_change_eps(-1) == 0); // the argument eps applies again
    Run<HostDouble> again(problem);
    again.called_back();
    CHECK(again.x() == plain.x());

    Run<HostDouble> reversed(problem); // the argument eps can be changed, too
    for (int k = 0; k < 12; k++) REQUIRE(reversed.reversed_step() > 0);
    reversed.eps = 1e9;
    CHECK(reversed.reversed() == 0);
    CHECK(reversed.evaluations() < plain.evaluations());
}

TEST_CASE("GTOL out of its range becomes 0.9 with a warning if there is a log", "[unlp]") {
    const Defaults defaults;
    const Outcome plain = ManualHarness<HostDouble>(problem, 5).run();
    for (const double gtol : {1e-4, 0.0, -3.0, 1.0, 1e9, std::numeric_limits<double>::quiet_NaN()})
        for (const bool log : {true, false}) {
            INFO("gtol = " << gtol << ", log: " << log);
            REQUIRE(cuda_opt_unlp_set_iprint(log ? 0 : -1, 0) == 0);
            CHECK(cuda_opt_unlp_set_GTOL(gtol) == 1);
            CHECK(std::string(cuda_opt_unlp_message()).find("0.9") != std::string::npos);
            Run<HostDouble> run(problem), next(problem);
            const std::vector<std::string> lines = printed([&] { CHECK(run.called_back() == 0); });
            CHECK(has_line(lines, "  WARNING: GTOL = ") == log);
            CHECK(lines.empty() == !log);
            CHECK(run.x() == plain.x);
            CHECK(!has_line(printed([&] { next.called_back(); }), "  WARNING"));
        }
    CHECK(cuda_opt_unlp_set_GTOL(0.5) == 0);
}

TEST_CASE("iprint determines the length of the log", "[unlp]") {
    const Defaults defaults;
    const auto lines = [](int frequency, int type) {
        REQUIRE(cuda_opt_unlp_set_iprint(frequency, type) == 0);
        Run<HostDouble> run(extended_rosenbrock(4));
        return printed([&] { run.called_back(); }).size();
    };
    CHECK(lines(-1, 0) == 0);
    CHECK(lines(-1, 3) == 0);
    CHECK(lines(0, 0) > 0);
    CHECK(lines(5, 0) > lines(0, 0));
    CHECK(lines(1, 0) > lines(5, 0));
    CHECK(lines(1, 1) > lines(1, 0));
    CHECK(lines(1, 2) > lines(1, 1));
    CHECK(lines(1, 3) > lines(1, 2));
}

CONFIGURED_TEST_CASE("Each thread has its own settings", "[unlp][threads]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const double gtols[] = {0.9, 0.01, 0.3};
    Vector expected[3], found[3];
    int expected_evaluations[3], found_evaluations[3];
    for (int k = 0; k < 3; k++) {
        ManualHarness<TestType> harness(problem, 5);
        const Outcome outcome = harness.set_real(CUDA_OPT_GTOL, gtols[k]).run();
        expected[k] = outcome.x;
        expected_evaluations[k] = static_cast<int>(outcome.evaluations);
    }
    REQUIRE(expected[0] != expected[1]);
    REQUIRE(expected[0] != expected[2]);
    REQUIRE(cuda_opt_unlp_set_GTOL(gtols[2]) == 0); // for this thread
    std::vector<std::thread> threads;
    for (int k = 0; k < 2; k++)
        threads.emplace_back([&, k] {
            if (k == 1) cuda_opt_unlp_set_GTOL(gtols[1]); // the other thread keeps the default
            Run<TestType> run(problem);
            run.called_back();
            found[k] = run.x();
            found_evaluations[k] = run.evaluations();
        });
    for (std::thread &thread : threads) thread.join();
    Run<TestType> run(problem);
    run.called_back();
    found[2] = run.x();
    found_evaluations[2] = run.evaluations();
    for (int k = 0; k < 3; k++) {
        INFO("gtol = " << gtols[k]);
        CHECK(found[k] == expected[k]);
        CHECK(found_evaluations[k] == expected_evaluations[k]);
    }
}
