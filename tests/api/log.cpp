// The log that goes to the caller's function: which lines come for each value of the manual's iprint.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

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

TEMPLATE_TEST_CASE("Without a frequency there is no log", "[api]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    CHECK(lines_of<TestType>(-1, 3).empty());
}

TEMPLATE_TEST_CASE("Each iterate logged has its line", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const std::vector<std::string> all = lines_of<TestType>(1, 0), third = lines_of<TestType>(3, 0),
                                   ends = lines_of<TestType>(0, 0);
    CHECK(all.size() >= 10);
    CHECK(third.size() < all.size());
    CHECK(ends.size() < third.size());
    // The values are in the manual's form; at the start f = 48.4, in single precision nearly so.
    const std::string at_start = sizeof(typename TestType::Real) == 8 ? "4.840000e+01" : "4.8400";
    CHECK(lines_with(all, at_start) >= 1);
    CHECK(lines_with(ends, at_start) >= 1);
    // More is told of each, never less.
    CHECK(lines_of<TestType>(1, 1).size() > all.size());
    CHECK(lines_of<TestType>(1, 2).size() > lines_of<TestType>(1, 1).size());
    CHECK(lines_of<TestType>(1, 3).size() > lines_of<TestType>(1, 2).size());
}

TEMPLATE_TEST_CASE("The log can be taken away on the way", "[api]", HostDouble) {
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

TEST_CASE("An exception out of the log's function ends the solve with a code", "[api]") {
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
