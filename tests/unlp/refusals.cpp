// Tests of improper arguments. The return value and *dev_istate are -3, nothing is evaluated, and the message names the
// argument.
#include <limits>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

int evaluations = 0;
void count_evaluation(int, double *, double *, double *) { evaluations++; }

bool message_has(const std::string &text) {
    return std::string(cuda_opt_unlp_message()).find(text) != std::string::npos;
}

// Valid arguments, one of which a test then makes invalid.
template <class Configuration> struct Arguments {
    Arguments() : memory(1, 1), x(memory, 4), f(memory, 1), g(memory, 4), hess(memory, 4) {
        x.write({-1.2, 1, -1.2, 1});
        dev_x = x.data();
        dev_objf = f.data();
        dev_grad = g.data();
        dev_hess = hess.data();
        dev_istate = istate.data();
    }
    int solve(cuda_opt_unlp_function eval_fg) const {
        return cuda_opt_unlp_solve(n, m, eval_fg, dev_x, dev_objf, dev_grad, dev_hess, nullptr, eps, dev_istate);
    }

    Handle<Configuration> memory;
    Array<double> x, f, g, hess;
    State<Configuration> istate;

    int n = 4, m = 5;
    double eps = 1e-5;
    double *dev_x, *dev_objf, *dev_grad, *dev_hess;
    int *dev_istate;
};

} // namespace

CONFIGURED_TEST_CASE("Improper arguments are refused with -3, which is logged", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    using Spoilt = Arguments<TestType>;
    const struct {
        const char *named;
        std::function<void(Spoilt &)> spoil;
    } cases[] = {
        {"n is 0", [](Spoilt &a) { a.n = 0; }},
        {"n is -4", [](Spoilt &a) { a.n = -4; }},
        {"m is 0", [](Spoilt &a) { a.m = 0; }},
        {"m is -1", [](Spoilt &a) { a.m = -1; }},
        {"eps", [](Spoilt &a) { a.eps = -1e-5; }},
        {"eps", [](Spoilt &a) { a.eps = std::numeric_limits<double>::quiet_NaN(); }},
        {"eps", [](Spoilt &a) { a.eps = std::numeric_limits<double>::infinity(); }},
        {"dev_x", [](Spoilt &a) { a.dev_x = nullptr; }},
        {"dev_objf", [](Spoilt &a) { a.dev_objf = nullptr; }},
        {"dev_objf", [](Spoilt &a) { a.dev_objf = nullptr, a.dev_hess = nullptr; }},
        {"dev_grad", [](Spoilt &a) { a.dev_grad = nullptr; }},
        {"dev_hess", [](Spoilt &a) { a.dev_hess = nullptr, cuda_opt_unlp_enable_first_Hessian(1); }},
        {"dev_istate", [](Spoilt &a) { a.dev_istate = nullptr; }},
        {"x",
         [](Spoilt &a) {
             a.x.write({1, 2, std::numeric_limits<double>::quiet_NaN(), 4});
         }},
        {"stpmin", [](Spoilt &) { cuda_opt_unlp_set_STPMIN(2), cuda_opt_unlp_set_STPMAX(1); }},
    };
    evaluations = 0;
    for (const cuda_opt_unlp_function function : {cuda_opt_unlp_function(count_evaluation), cuda_opt_unlp_function()})
        for (const auto &[named, spoil] : cases) {
            INFO(named << (function ? ", called back" : ", reversed"));
            Spoilt arguments;
            cuda_opt_unlp_set_iprint(0, 0);
            spoil(arguments);
            const std::vector<std::string> log = printed([&] { CHECK(arguments.solve(function) == -3); });
            CHECK(log == std::vector{" " + std::string(cuda_opt_unlp_message())});
            if (arguments.dev_istate) CHECK(arguments.istate == -3);
            CHECK(message_has(named));
            cuda_opt_unlp_default_settings();
            CHECK(cuda_opt_unlp_release(arguments.dev_istate ? arguments.dev_istate : &evaluations) == -3);
        }
    CHECK(evaluations == 0);
    Spoilt good;
    CHECK(good.solve(nullptr) == 1);
    CHECK(cuda_opt_unlp_release(good.dev_istate) == 0);
}

CONFIGURED_TEST_CASE("A history whose inner products do not fit into memory ends with OUT_OF_MEMORY", "[unlp]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Arguments<TestType> arguments;
    arguments.m = std::numeric_limits<int>::max();
    CHECK(arguments.solve(count_evaluation) == CUDA_OPT_OUT_OF_MEMORY);
    CHECK(arguments.istate == CUDA_OPT_OUT_OF_MEMORY);
}

CONFIGURED_TEST_CASE("A value of dev_istate that the library has not set is refused", "[unlp]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    for (const int state : {1, 2, 3, 4711, -1, -3, std::numeric_limits<int>::min()}) {
        Arguments<TestType> arguments;
        arguments.istate = state;
        INFO("state " << state);
        CHECK(arguments.solve(nullptr) == -3);
        CHECK(arguments.istate == -3);
        CHECK(message_has("dev_istate"));
    }
}

CONFIGURED_TEST_CASE("Arguments that change during a solve end it with an error", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    using Changed = Arguments<TestType>;
    const std::function<void(Changed &)> changes[] = {
        [](Changed &a) { a.n = 3; },
        [](Changed &a) { a.m = 6; },
        [](Changed &a) { a.eps = -1; },
        [](Changed &a) { a.dev_x = a.hess.data(); },
        [](Changed &a) { a.dev_grad = nullptr; },
    };
    for (const auto &change : changes) {
        Changed arguments;
        REQUIRE(arguments.solve(nullptr) == 1);
        change(arguments);
        CHECK(arguments.solve(nullptr) < 0);
        CHECK(arguments.istate < 0);
        CHECK(cuda_opt_unlp_release(arguments.dev_istate) == -3);
    }
}

CONFIGURED_TEST_CASE("Arrays in different memories are refused before they are accessed", "[unlp]", CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    double host[4] = {};
    int host_state = 0;
    for (int k = 0; k < 4; k++) {
        Arguments<TestType> arguments;
        if (k == 0) arguments.dev_x = host;
        if (k == 1) arguments.dev_objf = host;
        if (k == 2) arguments.dev_grad = host;
        if (k == 3) arguments.dev_istate = &host_state;
        for (const cuda_opt_unlp_function function :
             {cuda_opt_unlp_function(count_evaluation), cuda_opt_unlp_function()}) {
            arguments.istate = host_state = 0;
            CHECK(arguments.solve(function) == -3);
            CHECK((k == 3 ? host_state : static_cast<int>(arguments.istate)) == -3);
            CHECK(message_has("memory"));
        }
    }
}

TEST_CASE("Setters refuse values out of range and keep the old value", "[unlp]") {
    const Defaults defaults;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {-1.0, nan, infinite, -infinite}) {
        CHECK(cuda_opt_unlp_set_STPMIN(bad) == -3);
        CHECK(message_has("STPMIN"));
        CHECK(cuda_opt_unlp_set_STPMAX(bad) == -3);
        CHECK(message_has("STPMAX"));
        CHECK(cuda_opt_unlp_set_XTOL(bad) == -3);
        CHECK(message_has("XTOL"));
        if (bad != -1) CHECK(cuda_opt_unlp_change_eps(bad) == -3);
    }
    CHECK(cuda_opt_unlp_set_STPMAX(0) == -3);
    CHECK(cuda_opt_unlp_set_maxfev(0) == -3);
    CHECK(message_has("maxfev"));
    CHECK(cuda_opt_unlp_set_icall(-1) == -3);
    CHECK(message_has("icall"));
    CHECK(cuda_opt_unlp_set_iprint(1, -1) == -3);
    CHECK(cuda_opt_unlp_set_iprint(1, 4) == -3);
    Run<HostDouble> run(extended_rosenbrock(100));
    const Outcome plain = ManualHarness<HostDouble>(extended_rosenbrock(100), 5).run();
    CHECK(printed([&] { run.called_back(); }).empty());
    CHECK(run.x() == plain.x);
}
