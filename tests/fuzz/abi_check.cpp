// Checks of the gradients of all kinds of functions, including inconsistent ones. Each check ends, reports its result,
// and leaves x unchanged. Each point is finite and in the box.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "abi.hpp"
#include "abi_bounds.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

int check(cuda_opt *s, double *x, double *f, double *g, int64_t seed, int32_t component) {
    return cuda_opt_check_gradient(s, x, f, g, seed, component);
}
int check(cuda_opt *s, float *x, double *f, float *g, int64_t seed, int32_t component) {
    return cuda_opt_check_gradient_f32(s, x, f, g, seed, component);
}

template <class Real> void check_episode_of(Run &run) {
    Random &random = run.random;
    const int64_t n = random.from_to(1, 40), seed = random.hostile_integer();
    Function function(random, n);
    Bounds<Real> box(run, n);
    cuda_opt *s = nullptr;
    check_code(run, nullptr, "create", cudaopt_test::Abi<Real>::create(&s, n, 3, CUDA_OPT_BACKEND_HOST), {0});
    box.set(s);
    const auto start = function.start(random);
    std::vector<Real> x, g(static_cast<std::size_t>(n), Real(7));
    for (const double value : start) x.push_back(static_cast<Real>(value));
    const auto before = x;
    const auto worst = static_cast<int32_t>(random.below(2));
    double f = 7;
    int task = 1;
    int calls = 0;
    for (; task > 0 && calls < 1000; calls++) {
        task = run.call("cuda_opt_check_gradient", [&] { return check(s, x.data(), &f, g.data(), seed, worst); });
        check_code(run, s, "check_gradient", task,
                   {CUDA_OPT_EVALUATE_FG, 0, CUDA_OPT_NOT_FINITE, CUDA_OPT_IMPROPER_INPUT}, true);
        if (task <= 0) break;
        for (std::size_t i = 0; i < x.size(); i++)
            if (!std::isfinite(x[i]) || !(x[i] >= box.lower(i)) || !(x[i] <= box.upper(i)))
                run.fault("x_outside", "x[%zu] = %.17g, bounds %.17g, %.17g", i, static_cast<double>(x[i]),
                          box.lower(i), box.upper(i));
        f = function.evaluate(x.data(), g.data());
        if (random.chance(0.002)) {
            check_code(run, s, "reset", cuda_opt_reset(s), {0});
            break;
        }
    }
    run.require(calls < 1000, "endless_check", "the check does not terminate");
    int32_t verdict = -1;
    int64_t component = -2;
    double numbers[3];
    const int code = cuda_opt_check_result(s, &verdict, &component, numbers, numbers + 1, numbers + 2);
    run.trace("%d after %d calls: %s", task, calls, cuda_opt_message(s));
    if (task == 0) {
        run.require(code == 0 && verdict >= 0 && verdict <= CUDA_OPT_GRADIENT_UNDECIDED && component >= -1 &&
                        component < n,
                    "check_result", "the result is not a documented one");
        run.require(std::memcmp(x.data(), before.data(), x.size() * sizeof(Real)) == 0, "x_changed",
                    "the check has changed x");
    } else if (task < 0) {
        run.require(code == CUDA_OPT_MISUSE, "check_result", "a check that could not be made has a result");
    }
    cuda_opt_destroy(&s);
}

} // namespace

void check_episode(Run &run) {
    if (run.random.chance(0.65)) check_episode_of<double>(run);
    else check_episode_of<float>(run);
}

} // namespace fuzz
