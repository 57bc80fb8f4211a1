#include "problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cudaopt::drop_in {

Problem::Problem(int n, int m, int backend) : n_(n), m_(m), backend_(backend) {
    check(cuda_opt_create(&handle_.s, n, m, backend));
    for (Array *array : {&x_, &g_}) array->allocate(n);
    f_.allocate(1);
    // These settings give the behaviour of L-BFGS-B 3.0. They select its line search, and switch off the stopping tests
    // of libcuda_opt. The functions in setulb.cpp instead apply the tests of L-BFGS-B 3.0 after the tasks FG_START and
    // NEW_X. The exception is FACTR, which is the smallest positive number. If a line search makes no progress and
    // returns to the initial f, this test ends the solve.
    constexpr double least_factr = std::numeric_limits<double>::min();
    check(cuda_opt_set_int(handle_.s, CUDA_OPT_ROBUST, 0));
    check(cuda_opt_set_int(handle_.s, CUDA_OPT_REPORT_ITERATES, 1));
    check(cuda_opt_set_int(handle_.s, CUDA_OPT_MAX_ITERATIONS, 0));
    using Setting = std::pair<int, double>;
    for (const auto &[key, value] :
         {Setting(CUDA_OPT_EPS, 0), Setting(CUDA_OPT_PGTOL, 0), Setting(CUDA_OPT_FACTR, least_factr),
          Setting(CUDA_OPT_F_UNBOUNDED, -infinity), Setting(CUDA_OPT_FTOL, 1e-3), Setting(CUDA_OPT_GTOL, 0.9),
          Setting(CUDA_OPT_XTOL, 0.1), Setting(CUDA_OPT_STPMIN, 0), Setting(CUDA_OPT_STPMAX, 1e10)})
        check(cuda_opt_set_real(handle_.s, key, value));
}

void Problem::start(const Call &call, const double *x, History history) {
    check(history == History::retained ? cuda_opt_warm_start(handle_.s) : cuda_opt_reset(handle_.s));
    skipped_ = refreshes_ = 0;
    const char *value = std::getenv("CUDA_OPT_SETULB_PAIRS");
    shows_pairs_ = value && std::string(value) == "1";
    set_bounds(call);
    x_.put(x, n_);
    check(solve());
    at_start_ = true;
}

void Problem::set_bounds(const Call &call) {
    if (!call[constrained]) return check(cuda_opt_set_bounds(handle_.s, nullptr, nullptr));
    // If all variables have two bounds (nbd = 2), the first step of L-BFGS-B 3.0 is 1 even if the bounds are infinite.
    // Bounds that are the largest finite number have the same effect here.
    const double most = call[boxed] ? std::numeric_limits<double>::max() : infinity;
    std::vector<double> staged(static_cast<std::size_t>(n_));
    for (int i = 0; i < n_; i++) staged[i] = std::max(call.lower(i), -most);
    lower_.allocate(n_);
    lower_.put(staged.data(), n_);
    for (int i = 0; i < n_; i++) staged[i] = std::min(call.upper(i), most);
    upper_.allocate(n_);
    upper_.put(staged.data(), n_);
    check(cuda_opt_set_bounds(handle_.s, lower_.get(), upper_.get()));
}

int64_t Problem::count(int key) const {
    int64_t value = 0;
    check(cuda_opt_get_int(handle_.s, key, &value));
    return value;
}

double Problem::measure(int key) const {
    double value = 0;
    check(cuda_opt_get_real(handle_.s, key, &value));
    return value;
}

bool Problem::grown(int key, int64_t &seen) {
    const int64_t before = seen;
    seen = count(key);
    return seen > before;
}

} // namespace cudaopt::drop_in
