// A solve that is saved and loaded continues as if it had not been interrupted. Data that are not such a checkpoint are
// refused with a message.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "../support/harness.hpp"
#include "checkpoint_cases.hpp"

using namespace cudaopt_test;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class Configuration> Harness<Configuration> begun(const Case<Configuration> &one) {
    Harness<Configuration> harness(one.problem, one.m);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 25);
    one.set(harness);
    return harness;
}

// Returns all results of the handle except for the time.
template <class Configuration> Vector results(const Harness<Configuration> &harness) {
    Vector all;
    for (int32_t key = CUDA_OPT_ITERATIONS; key <= CUDA_OPT_SUBSPACE_PROJECTED; key++)
        all.push_back(static_cast<double>(harness.get_int(key)));
    for (int32_t key = CUDA_OPT_F; key <= CUDA_OPT_SLOPE; key++)
        if (key != CUDA_OPT_SOLVER_SECONDS) all.push_back(harness.get_real(key));
    return all;
}

bool same_bits(const Vector &a, const Vector &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Compares `later`, the part of a solve after a load, with the whole solve. The checkpoint was saved after `saved`
// iterates.
void check_goes_on(const Outcome &later, const Outcome &whole, std::size_t saved) {
    CHECK(later.task == whole.task);
    CHECK(later.message == whole.message);
    CHECK(same_bits({later.f}, {whole.f}));
    CHECK(same_bits(later.x, whole.x));
    CHECK(same_bits(later.g, whole.g));
    CHECK(later.iterations == whole.iterations);
    CHECK(later.evaluations == whole.evaluations);
    CHECK(later.outside == 0);
    REQUIRE(later.history.size() <= whole.history.size());
    const std::size_t skipped = whole.history.size() - later.history.size();
    CHECK(skipped <= saved);
    for (std::size_t k = 0; k < later.history.size(); k++) {
        const Iterate &a = later.history[k], &b = whole.history[k + skipped];
        INFO("iteration " << b.iteration);
        CHECK(a.iteration == b.iteration);
        CHECK(a.evaluations == b.evaluations);
        CHECK(same_bits({a.f, a.pg_norm2, a.pg_norm_inf, a.step}, {b.f, b.pg_norm2, b.pg_norm_inf, b.step}));
    }
}

// Returns the code and the message of the error that action() throws.
template <class Action> std::pair<int, std::string> failure(const Action &action) {
    try {
        action();
    } catch (const cudaopt::Error &error) {
        return {error.code(), error.what()};
    }
    return {0, ""};
}

// Checks that a load fails with this code and that its message contains these words.
template <class Configuration>
void check_refused(Harness<Configuration> &harness, const Checkpoint &checkpoint, int code, const char *words) {
    const auto [given, sentence] = failure([&] { harness.load(checkpoint); });
    CHECK(given == code);
    CHECK_THAT(sentence, Catch::Contains(words));
}

// Returns a checkpoint of a small solve after eight calls.
template <class Configuration> Checkpoint small_checkpoint(const Problem &problem, int m) {
    Harness<Configuration> harness(problem, m);
    for (int call = 0; call < 8; call++) harness.step();
    return harness.save();
}

// Compares the 20 iterations after a load on another backend with those on the backend that saved the checkpoint.
template <class From, class To> void check_follows(const Problem &problem) {
    Harness<From> from(problem, 5);
    from.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 28);
    while (from.step() != CUDA_OPT_NEW_ITERATE || from.get_int(CUDA_OPT_ITERATIONS) < 8) {
    }
    Harness<To> to(problem, 5);
    to.load(from.save());
    Harness<From> other(moved(problem), 5);
    other.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 28);
    const Outcome here = from.run(), there = to.run();
    const std::size_t certain = certain_iterates(here, other.run());
    CHECK(certain > 9);
    for (const Iterate &iterate : there.history) {
        INFO(problem.name << ", iteration " << iterate.iteration << ", certain until " << certain);
        const auto k = static_cast<std::size_t>(iterate.iteration) - 1;
        if (k < certain) CHECK(iterate.f == Approx(here.history[k].f).epsilon(1e-9));
    }
}

} // namespace

CONFIGURED_TEST_CASE("A solve that is saved and loaded at any call continues with bitwise identical results",
                     "[checkpoint]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Case<TestType> &one : cases<TestType>()) {
        INFO(one.what);
        Harness<TestType> undisturbed = begun(one);
        const Outcome whole = undisturbed.run();
        CHECK(one.shows(undisturbed, whole));

        Harness<TestType> saving = begun(one);
        for (int task = 1, call = 1; task > 0; call++) {
            task = saving.call();
            // The diagonal is in the caller's array. A call may still read it until a new diagonal is requested.
            for (const bool done : {false, true}) {
                if (done) saving.work();
                INFO("call " << call << ", task " << task << (done ? " done" : " requested"));
                const Checkpoint checkpoint = saving.save();
                Harness<TestType> fresh = begun(one);
                fresh.share_diagonal(saving);
                // The load restores the saved settings.
                fresh.set_int(CUDA_OPT_MAX_ITERATIONS, 1).set_real(CUDA_OPT_EPS, 1);
                fresh.load(checkpoint);
                CHECK(same_bits(results(fresh), results(saving)));
                CHECK(fresh.call() == task);
                CHECK(fresh.outcome().message == saving.outcome().message);
                fresh.work();
                if (task > 0) fresh.run();
                check_goes_on(fresh.outcome(), whole, saving.outcome().history.size());
                CHECK(same_bits(results(fresh), results(undisturbed)));
            }
        }
        check_goes_on(saving.outcome(), whole, 0); // saving does not change the solve
        // The code of a further call is not the code with which the solve ended.
        CHECK(saving.call() == CUDA_OPT_MISUSE);
        const auto [code, sentence] = failure([&] {
            Harness<TestType> ended = begun(one);
            ended.load(saving.save());
            CHECK(ended.call() == whole.task);
            cudaopt::check(ended.handle(), ended.call());
        });
        CHECK(code == CUDA_OPT_MISUSE);
        CHECK_THAT(sentence, Catch::Contains("after the solve had ended"));
    }
}

CONFIGURED_TEST_CASE("A load restores the history precision of the checkpoint", "[checkpoint]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const int other = GENERATE(64, 32, 16);
    if (other > 8 * static_cast<int>(sizeof(typename TestType::Real))) return;
    INFO("set to " << other << " bits before the load");
    const Case<TestType> one = cases<TestType>().front();
    Harness<TestType> saved = begun(one);
    for (int call = 0; call < 20; call++) REQUIRE(saved.step() > 0);
    const Checkpoint checkpoint = saved.save();
    REQUIRE(saved.get_int(CUDA_OPT_PAIRS) > 0);
    const Outcome whole = saved.run();
    Harness<TestType> harness = begun(one);
    harness.set_int(CUDA_OPT_HISTORY_BITS, other);
    SECTION("in a new handle") { harness.set_int(CUDA_OPT_TIMED, 0); }
    SECTION("after a solve with another history precision") {
        harness.run();
        harness.restart();
    }
    SECTION("after a damaged checkpoint was refused") {
        Checkpoint damaged = checkpoint;
        damaged[checkpoint.size() / 2] ^= 1;
        check_refused(harness, damaged, CUDA_OPT_IMPROPER_INPUT, "damaged");
        CHECK(harness.get_int(CUDA_OPT_HISTORY_BITS) == other);
    }
    const int64_t timed = harness.get_int(CUDA_OPT_TIMED); // belongs to the handle, not to the checkpoint
    harness.load(checkpoint);
    CHECK(harness.get_int(CUDA_OPT_TIMED) == timed);
    CHECK(harness.get_int(CUDA_OPT_HISTORY_BITS) == TestType::history_bits);
    CHECK(harness.save().size() == checkpoint.size());
    check_goes_on(harness.run(), whole, whole.history.size());
    CHECK(same_bits(results(harness), results(saved)));
}

// A load compares the bounds last, when the workspace already has the layout of the checkpoint.
CONFIGURED_TEST_CASE("A refused load does not change the history precision", "[checkpoint]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const int other = TestType::history_bits == 16 ? 32 : 16;
    const Problem problem = in_box(extended_rosenbrock(4), -2, 2);
    const Checkpoint checkpoint = small_checkpoint<TestType>(in_box(problem, -2, 1.5), 2);
    const Problem elsewhere = in_box(problem, 1.75, 2);
    Harness<TestType> harness(elsewhere, 2), undisturbed(elsewhere, 2);
    harness.set_int(CUDA_OPT_HISTORY_BITS, other);
    undisturbed.set_int(CUDA_OPT_HISTORY_BITS, other);
    check_refused(harness, checkpoint, CUDA_OPT_IMPROPER_INPUT, "the bounds are not those");
    CHECK(harness.get_int(CUDA_OPT_HISTORY_BITS) == other);
    harness.restart();
    check_goes_on(harness.run(), undisturbed.run(), 0);
    CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) == undisturbed.get_int(CUDA_OPT_WORKSPACE_BYTES));
}

TEST_CASE("A checkpoint can be continued on the other backend", "[checkpoint]") {
    if (skipped<CudaDouble>()) return;
    Problem inner_torsion = torsion(20, 20); // the standard start has many equal breakpoints
    for (double &x : inner_torsion.start) x *= 0.5;
    for (const Problem &problem : {inner_torsion, quadratic_with_known_active_set(300).problem}) {
        check_follows<HostDouble, CudaDouble>(problem);
        check_follows<CudaDouble, HostDouble>(problem);
    }
}

CONFIGURED_TEST_CASE("A checkpoint of other dimensions or with damaged bytes is refused", "[checkpoint]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = in_box(extended_rosenbrock(4), -2, 2);
    const Checkpoint good = small_checkpoint<TestType>(problem, 2);
    Harness<TestType> harness(problem, 2);
    const Vector start = harness.outcome().x;

    check_refused(harness, small_checkpoint<TestType>(in_box(extended_rosenbrock(6), -2, 2), 2),
                  CUDA_OPT_IMPROPER_INPUT, "of n = 6, m = 2");
    check_refused(harness, small_checkpoint<TestType>(problem, 3), CUDA_OPT_IMPROPER_INPUT, "of n = 4, m = 3");
    using Other = std::conditional_t<sizeof(typename TestType::Real) == 8, HostFloat, HostDouble>;
    check_refused(harness, small_checkpoint<Other>(problem, 2), CUDA_OPT_IMPROPER_INPUT,
                  sizeof(typename TestType::Real) == 8 ? "32 bits, but" : "64 bits, but");
    for (std::size_t bytes = 0; bytes < good.size(); bytes++) {
        INFO(bytes << " of " << good.size() << " bytes");
        const Checkpoint torn(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes));
        const auto [code, sentence] = failure([&] { harness.load(torn); });
        CHECK(code == CUDA_OPT_IMPROPER_INPUT);
        CHECK_THAT(sentence, Catch::Contains("is incomplete") || Catch::Contains("not a checkpoint"));
    }
    Checkpoint longer = good;
    longer.push_back(0);
    check_refused(harness, longer, CUDA_OPT_IMPROPER_INPUT, "is too long");
    for (std::size_t at = 0; at < good.size(); at++)
        for (const int mask : {1, 0x80, 0xff}) {
            INFO("byte " << at << " of " << good.size() << " xor " << mask);
            Checkpoint flipped = good;
            flipped[at] = static_cast<unsigned char>(flipped[at] ^ mask);
            CHECK(failure([&] { harness.load(flipped); }).first == CUDA_OPT_IMPROPER_INPUT);
        }
    // These faults flip the signs of two numbers. A sum of 64-bit words would not detect them, because their highest
    // bits cancel.
    for (const std::size_t distance : {8, 16, 32, 64})
        for (std::size_t at = 7; at + distance < good.size(); at += 8) {
            INFO("bytes " << at << " and " << at + distance << " xor 0x80");
            Checkpoint flipped = good;
            for (const std::size_t byte : {at, at + distance})
                flipped[byte] = static_cast<unsigned char>(flipped[byte] ^ 0x80);
            CHECK(failure([&] { harness.load(flipped); }).first == CUDA_OPT_IMPROPER_INPUT);
        }
    CHECK(harness.outcome().x == start); // no refused load has changed x

    SECTION("the handle can still solve") {
        const Outcome outcome = harness.run();
        check_goes_on(outcome, solve<TestType>(problem, 2), 0);
    }
    SECTION("the handle can still load the undamaged checkpoint") {
        harness.load(good);
        CHECK(harness.run().f == solve<TestType>(problem, 2).f);
    }
    SECTION("a load after the first call is refused") {
        harness.step();
        check_refused(harness, good, CUDA_OPT_MISUSE, "before the first call");
    }
}

CONFIGURED_TEST_CASE("A checkpoint of a solve with other bounds is refused", "[checkpoint]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem free = extended_rosenbrock(4);
    const Problem boxed = in_box(free, -2, 2);
    const auto refuses = [](const Problem &now, const Problem &then) {
        Harness<TestType> harness(now, 2);
        check_refused(harness, small_checkpoint<TestType>(then, 2), CUDA_OPT_IMPROPER_INPUT,
                      "the bounds are not those");
    };
    refuses(in_box(free, 1.5, 2), boxed);
    refuses(free, boxed);
    refuses(boxed, free);
    refuses(in_box(free, -2, std::numeric_limits<double>::infinity()), boxed);
    refuses(in_box(free, nan_value, 2), boxed);
    // Other bounds that are two for each variable and contain x are not noticed. A load replaces an operator.
    Harness<TestType> wider(in_box(free, -3, 3), 2);
    wider.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR);
    wider.load(small_checkpoint<TestType>(boxed, 2));
    CHECK(wider.get_int(CUDA_OPT_INITIAL_HESSIAN) == CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    CHECK(wider.run().task == CUDA_OPT_CONVERGED);
}

CONFIGURED_TEST_CASE("Save and load refuse invalid arguments and calls without a solve", "[checkpoint]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = extended_rosenbrock(4);
    Harness<TestType> harness(problem, 2);
    cuda_opt *const s = harness.handle();
    int64_t bytes = 0;
    const auto refuses = [&](int given, int code, const char *words) {
        CHECK(given == code);
        CHECK_THAT(cuda_opt_message(s), Catch::Contains(words));
    };
    refuses(cuda_opt_save(s, nullptr, &bytes), CUDA_OPT_MISUSE, "no solve to save");
    harness.run();
    refuses(cuda_opt_save(s, nullptr, nullptr), CUDA_OPT_MISUSE, "bytes is NULL");
    REQUIRE(cuda_opt_save(s, nullptr, &bytes) == 0);
    Checkpoint buffer(static_cast<std::size_t>(bytes), 7);
    int64_t small = bytes - 1;
    refuses(cuda_opt_save(s, buffer.data(), &small), CUDA_OPT_IMPROPER_INPUT, "the buffer has");
    CHECK(small == bytes);
    CHECK(buffer == Checkpoint(buffer.size(), 7));
    small = -1;
    refuses(cuda_opt_save(s, buffer.data(), &small), CUDA_OPT_IMPROPER_INPUT, "the buffer has -1");
    int64_t large = bytes + 1;
    buffer.push_back(7);
    CHECK(cuda_opt_save(s, buffer.data(), &large) == 0);
    CHECK(large == bytes);
    CHECK(buffer.back() == 7);
    harness.restart();
    refuses(cuda_opt_save(s, buffer.data(), &large), CUDA_OPT_MISUSE, "no solve to save");

    CHECK(cuda_opt_save(nullptr, nullptr, &bytes) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_load(nullptr, buffer.data(), bytes, nullptr, nullptr, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_warm_start(nullptr) == CUDA_OPT_MISUSE);
    const auto load = [&](const void *from, int64_t size) {
        return Abi<typename TestType::Real>::load(s, from, size, nullptr, nullptr, nullptr);
    };
    refuses(load(buffer.data(), bytes), CUDA_OPT_MISUSE, "x is NULL");
    check_refused(harness, Checkpoint(), CUDA_OPT_IMPROPER_INPUT, "these 0 bytes are not a checkpoint");
    check_refused(harness, Checkpoint(3000, 'x'), CUDA_OPT_IMPROPER_INPUT, "are not a checkpoint");
}

TEST_CASE("A pattern search refuses save and load and warm start", "[checkpoint]") {
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_search(&s, 2, 3, CUDA_OPT_BACKEND_HOST) == 0);
    int64_t bytes = 0;
    double x[2], g[2], f;
    CHECK(cuda_opt_save(s, nullptr, &bytes) == CUDA_OPT_MISUSE);
    CHECK_THAT(cuda_opt_message(s), Catch::Contains("search"));
    CHECK(cuda_opt_load(s, x, sizeof x, x, &f, g) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_warm_start(s) == CUDA_OPT_MISUSE);
    cuda_opt_destroy(&s);
}

CONFIGURED_TEST_CASE("A stop that is requested after a load ends the solve at the next call", "[checkpoint]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = in_box(extended_rosenbrock(20), -2, 2);
    Harness<TestType> saved(problem, 3);
    for (int call = 0; call < 12; call++) saved.step();
    Harness<TestType> harness(problem, 3);
    harness.load(saved.save());
    cuda_opt_request_stop(harness.handle());
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_STOPPED);
    cuda_opt_request_stop(saved.handle());
    const Outcome there = saved.run();
    CHECK(outcome.f == there.f);
    CHECK(outcome.x == there.x);
}
