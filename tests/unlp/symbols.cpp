// Tests of two functions of libcuda_opt that the other tests do not call: the info of the last line search, and the
// symbol cuda_opt_unlp_solve, which cuda_opt_unlp.h replaces by cuda_opt_unlp_solve_n_first.
#include <set>

#include "run.hpp"

using namespace cudaopt_test;

TEST_CASE("cuda_opt_unlp_info returns the line search info of cuda_opt.h", "[unlp]") {
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(100);
    std::set<int> infos;
    for (const int maxfev : {1000, 1})
        for (const double stpmax : {1e20, 0.5}) {
            INFO("maxfev = " << maxfev << ", stpmax = " << stpmax);
            REQUIRE(cuda_opt_unlp_set_maxfev(maxfev) == 0);
            REQUIRE(cuda_opt_unlp_set_STPMAX(stpmax) == 0);
            ManualHarness<HostDouble> harness(problem, 5);
            harness.set_int(CUDA_OPT_MAXFEV, maxfev).set_real(CUDA_OPT_STPMAX, stpmax);
            const Outcome expected = harness.run();
            Run<HostDouble> run(problem);
            CHECK(run.called_back() == expected.task);
            CHECK(cuda_opt_unlp_info() == harness.get_int(CUDA_OPT_LINE_SEARCH_INFO));
            infos.insert(cuda_opt_unlp_info());
        }
    CHECK(infos.size() > 1);
}

// This symbol is called by programs that were compiled before the header replaced the name, and by programs that look
// the name up at run time.
#undef cuda_opt_unlp_solve

TEST_CASE("The symbol cuda_opt_unlp_solve calls a function whose first argument is n", "[unlp]") {
    const Defaults defaults;
    const cuda_opt_unlp_function distance = [](int n, double *x, double *f, double *g) {
        *f = 0;
        for (int i = 0; i < n; i++) {
            g[i] = x[i] - i;
            *f += g[i] * g[i] / 2;
        }
    };
    double x[10] = {}, f = -1, g[10];
    int istate = untouched;
    CHECK(cuda_opt_unlp_solve(10, 5, distance, x, &f, g, nullptr, nullptr, 1e-8, &istate) == 0);
    CHECK(istate == 0);
    CHECK((f >= 0 && f < 1e-14));
    for (int i = 0; i < 10; i++) CHECK(x[i] == Approx(i).margin(1e-6));
    CHECK(cuda_opt_unlp_solve(0, 5, distance, x, &f, g, nullptr, nullptr, 1e-8, &istate) == CUDA_OPT_IMPROPER_INPUT);
}
