// Tests of solves through the manual's interface: the log, bitwise equality with cuda_opt_solve, the workspace, and the
// diagonal.
#include "run.hpp"

using namespace cudaopt_test;

namespace {

// Returns whether the log has a line that begins as this line of the manual. In the rows from iterate 32 on, rounding
// errors decide the last digits, and the figures agree if they differ by at most 2e-6 (tests/support/manual_run.py).
bool has_line_of_manual(const std::vector<std::string> &log, const std::string &expected) {
    int iteration = 0, evaluations = 0;
    std::istringstream words(expected);
    if (!(words >> iteration >> evaluations) || iteration < 32) return has_line(log, expected);
    return std::any_of(log.begin(), log.end(), [&](const std::string &line) {
        std::istringstream ours(line), manual(expected);
        int k = 0, count = 0;
        bool same = ours >> k >> count && k == iteration && count == evaluations;
        manual >> k >> count;
        for (double figure, wanted; same && manual >> wanted;)
            same = ours >> figure && std::fabs(figure / wanted - 1) <= 2e-6;
        return same;
    });
}

} // namespace

CONFIGURED_TEST_CASE("A solve prints the manual's log on standard output", "[unlp][large]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    REQUIRE(cuda_opt_unlp_set_iprint(1, 0) == 0);
    Run<TestType> run(extended_rosenbrock(1000000));
    int code = untouched;
    const std::vector<std::string> log = printed([&] { code = run.called_back(7); });
    CHECK(code == 0);
    CHECK(run.istate == 0);
    CHECK(run.evaluations() == 51);
    std::ifstream manual(CUDA_OPT_MANUAL_LOG);
    int lines = 0;
    for (std::string expected; std::getline(manual, expected); lines++) {
        INFO(expected);
        CHECK(has_line_of_manual(log, expected));
    }
    CHECK(lines == 14);
    CHECK(!has_line(log, "  38"));
}

CONFIGURED_TEST_CASE("Both forms give results that are bitwise identical to those of cuda_opt_solve", "[unlp]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    for (const Problem &problem : {extended_rosenbrock(1000), extended_wood(100), extended_powell(40)})
        for (const int m : {1, 5, 17}) {
            INFO(problem.name << ", m = " << m);
            const Outcome plain = ManualHarness<TestType>(problem, m).run();
            Run<TestType> called(problem), reversed(problem);
            CHECK(called.called_back(m) == plain.task);
            CHECK(reversed.reversed(m) == plain.task);
            CHECK(called.istate == plain.task);
            CHECK(reversed.istate == plain.task);
            for (const Run<TestType> *run : {&called, &reversed}) {
                CHECK(run->x() == plain.x);
                CHECK(run->g() == plain.g);
                CHECK(run->f() == plain.f);
                CHECK(run->evaluations() == plain.evaluations);
            }
            CHECK(cuda_opt_unlp_message() == plain.message);
        }
}

CONFIGURED_TEST_CASE("The caller's workspace is accepted and not written", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(100);
    constexpr int m = 7;
    Run<TestType> with(problem), without(problem);
    Array<double> workspace(with.memory(), with.n() * (2 * m + 1) + 2 * m);
    const Vector pattern(static_cast<std::size_t>(with.n() * (2 * m + 1) + 2 * m), 0.125);
    workspace.write(pattern);
    with.workvec = workspace.data();
    CHECK(with.called_back(m) == 0);
    CHECK(without.called_back(m) == 0);
    CHECK(with.x() == without.x());
    CHECK(workspace.read() == pattern);
}

namespace {

void inverse_curvature(const Vector &x, Vector &diagonal) {
    for (std::size_t i = 0; i < x.size(); i++)
        diagonal[i] = 1 / scaled_quadratic_curvature(static_cast<int64_t>(i), static_cast<int64_t>(x.size()), 1e6);
}

Problem badly_scaled() {
    Problem problem = scaled_quadratic(500, 1e6);
    for (std::size_t i = 0; i < problem.start.size(); i++) problem.start[i] = -1 + static_cast<double>(i % 3);
    return problem;
}

} // namespace

CONFIGURED_TEST_CASE("The caller's diagonal is used only if it is enabled", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Run<TestType> without(badly_scaled());
    without.diagonal = inverse_curvature; // the diagonal is filled but not enabled
    without.called_back();

    REQUIRE(cuda_opt_unlp_enable_first_Hessian(1) == 0);
    Run<TestType> called(badly_scaled()), reversed(badly_scaled());
    called.diagonal = reversed.diagonal = inverse_curvature;
    CHECK(called.called_back() == 0);
    CHECK(reversed.reversed() == 0);
    CHECK(5 * called.evaluations() < without.evaluations());
    CHECK(called.x() == reversed.x());
    CHECK(reversed.evaluations() == called.evaluations());
    CHECK(reversed.diagonals() >= 1);
    CHECK(reversed.diagonals() <= reversed.evaluations());

    REQUIRE(cuda_opt_unlp_enable_first_Hessian(0) == 0);
    Run<TestType> again(badly_scaled());
    again.called_back();
    CHECK(again.evaluations() == without.evaluations());
}

CONFIGURED_TEST_CASE("A loop for VA15 that evaluates f and g before each call gives the same solution", "[unlp]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    for (const bool diagco : {false, true}) {
        INFO("diagco: " << diagco);
        REQUIRE(cuda_opt_unlp_enable_first_Hessian(diagco) == 0);
        const Problem problem = diagco ? badly_scaled() : extended_rosenbrock(100);
        Run<TestType> va15(problem), plain(problem);
        if (diagco) va15.diagonal = plain.diagonal = inverse_curvature;
        CHECK(plain.reversed() == 0);
        int calls = 0;
        do va15.evaluate_all();
        while (va15.step(5, nullptr) > 0 && ++calls < 2000);
        CHECK(va15.istate == 0);
        CHECK(va15.x() == plain.x());
    }
}

CONFIGURED_TEST_CASE("A diagonal that is not positive ends the solve with -2", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    REQUIRE(cuda_opt_unlp_enable_first_Hessian(1) == 0);
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        Run<TestType> called(badly_scaled()), reversed(badly_scaled());
        called.diagonal = reversed.diagonal = [&](const Vector &x, Vector &diagonal) {
            inverse_curvature(x, diagonal);
            diagonal[321] = bad;
        };
        CHECK(called.called_back() == -2);
        CHECK(called.istate == -2);
        CHECK(std::string(cuda_opt_unlp_message()).find("321") != std::string::npos);
        CHECK(reversed.reversed() == -2);
        CHECK(reversed.istate == -2);
    }
}

CONFIGURED_TEST_CASE("A gradient of the wrong sign ends the solve with -1 at its start", "[unlp]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Problem problem = extended_rosenbrock(10);
    const Function right = problem.evaluate;
    problem.evaluate = [right](const Vector &x, Vector &g) {
        const double f = right(x, g);
        for (double &component : g) component = -component;
        return f;
    };
    Run<TestType> run(problem);
    CHECK(run.called_back() == -1);
    CHECK(run.istate == -1);
    CHECK(run.x() == problem.start);
}

TEST_CASE("An exception of the caller's function is passed on and the solve can be repeated", "[unlp]") {
    const Defaults defaults;
    Run<HostDouble> run(extended_rosenbrock(100));
    run.at_evaluation = [] { throw std::out_of_range("enough"); };
    CHECK_THROWS_AS(run.called_back(), std::out_of_range);
    run.at_evaluation = [] {};
    CHECK(run.called_back() == 0);
}
