// These tests use operators whose results are wrong or extreme, and solves that are ended or restarted while an
// operator is applied.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "../support/harness.hpp"
#include "../support/same_bits.hpp"

using namespace cudaopt_test;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

// Sets out to H0 v at the k-th application, counted from 0.
using Spoil = std::function<void(int k, const Vector &v, const Vector &is_free, Vector &out)>;

struct Hostile {
    const char *name;
    bool may_end; // whether the solve may end with CUDA_OPT_BAD_OPERATOR; otherwise it has to converge
    Spoil apply;
};

// An operator that multiplies each element by factor(k, i).
template <class Factor> Spoil diagonal(Factor factor) {
    return [=](int k, const Vector &v, const Vector &, Vector &out) {
        for (std::size_t i = 0; i < v.size(); i++) out[i] = factor(k, i) * v[i];
    };
}
// Returns the identity, with a result that is changed by change(out) from the k-th application on.
template <class Change> Spoil identity_until(int first, Change change) {
    return [=](int k, const Vector &v, const Vector &, Vector &out) {
        out = v;
        if (k >= first) change(out);
    };
}
void set_middle(Vector &out, double value) { out[out.size() / 2] = value; }

std::vector<Hostile> hostile_operators() {
    std::vector<Hostile> all;
    for (const double value : {nan, infinity, -infinity}) {
        all.push_back({"all elements are not finite", true, diagonal([=](int, std::size_t) { return value; })});
        all.push_back(
            {"one element is not finite", true, identity_until(0, [=](Vector &out) { set_middle(out, value); })});
        all.push_back(
            {"one element is not finite later", true, identity_until(7, [=](Vector &out) { set_middle(out, value); })});
    }
    for (const double value : {1e300, -1e300, 1e154, 1e-300, 5e-324, 0.0})
        all.push_back(
            {"one element is extreme", true, identity_until(2, [=](Vector &out) { set_middle(out, value); })});
    for (const double factor : {1e300, 1e160, 1e30, 1e-30, 1e-160, 1e-300, 1e-310})
        all.push_back({"the factor is extreme", true, diagonal([=](int, std::size_t) { return factor; })});
    all.push_back(
        {"the factor changes by 1e40", false, diagonal([](int k, std::size_t) { return k % 2 ? 1e-20 : 1e20; })});
    all.push_back({"a factor grows", true, diagonal([](int k, std::size_t) { return std::pow(1e10, k); })});
    all.push_back({"the elements differ in size", false,
                   diagonal([](int, std::size_t i) { return std::pow(10.0, static_cast<double>(i % 3) - 1); })});
    all.push_back({"half of the elements have the wrong sign", true,
                   diagonal([](int, std::size_t i) { return i % 2 ? 1.0 : -1.0; })});
    all.push_back({"the sign is wrong later", true, diagonal([](int k, std::size_t) { return k < 9 ? 1.0 : -1.0; })});
    all.push_back({"0", true, diagonal([](int, std::size_t) { return 0.0; })});
    all.push_back({"0 later", true, diagonal([](int k, std::size_t) { return k < 9 ? 1.0 : 0.0; })});
    all.push_back({"not symmetric", false, [](int, const Vector &v, const Vector &, Vector &out) {
                       double sum = 0; // lower triangular, and positive definite
                       for (std::size_t i = 0; i < v.size(); i++) out[i] = v[i] + 0.05 * sum, sum += v[i];
                   }});
    all.push_back({"a rotation", false, [](int, const Vector &v, const Vector &, Vector &out) {
                       for (std::size_t i = 0; i + 1 < v.size(); i += 2) {
                           out[i] = v[i] + 1e3 * v[i + 1];
                           out[i + 1] = v[i + 1] - 1e3 * v[i];
                       }
                   }});
    all.push_back({"the mask is ignored", false, [](int, const Vector &v, const Vector &is_free, Vector &out) {
                       double sum = 0; // I + e e' on all variables, and anything on those that are not free
                       for (const double element : v) sum += element;
                       for (std::size_t i = 0; i < v.size(); i++) out[i] = is_free[i] != 0 ? v[i] + sum : -1e300;
                   }});
    all.push_back({"random, new at each application", false, diagonal([](int k, std::size_t i) {
                       return 1 + 0.99 * std::sin(static_cast<double>(k) * 7.1 + static_cast<double>(i) * 3.3);
                   })});
    return all;
}

// A solve with an operator, driven call by call.
template <class Configuration> class Driven {
  public:
    explicit Driven(const Problem &problem) : harness(problem, 5) {
        harness.with_operator([this](const Vector &v, const Vector &, Vector &out) {
            if (during) during();
            out = v;
        });
    }
    // Runs until the operator has been requested `count` times, and returns before the last application.
    void run_to_application(int count) {
        int task = harness.call();
        for (; task > 0; task = harness.call()) {
            if (task == CUDA_OPT_APPLY_OPERATOR) {
                CHECK(std::string(cuda_opt_message(harness.handle())).find("apply the operator H0") == 0);
                if (--count == 0) return;
            }
            harness.work();
        }
        FAIL("the solve has ended with " << task);
    }
    Harness<Configuration> harness;
    std::function<void()> during;
};

} // namespace

CONFIGURED_TEST_CASE("With wrong results of an operator a solve ends with a message or converges", "[operator]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    for (const Problem &problem : {torsion(8, 8), in_box(extended_rosenbrock(30), -2, 0.8), extended_wood(40)}) {
        for (const Hostile &hostile : hostile_operators()) {
            INFO(problem.name << ", " << hostile.name);
            Harness<TestType> harness(problem, 5);
            int k = 0;
            harness.with_operator(
                [&](const Vector &v, const Vector &is_free, Vector &out) { hostile.apply(k++, v, is_free, out); });
            REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
            const double f_start = harness.outcome().f;
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.f <= f_start);
            if (outcome.task != CUDA_OPT_BAD_OPERATOR) CHECK(outcome.task == CUDA_OPT_CONVERGED);
            else CHECK((hostile.may_end || sizeof(Real) == 4));
            CHECK(harness.get_int(CUDA_OPT_OPERATOR_APPLICATIONS) == k);
        }
    }
}

// f decreases slowly along the directions of such an operator, although x is far from the minimum. A restart with the
// operator would confirm that f hardly decreases.
CONFIGURED_TEST_CASE("FACTR does not end a solve because its operator is badly conditioned", "[operator]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {scaled_quadratic(4, 1), extended_rosenbrock(6), torsion(8, 8)})
        for (const double decades : {8.0, 12.0, 16.0}) {
            INFO(problem.name << ", a condition of 10^" << decades);
            Harness<TestType> harness(problem, 5);
            harness.set_real(CUDA_OPT_FACTR, 1e7);
            harness.set_real(CUDA_OPT_PGTOL, 1e-5);
            harness.set_real(CUDA_OPT_RELATIVE_GTOL, 5e-4);
            harness.with_operator([&](const Vector &v, const Vector &, Vector &out) {
                for (std::size_t i = 0; i < v.size(); i++)
                    out[i] =
                        v[i] * std::pow(10.0, -decades * static_cast<double>(i) / static_cast<double>(v.size() - 1));
            });
            const Outcome outcome = harness.run();
            // Many iterations may be needed, so that a solve may end at their limit.
            if (outcome.task != CUDA_OPT_ITERATION_LIMIT) {
                CHECK(outcome.task == CUDA_OPT_CONVERGED);
                CHECK(harness.get_real(CUDA_OPT_PG_NORM_INF) <= 1e-2);
            }
        }
}

CONFIGURED_TEST_CASE("A stop or a limit can end a solve while the operator is applied", "[operator]", HostDouble,
                     HostFloat, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(12, 12);
    for (const int count : {1, 2, 6}) {
        INFO("application " << count);
        {
            Driven<TestType> driven(problem);
            driven.run_to_application(count);
            REQUIRE(cuda_opt_request_stop(driven.harness.handle()) == 0);
            driven.harness.work();
            const Outcome outcome = driven.harness.run();
            CHECK(outcome.task == CUDA_OPT_STOPPED);
            check_promises<TestType>(problem, outcome);
        }
        {
            Driven<TestType> driven(problem);
            driven.run_to_application(count);
            driven.harness.set_real(CUDA_OPT_MAX_SECONDS, 1e-3);
            driven.during = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
            driven.harness.work();
            const Outcome outcome = driven.harness.run();
            CHECK(outcome.task == CUDA_OPT_TIME_LIMIT);
            check_promises<TestType>(problem, outcome);
        }
        for (const int32_t limit : {CUDA_OPT_MAX_ITERATIONS, CUDA_OPT_MAX_EVALUATIONS}) {
            Driven<TestType> driven(problem);
            driven.run_to_application(count);
            driven.harness.set_int(limit, 1);
            driven.harness.work();
            const Outcome outcome = driven.harness.run();
            CHECK(outcome.task ==
                  (limit == CUDA_OPT_MAX_ITERATIONS ? CUDA_OPT_ITERATION_LIMIT : CUDA_OPT_EVALUATION_LIMIT));
            CHECK(outcome.evaluations <= (count == 1 ? 3 : outcome.iterations + 3));
            check_promises<TestType>(problem, outcome);
        }
    }
}

CONFIGURED_TEST_CASE("A reset or warm start is possible while the operator is applied", "[operator]", HostDouble,
                     HostFloat, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(12, 12);
    Driven<TestType> fresh(problem);
    const Outcome expected = fresh.harness.run();
    CHECK(expected.task == CUDA_OPT_CONVERGED);
    for (const int count : {1, 2, 7}) {
        Driven<TestType> driven(problem);
        driven.run_to_application(count);
        driven.harness.restart();
        CHECK(driven.harness.get_int(CUDA_OPT_OPERATOR_APPLICATIONS) == 0);
        check_same_bits(driven.harness.run(), expected);

        Driven<TestType> warm(problem);
        warm.run_to_application(count);
        warm.harness.warm_start();
        const Outcome outcome = warm.harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        check_promises<TestType>(problem, outcome);
    }
}
