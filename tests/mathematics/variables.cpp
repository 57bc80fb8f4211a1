// The sweeps of each backend other than sweeps 1 and 2 are equivalent to those of the reference.
#include <algorithm>

#include "backend.hpp"

namespace mathematics_variables {

using namespace mathematics;
using cudaopt_test::skipped;
using cudaopt_test::Uniform;
using reference::infinity;
using reference::Number;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();
const int64_t sizes[] = {1, 2, 31, 127, 128, 129, 1000, 5000};

template <class Configuration> void check_start(Backend<Configuration> &backend, const reference::Machine &given) {
    reference::Machine machine = given;
    backend.bind(machine);
    const cudaopt::StartReport expected = machine.start(), report = backend->check_start();
    // check_start() must not change x, because the check of another rank may fail.
    if (expected.x_nan == machine.n) CHECK(backend.fetch({HeldVector::x}) == given.x);
    if (report.usable(machine.n)) backend->move_into_box();
    CHECK(report.x_nan == expected.x_nan);
    CHECK(report.bound_nan == expected.bound_nan);
    CHECK(report.crossed == expected.crossed);
    CHECK(report.projected == expected.projected);
    CHECK(report.boxed == expected.boxed);
    CHECK(report.bounded == expected.bounded);
    CHECK(report.digits == std::numeric_limits<typename Configuration::Real>::digits);
    if (expected.x_nan == machine.n) CHECK(backend.fetch({HeldVector::x}) == machine.x);
    CHECK(backend.fetch({HeldVector::g}) == machine.g);
}

// Returns the norm as the largest component times the norm of the scaled vector, so that no square overflows.
double scaled_norm(const reference::Vector &v) {
    Number largest = 0, sum = 0;
    for (const Number value : v) largest = std::max(largest, std::fabs(value));
    for (const Number value : v) sum += largest > 0 ? value / largest * (value / largest) : 0;
    return static_cast<double>(largest * std::sqrt(sum));
}

} // namespace

CONFIGURED_TEST_CASE("A start is checked and is moved into the box only if it is valid", "[rows]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(30);
    for (const int64_t n : sizes)
        for (int kind = 0; kind < static_cast<int>(Bounds::count); kind++) {
            reference::Machine machine = random_machine<TestType>(n, 1, static_cast<Bounds>(kind), uniform);
            for (int64_t i = 0; i < n; i += 3)
                machine.x[i] = machine.stored(10 * uniform() - 5); // some of these are outside the box
            INFO("n = " << n << ", bounds " << kind);
            Backend<TestType> backend(machine);
            check_start(backend, machine);
            for (const double bad : {not_a_number, infinity, -infinity}) {
                for (const int64_t row : {n - 1, n / 2, int64_t{0}}) { // the smallest invalid index must be reported
                    INFO("variable " << row << " and in some cases the last one become " << bad);
                    reference::Machine spoilt = machine;
                    spoilt.x[row] = spoilt.x[n - 1] = bad;
                    check_start(backend, spoilt);
                    if (!machine.lower.empty()) {
                        spoilt = machine;
                        spoilt.lower[row] = spoilt.lower[n - 1] = bad;
                        check_start(backend, spoilt);
                    }
                    if (!machine.upper.empty()) {
                        spoilt = machine;
                        spoilt.upper[row] = bad;
                        check_start(backend, spoilt);
                    }
                    if (kind != static_cast<int>(Bounds::both)) continue;
                    spoilt = machine;
                    spoilt.lower[row] = 1, spoilt.upper[row] = 0.5;
                    check_start(backend, spoilt);
                }
            }
        }
}

CONFIGURED_TEST_CASE("Steps along d stay in the box and the largest step matches the reference", "[rows]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(31);
    for (const int64_t n : sizes)
        for (int kind = 0; kind < static_cast<int>(Bounds::count); kind++) {
            const reference::Machine machine = random_machine<TestType>(n, 2, static_cast<Bounds>(kind), uniform);
            Backend<TestType> backend(machine, kind % 2);
            for (const double step : {1.0, 0.3, 1e-3, 0.0, 50.0, machine.largest()}) {
                INFO("n = " << n << ", bounds " << kind << ", step " << step);
                const int slot = kind % 3;
                backend->step(slot, step);
                const std::vector<double> x = backend.fetch({HeldVector::x});
                for (int64_t i = 0; i < n; i++) {
                    const double from = machine.x_base[i], d = machine.s[slot][i];
                    const double expected = machine.stepped(from, d, step, i);
                    const double size = std::min(std::fabs(from) + step * std::fabs(d), machine.largest());
                    if (!(std::fabs(x[i] - expected) <= 2 * machine.epsilon() * size) || x[i] < machine.lower_of(i) ||
                        x[i] > machine.upper_of(i))
                        FAIL("x of variable " << i << " is " << x[i] << ", not " << expected);
                }
            }
            for (int slot = 0; slot <= 2; slot++) {
                const double longest = backend->largest_step(slot), expected = machine.largest_step(slot);
                CHECK((longest == expected || std::fabs(longest - expected) <= 2 * epsilon * expected));
            }
        }
}

CONFIGURED_TEST_CASE("The base point and the best iterate are restored bitwise", "[rows]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(32);
    for (const int64_t n : sizes) {
        INFO("n = " << n);
        const reference::Machine machine = random_machine<TestType>(n, 2, Bounds::both, uniform);
        Backend<TestType> backend(machine, static_cast<int>(n % 2));
        backend.store_g_base(machine, 1);
        backend->save_best(1);
        CHECK(backend.fetch({HeldVector::aside_x}) == machine.x_base);
        CHECK(backend.fetch({HeldVector::aside_g}) == machine.y[1]);
        CHECK(backend.fetch({HeldVector::x}) == machine.x);
        CHECK(backend.fetch({HeldVector::g}) == machine.g);
        CHECK(backend.f() == machine.f);

        backend.store_g_base(machine, 2);
        backend->restore(2, 3.25);
        CHECK(backend.fetch({HeldVector::x}) == machine.x_base);
        CHECK(backend.fetch({HeldVector::g}) == machine.y[2]);
        CHECK(backend.f() == 3.25);

        backend.store({HeldVector::x_base}, machine.x);
        backend->restore_best(-7.5);
        CHECK(backend.fetch({HeldVector::x}) == machine.x_base);
        CHECK(backend.fetch({HeldVector::g}) == machine.y[1]);
        CHECK(backend.f() == -7.5);
        CHECK(backend.fetch({HeldVector::x_base}) == machine.x);
        for (int slot = 0; slot <= 2; slot++) {
            CHECK(backend.fetch({HeldVector::s_column, slot}) == machine.s[slot]);
            CHECK(backend.fetch({HeldVector::y_column, slot}) == machine.y[slot]);
        }
    }
}

CONFIGURED_TEST_CASE("finish_pair stores y = g - g_base and changes no other vector", "[rows]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(33);
    for (const int64_t n : sizes) {
        INFO("n = " << n);
        const reference::Machine machine = random_machine<TestType>(n, 2, Bounds::none, uniform);
        Backend<TestType> backend(machine);
        backend.store_g_base(machine, 1);
        backend->finish_pair(1);
        const std::vector<double> y = backend.fetch({HeldVector::y_column, 1});
        for (int64_t i = 0; i < n; i++) {
            const double expected = machine.history.stored(static_cast<Number>(machine.g[i]) - machine.y[1][i]);
            if (!(std::fabs(y[i] - expected) <= machine.history.epsilon * std::fabs(expected)))
                FAIL("y of variable " << i << " is " << y[i] << ", not " << expected);
        }
        for (const int slot : {0, 2}) CHECK(backend.fetch({HeldVector::y_column, slot}) == machine.y[slot]);
        for (const int slot : {0, 1, 2}) CHECK(backend.fetch({HeldVector::s_column, slot}) == machine.s[slot]);
        CHECK(backend.fetch({HeldVector::g}) == machine.g);
    }
}

CONFIGURED_TEST_CASE("Norms are accurate if squares overflow or underflow", "[rows]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(34);
    const bool single = Backend<TestType>::single;
    for (const int64_t n : sizes)
        for (const double scale : {1.0, single ? 1e30 : 1e200, single ? 1e-30 : 1e-200, 0.0}) {
            INFO("n = " << n << ", scale " << scale);
            reference::Machine machine = random_machine<TestType>(n, 1, Bounds::both, uniform);
            for (auto *values : {&machine.x, &machine.g, &machine.lower, &machine.upper})
                for (double &v : *values) v = machine.stored(std::isinf(v) ? v : v * scale);
            reference::Vector x(machine.x.begin(), machine.x.end()), pg, relative;
            for (int64_t i = 0; i < n; i++) {
                pg.push_back(machine.projected_gradient(i));
                relative.push_back(pg.back() * machine.x[static_cast<std::size_t>(i)]);
            }
            Backend<TestType> backend(machine);
            CHECK(backend->norm({cudaopt::Norm::x}) == Approx(scaled_norm(x)).epsilon(64 * epsilon).margin(0));
            CHECK(backend->norm({cudaopt::Norm::projected_gradient}) ==
                  Approx(scaled_norm(pg)).epsilon(64 * epsilon).margin(0));
            // If a product x_i (P g)_i overflows, the norm must not be small.
            if (const double norm = scaled_norm(relative); std::isfinite(norm))
                CHECK(backend->norm({cudaopt::Norm::relative_gradient}) ==
                      Approx(norm).epsilon(64 * epsilon).margin(1e-300));
            else CHECK_FALSE(backend->norm({cudaopt::Norm::relative_gradient}) < std::numeric_limits<double>::max());
        }
}

CONFIGURED_TEST_CASE("The first invalid element of a diagonal is reported", "[rows]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(35);
    for (const int64_t n : sizes) {
        reference::Machine machine = random_machine<TestType>(n, 1, Bounds::none, uniform);
        CHECK(Backend<TestType>(machine)->bad_diagonal() == n);
        for (const double bad : {0.0, -1.0, not_a_number, infinity, -infinity})
            for (const int64_t row : {n - 1, n / 2, int64_t{0}}) {
                INFO("n = " << n << ", " << bad << " at every 17th index from " << row << " on");
                reference::Machine spoilt = machine;
                for (int64_t i = row; i < n; i += 17) spoilt.diagonal[i] = bad;
                CHECK(Backend<TestType>(spoilt)->bad_diagonal() == row);
            }
    }
}

CONFIGURED_TEST_CASE("Stored vectors are fetched unchanged and can be read from any index", "[rows]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(36);
    for (const int64_t n : sizes) {
        INFO("n = " << n);
        const reference::Machine machine = random_machine<TestType>(n, 3, Bounds::both, uniform);
        Backend<TestType> backend(machine, static_cast<int>(n % 2));
        // Each vector has its own values, so that the test detects vectors that are exchanged.
        std::vector<HeldVector> all{
            {HeldVector::x}, {HeldVector::g}, {HeldVector::x_base}, {HeldVector::aside_x}, {HeldVector::aside_g}};
        for (int slot = 0; slot <= 3; slot++)
            all.push_back({HeldVector::s_column, slot}), all.push_back({HeldVector::y_column, slot});
        if (machine.apart()) all.push_back({HeldVector::g_base, 1});
        // In bfloat16 all integers from 0 to 256 are exactly representable, in float all up to 2^24.
        const std::size_t numbers = TestType::history_bits == 16 ? 256 : 1 << 24;
        const auto value = [=](std::size_t i, std::size_t k) { return static_cast<double>((100 * i + k) % numbers); };
        for (std::size_t k = 0; k < all.size(); k++) {
            std::vector<double> values(machine.x.size());
            for (std::size_t i = 0; i < values.size(); i++) values[i] = value(i, k);
            backend.store(all[k], values);
        }
        for (std::size_t k = 0; k < all.size(); k++) {
            const std::vector<double> values = backend.fetch(all[k]);
            for (std::size_t i = 0; i < values.size(); i++)
                if (values[i] != value(i, k)) FAIL("element " << i << " of vector " << k << " is " << values[i]);
        }
        CHECK(backend.f() == machine.f);
        const auto read = [&](const void *vector, int64_t begin, int count) {
            std::vector<double> to(static_cast<std::size_t>(count));
            backend->read(vector, begin, count, to.data());
            return to;
        };
        for (const int64_t begin : {int64_t{0}, n / 2, n - 1}) {
            const std::vector<double> x = read(backend.arrays().x, begin, static_cast<int>(n - begin));
            for (std::size_t i = 0; i < x.size(); i++)
                if (x[i] != value(static_cast<std::size_t>(begin) + i, 0)) FAIL("x of " << i << " is read as " << x[i]);
            CHECK(read(backend.arrays().lower, begin, 1)[0] == machine.lower[begin]);
        }
    }
}

} // namespace mathematics_variables
