// Tests of the solve in the manual's own form: its defaults, its log with counts, results that are bitwise identical to
// those of the other form, and the other functions that the manual's programs call.
#include <limits>
#include <stdexcept>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

int lines_that_begin(const std::vector<std::string> &log, const std::string &beginning) {
    return static_cast<int>(std::count_if(log.begin(), log.end(), [&](const std::string &line) {
        return line.compare(0, beginning.size(), beginning) == 0;
    }));
}

} // namespace

CONFIGURED_TEST_CASE("The manual's form has its own defaults and log and gives bitwise identical results", "[unlp]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(1000);
    Run<TestType> plain(problem), called(problem), reversed(problem);
    REQUIRE(cuda_opt_unlp_set_XTOL(std::numeric_limits<double>::epsilon()) == 0);
    CHECK(printed([&] { CHECK(plain.called_back() == 0); }).empty());
    cuda_opt_unlp_default_settings();
    for (Run<TestType> *run : {&called, &reversed}) {
        run->manual = true;
        const std::vector<std::string> log =
            printed([&] { CHECK((run == &called ? run->called_back() : run->reversed()) == 0); });
        CHECK(run->x() == plain.x());
        CHECK(run->g() == plain.g());
        CHECK(run->evaluations() == plain.evaluations());
        CHECK(has_line(log, "Xtol: 2.220446e-16"));
        CHECK(has_line(log, "Number of variables n = 1000;"));
        CHECK(has_line(log, "Number of corrections m = 5;"));
        CHECK(lines_that_begin(log, "*") == 1);
        const std::string count = std::to_string(run->evaluations());
        CHECK(has_line(log, "Number of function and gradient evaluations for L-BFGS: " + count));
        CHECK(has_line(log, "Number of l-bfgs calls: " + count));
        CHECK(log.back().compare(0, 33, "Total time for the minimization: ") == 0);
    }
}

TEST_CASE("The manual's form uses the settings of the thread and not the other form's defaults", "[unlp]") {
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(100);
    REQUIRE(cuda_opt_unlp_set_XTOL(1e-16) == 0);
    REQUIRE(cuda_opt_unlp_set_iprint(0, 0) == 0);
    Run<HostDouble> first_and_last(problem), silent(problem), other(problem), refused(problem);
    first_and_last.manual = silent.manual = refused.manual = true;
    const std::vector<std::string> log = printed([&] { CHECK(first_and_last.called_back() == 0); });
    CHECK(has_line(log, "Xtol: 1.000000e-16"));
    CHECK(has_line(log, "   1 "));
    CHECK(!has_line(log, "   2 "));
    REQUIRE(cuda_opt_unlp_set_iprint(-1, 0) == 0);
    CHECK(printed([&] { CHECK(silent.called_back() == 0); }).empty());
    cuda_opt_unlp_default_settings();
    CHECK(printed([&] { CHECK(other.called_back() == 0); }).empty());
    CHECK(cuda_opt_unlp_set_iprint(1, 4) == -3); // a refused value has no effect
    CHECK(cuda_opt_unlp_set_XTOL(-1) == -3);
    CHECK(has_line(printed([&] { refused.called_back(); }), "Xtol: 2.220446e-16"));
}

TEST_CASE("The manual's form logs the message and the counts of a solve that fails", "[unlp]") {
    const Defaults defaults;
    Run<HostDouble> refused(extended_rosenbrock(100));
    refused.manual = true;
    CHECK(has_line(printed([&] { CHECK(refused.called_back(0) == -3); }), " m is 0, but has to be at least 1"));
    refused.manual = false; // this form has no log by default
    CHECK(printed([&] { CHECK(refused.called_back(0) == -3); }).empty());
    REQUIRE(cuda_opt_unlp_set_icall(3) == 0);
    Run<HostDouble> run(extended_rosenbrock(100));
    run.manual = true;
    const std::vector<std::string> log = printed([&] { CHECK(run.called_back() == CUDA_OPT_ITERATION_LIMIT); });
    CHECK(!has_line(log, "The minimization terminated"));
    CHECK(has_line(log, std::string(" ") + cuda_opt_unlp_message()));
    CHECK(has_line(log, "Number of calls to mcsrch: " + std::to_string(run.evaluations() - 1 + 3)));
}

TEST_CASE("The manual's form refuses improper arguments and passes exceptions on", "[unlp]") {
    const Defaults defaults;
    double x = 0, f = 0, g = 0;
    int istate = 0;
    const auto none = [](double *, double *, double *, int) {};
    CHECK(cuda_opt_unlp_manual_solve(0, 5, none, &x, &f, &g, nullptr, nullptr, 1e-5, &istate) == -3);
    CHECK(istate == -3);
    CHECK(cuda_opt_unlp_manual_solve(1, 0, none, &x, &f, &g, nullptr, nullptr, 1e-5, &istate) == -3);
    CHECK(cuda_opt_unlp_manual_solve(1, 5, none, nullptr, &f, &g, nullptr, nullptr, 1e-5, &istate) == -3);
    CHECK(cuda_opt_unlp_manual_solve(1, 5, none, &x, &f, &g, nullptr, nullptr, -1, &istate) == -3);
    CHECK(cuda_opt_unlp_manual_solve(1, 5, none, &x, &f, &g, nullptr, nullptr, 1e-5, nullptr) == -3);
    Run<HostDouble> run(extended_rosenbrock(10));
    run.manual = true;
    run.at_evaluation = [] { throw std::out_of_range("enough"); };
    printed([&] { CHECK_THROWS_AS(run.called_back(), std::out_of_range); });
}

TEST_CASE("getNumBlocksAndThreads covers n with the fewest blocks and checks its arguments", "[unlp]") {
    for (const int n : {1, 2, 3, 255, 256, 257, 500000, std::numeric_limits<int>::max()}) {
        INFO(n);
        int blocks = 0, threads = 0;
        REQUIRE(cuda_opt_unlp_getNumBlocksAndThreads(n, &blocks, &threads) == 0);
        CHECK(static_cast<int64_t>(blocks) * threads >= n);
        CHECK(static_cast<int64_t>(blocks - 1) * threads < n);
        CHECK(threads <= 256);
        CHECK((threads & (threads - 1)) == 0);
    }
    int value = untouched;
    CHECK(cuda_opt_unlp_getNumBlocksAndThreads(0, &value, &value) == -3);
    CHECK(cuda_opt_unlp_getNumBlocksAndThreads(1, nullptr, &value) == -3);
    CHECK(cuda_opt_unlp_getNumBlocksAndThreads(1, &value, nullptr) == -3);
    CHECK(value == untouched);
}

TEST_CASE("get_best_device_id returns a device that can be set or reports that there is none", "[unlp]") {
    const int id = cuda_opt_unlp_get_best_device_id();
    int code = untouched;
    const std::vector<std::string> lines = printed([&] { code = cuda_opt_unlp_gpu_mem_info(); });
    if (id < 0) {
        CHECK(id == CUDA_OPT_BACKEND_UNAVAILABLE);
        CHECK(code == CUDA_OPT_BACKEND_UNAVAILABLE);
        CHECK(lines.empty());
    } else {
        CHECK(cuda_opt_unlp_set_device_ID(id) == 0);
        CHECK(code == 0);
        CHECK(has_line(lines, "GPU memory: "));
    }
}
