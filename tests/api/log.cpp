// Tests of the log that the caller's function receives: which lines are written for each value of the manual's iprint.
#include <catch2/catch.hpp>
#include <cstdio>

#include "../support/harness.hpp"

namespace api_log {

using namespace cudaopt_test;

namespace {

void keep(void *lines, const char *line) { static_cast<std::vector<std::string> *>(lines)->push_back(line); }

template <class Configuration>
std::vector<std::string> lines_of(int64_t frequency, int64_t type, int64_t iterations = 9) {
    std::vector<std::string> lines;
    Harness<Configuration> harness(extended_rosenbrock(4), 5);
    harness.set_int(CUDA_OPT_IPRINT_FREQUENCY, frequency).set_int(CUDA_OPT_IPRINT_TYPE, type);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
    REQUIRE(cuda_opt_set_log(harness.handle(), keep, &lines) == 0);
    harness.run();
    for (const std::string &line : lines) CHECK(line.find('\n') == std::string::npos);
    return lines;
}

int64_t lines_with(const std::vector<std::string> &lines, const std::string &text) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string &line) { return line.find(text) != std::string::npos; });
}

} // namespace

CONFIGURED_TEST_CASE("A negative frequency disables the log", "[api]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    CHECK(lines_of<TestType>(-1, 3).empty());
}

CONFIGURED_TEST_CASE("The log has more lines if its interval is smaller or its type is higher", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const std::vector<std::string> all = lines_of<TestType>(1, 0), third = lines_of<TestType>(3, 0),
                                   ends = lines_of<TestType>(0, 0);
    CHECK(all.size() >= 10);
    CHECK(third.size() < all.size());
    CHECK(ends.size() < third.size());
    // The values have the manual's format. At the start f = 48.4, in single precision approximately.
    const std::string at_start = sizeof(typename TestType::Real) == 8 ? "4.840000e+01" : "4.8400";
    CHECK(lines_with(all, at_start) >= 1);
    CHECK(lines_with(ends, at_start) >= 1);
    // A higher type adds lines.
    CHECK(lines_of<TestType>(1, 1).size() > all.size());
    CHECK(lines_of<TestType>(1, 2).size() > lines_of<TestType>(1, 1).size());
    CHECK(lines_of<TestType>(1, 3).size() > lines_of<TestType>(1, 2).size());
    // One line per state, from the check of the start to the end.
    std::vector<std::string> states;
    for (const std::string &line : lines_of<TestType>(1, 4))
        if (line.compare(0, 7, " STATE ") == 0) states.push_back(line.substr(7));
    CHECK(states.size() > 3 * 9);
    CHECK((states.size() > 2 && states[0] == "start_checked" && states[1] == "first_point"));
    CHECK(states.back() == "ended");
    CHECK(lines_with(lines_of<TestType>(1, 3), "STATE") == 0);
}

TEST_CASE("The log contains the first of each k iterations and the last iteration", "[api]") {
    const auto logged = [](int64_t frequency, int64_t iterations) {
        std::vector<int> numbers;
        for (const std::string &line : lines_of<HostDouble>(frequency, 0, iterations)) {
            int iteration, evaluations;
            if (std::sscanf(line.c_str(), "%d %d", &iteration, &evaluations) == 2) numbers.push_back(iteration);
        }
        return numbers;
    };
    using Numbers = std::vector<int>;
    CHECK(logged(1, 9) == Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(logged(2, 9) == Numbers{1, 3, 5, 7, 9});
    CHECK(logged(3, 9) == Numbers{1, 4, 7, 9});
    CHECK(logged(4, 9) == Numbers{1, 5, 9});
    CHECK(logged(9, 9) == Numbers{1, 9});
    CHECK(logged(1000, 9) == Numbers{1, 9});
    CHECK(logged(0, 9) == Numbers{1, 9});
    CHECK(logged(0, 1) == Numbers{1});
    CHECK(logged(5, 1) == Numbers{1});
}

CONFIGURED_TEST_CASE("The log function can be removed during a solve", "[api]", HostDouble) {
    std::vector<std::string> lines;
    Harness<TestType> harness(extended_rosenbrock(4), 5);
    harness.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1);
    REQUIRE(cuda_opt_set_log(harness.handle(), keep, &lines) == 0);
    for (int call = 0; call < 8; call++) harness.step();
    const std::size_t until_now = lines.size();
    REQUIRE(cuda_opt_set_log(harness.handle(), nullptr, nullptr) == 0);
    harness.run();
    CHECK(lines.size() == until_now);
}

TEST_CASE("An exception from the log function ends the solve with MISUSE", "[api]") {
    const auto throws = [](void *, const char *) { throw std::out_of_range("enough"); };
    Harness<HostDouble> harness(extended_rosenbrock(4), 5);
    harness.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1);
    REQUIRE(cuda_opt_set_log(harness.handle(), throws, nullptr) == 0);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_MISUSE);
    CHECK(outcome.message.find("exception") != std::string::npos);
    REQUIRE(cuda_opt_set_log(harness.handle(), nullptr, nullptr) == 0);
    harness.restart();
    CHECK(harness.run().task == CUDA_OPT_CONVERGED);
}

namespace {

// Calls functions from the log function of the same handle and counts how many of the calls are refused.
struct Meddler {
    Harness<HostDouble> harness{extended_rosenbrock(4), 5};
    double x[4] = {}, f = 0, g[4] = {};
    int64_t lines = 0, refused = 0;
    bool leaves = false; // whether the log function removes itself

    Outcome run() {
        harness.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1).set_int(CUDA_OPT_IPRINT_TYPE, 3);
        REQUIRE(cuda_opt_set_log(harness.handle(), meddle, this) == 0);
        return harness.run();
    }
    static void meddle(void *user, const char *) {
        Meddler &me = *static_cast<Meddler *>(user);
        cuda_opt *const s = me.harness.handle();
        me.lines++;
        if (me.leaves) cuda_opt_set_log(s, nullptr, nullptr);
        me.refused += cuda_opt_reset(s) == CUDA_OPT_MISUSE;
        me.refused += cuda_opt_warm_start(s) == CUDA_OPT_MISUSE;
        int64_t bytes = 0;
        me.refused += cuda_opt_save(s, nullptr, &bytes) == CUDA_OPT_MISUSE;
        me.refused += cuda_opt_solve(s, me.x, &me.f, me.g) == CUDA_OPT_MISUSE;
        CHECK_THAT(cuda_opt_message(s), Catch::Contains("cuda_opt_solve was called by the function of the log"));
    }
};

} // namespace

TEST_CASE("The log function cannot step or reset or save the solve that calls it", "[api]") {
    const Outcome plain = Harness<HostDouble>(extended_rosenbrock(4), 5).run();
    Meddler meddler;
    const Outcome outcome = meddler.run();
    CHECK(meddler.lines > 10);
    CHECK(meddler.refused == 4 * meddler.lines);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(outcome.x == plain.x);
    CHECK(outcome.message == plain.message);
    CHECK(cuda_opt_reset(meddler.harness.handle()) == 0);
}

TEST_CASE("The log function can remove itself", "[api]") {
    Meddler meddler;
    meddler.leaves = true;
    CHECK(meddler.run().task == CUDA_OPT_CONVERGED);
    CHECK(meddler.lines == 1);
}

} // namespace api_log
