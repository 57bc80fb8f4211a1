// Sweep 2 and the truncation of its direction on each backend are equivalent to those of the reference.
#include <algorithm>

#include "backend.hpp"

using namespace mathematics;
using cudaopt::DirectionRequest;
using cudaopt_test::sanitized;
using cudaopt_test::skipped;
using cudaopt_test::Uniform;
using reference::Number;
namespace panel = cudaopt::panel;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// A displacement is a sum of at most 162 products in double precision. The direction is rounded once when it is stored.
// If the columns have fewer bits than x, displacements that differ by rounding errors may be rounded to neighbouring
// numbers. These differ by a unit in the last place of d, which is at most the epsilon of the history precision times
// |d|.
double tolerance(const reference::Machine &machine, double size, double d) {
    return (machine.epsilon() + 84 * epsilon) * size + (machine.apart() ? machine.history.epsilon * std::fabs(d) : 0);
}

void check_rows(const char *what, const std::vector<double> &is, const std::vector<double> &should,
                const std::vector<double> &tolerances) {
    for (std::size_t i = 0; i < should.size(); i++)
        if (!(std::fabs(is[i] - should[i]) <= tolerances[i]))
            FAIL(what << " of variable " << i << " is " << is[i] << ", not " << should[i] << ", +- " << tolerances[i]);
}

// Returns the sums of the direction. Some backends provide them only with the next inner products.
template <class Configuration>
cudaopt::DirectionSums sums_of(Backend<Configuration> &backend, const DirectionRequest &request) {
    if (!backend->direction_sums_at_hand()) {
        cudaopt::PanelRequest next = request.panel;
        next.threshold = 0, next.free_gram = true, next.weighted = false, next.fresh = false;
        backend->inner_products(next);
    }
    return backend->direction_sums();
}

template <class Configuration>
void take(const reference::Machine &machine, const DirectionRequest &request, int offset, bool after_products) {
    Backend<Configuration> backend(machine, offset);
    const reference::Trial expected = machine.direction(request);
    const cudaopt::PanelRequest &shown = request.panel;
    INFO("n = " << machine.n << ", pairs " << shown.pairs << (shown.fresh ? ", fresh" : "")
                << (shown.weighted ? ", weighted" : "") << (request.truncate ? ", truncated" : "") << ", threshold "
                << shown.threshold << ", step " << request.step << (after_products ? ", after the products" : ""));
    if (shown.fresh) backend.store_g_base(machine, shown.newest_slot);
    if (after_products) backend->inner_products(shown);
    backend->direction(request);

    std::vector<double> of_d, of_x;
    Number size_of_squares = 0, of_slope = 0;
    for (int64_t i = 0; i < machine.n; i++) {
        of_d.push_back(tolerance(machine, expected.sizes[i], expected.d[i]));
        of_x.push_back((1 + request.step) * of_d.back());
        of_slope += std::fabs(machine.g[i]) * of_d.back();
        size_of_squares += (2 * std::fabs(expected.d[i]) + of_d.back()) * of_d.back();
    }
    const int spare = request.spare_slot;
    check_rows("d", backend.fetch({HeldVector::s_column, spare}), expected.d, of_d);
    const std::vector<double> x = backend.fetch({HeldVector::x});
    check_rows("x", x, expected.x, of_x);
    for (int64_t i = 0; i < machine.n; i++) {
        if (x[i] < machine.lower_of(i) || x[i] > machine.upper_of(i))
            FAIL("x of variable " << i << " is outside the box: " << x[i]);
        if (request.step == 1 && expected.at_bound[i] && x[i] != expected.x[i])
            FAIL("x of variable " << i << " is not its bound " << expected.x[i] << ", but " << x[i]);
    }
    CHECK(backend.fetch({HeldVector::g_base, spare}) == machine.g);
    CHECK(backend.fetch({HeldVector::x_base}) == machine.x);
    CHECK(backend.fetch({HeldVector::g}) == machine.g);
    const cudaopt::DirectionSums sums = sums_of(backend, request);
    CHECK(std::fabs(sums.slope - expected.slope) <= of_slope + 128 * epsilon * expected.slope_size);
    CHECK(std::fabs(sums.d_squared - expected.d_squared) <= size_of_squares + 128 * epsilon * expected.d_squared);
    CHECK(sums.projected == static_cast<double>(expected.projected));

    // The correction pairs are unchanged, except that y of a fresh pair is formed.
    for (int slot = 0; slot <= machine.m; slot++) {
        if (slot == spare) continue;
        INFO("slot " << slot);
        CHECK(backend.fetch({HeldVector::s_column, slot}) == machine.s[slot]);
        if (shown.fresh && shown.pairs > 0 && slot == shown.newest_slot) {
            std::vector<double> y(machine.g.size()), of_y;
            for (std::size_t i = 0; i < y.size(); i++) {
                y[i] = machine.history.stored(static_cast<Number>(machine.g[i]) - machine.y[slot][i]);
                of_y.push_back(machine.history.epsilon * std::fabs(y[i]));
            }
            check_rows("y", backend.fetch({HeldVector::y_column, slot}), y, of_y);
        } else {
            CHECK(backend.fetch({HeldVector::y_column, slot}) == machine.y[slot]);
        }
    }
}

} // namespace

CONFIGURED_TEST_CASE("Sweep 2 is equivalent to the reference", "[direction]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // A GPU runs a quarter of the variants, because each of them takes about forty copies.
    const int apart = Backend<TestType>::on_cuda() ? 4 : 1;
    Uniform uniform(20);
    for (const int64_t n : {1, 2, 31, 127, 128, 129, 1000, 5000})
        for (int kind = 0; kind < static_cast<int>(Bounds::count); kind++)
            for (int variant = kind % apart; variant < (n < 1000 ? 16 : 4); variant += apart) {
                if (Backend<TestType>::too_large(n)) continue;
                // Variant 3 has more coefficients than fit into the parameters of a kernel.
                const int most = variant == 3 ? 32 : 5;
                const bool fresh = uniform() < 0.5, weighted = uniform() < 0.3, truncate = uniform() < 0.3;
                const reference::Machine machine =
                    random_machine<TestType>(n, most, static_cast<Bounds>(kind), uniform);
                const int pairs = variant == 3 ? most : variant % (most + 1), newest = variant % (most + 1);
                std::vector<double> q(panel::columns(pairs));
                for (double &v : q) v = 2 * uniform() - 1;
                DirectionRequest request{};
                request.panel = {pairs, newest, 0, fresh && pairs > 0, true, weighted};
                const double middle = middle_breakpoint(machine, request.panel);
                if (uniform() < 0.5) request.panel.threshold = middle;
                request.gradient_coefficient = -2 * uniform();
                request.coefficients = q.data();
                request.step = uniform() < 0.5 ? 1 : uniform();
                request.spare_slot = (newest + 1) % (most + 1);
                request.truncate = truncate;
                request.cauchy_t = 1.5 * middle;
                request.alpha = uniform();
                // In a solve sweep 2 follows sweep 1, which may have stored the fresh y. After a checkpoint is loaded,
                // it does not.
                take<TestType>(machine, request, variant % 2, uniform() < 0.5);
            }
}

CONFIGURED_TEST_CASE("Sweep 2 with many pairs is equivalent to the reference", "[direction]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(24);
    int variant = 0;
    for (const int64_t n : {1, 63, 65, 1001, 200001})
        for (const int pairs : {29, 32, 40, 80})
            for (const Bounds bounds : {Bounds::none, Bounds::both, Bounds::uniform_upper}) {
                // With the largest n, each warp of a GPU processes several tiles.
                if (n > 1001 && (!Backend<TestType>::on_cuda() || pairs != 40)) continue;
                if (sanitized && n > 65) continue;
                const reference::Machine machine = random_machine<TestType>(n, pairs, bounds, uniform);
                std::vector<double> q(panel::columns(pairs));
                for (double &v : q) v = 2 * uniform() - 1;
                DirectionRequest request{};
                const int newest = variant++ % (pairs + 1);
                request.panel = {pairs, newest, 0, variant % 3 == 0, true, variant % 4 == 0};
                if (variant % 2 == 0) request.panel.threshold = middle_breakpoint(machine, request.panel);
                request.gradient_coefficient = -2 * uniform();
                request.coefficients = q.data();
                request.step = variant % 5 == 0 ? uniform() : 1;
                request.spare_slot = (newest + 1) % (pairs + 1);
                take<TestType>(machine, request, variant % 2, variant % 3 == 1);
            }
}

CONFIGURED_TEST_CASE("The truncation factor alpha matches the reference", "[direction]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(21);
    int within = 0;
    for (const int64_t n : {1, 2, 31, 128, 1000})
        for (int variant = 0; variant < 40; variant++) {
            const int most = 4, pairs = variant % (most + 1);
            const auto bounds = static_cast<Bounds>(variant % static_cast<int>(Bounds::count));
            const reference::Machine machine = random_machine<TestType>(n, most, bounds, uniform);
            Backend<TestType> backend(machine);
            std::vector<double> q(panel::columns(pairs));
            for (double &v : q) v = (2 * uniform() - 1) / static_cast<double>(n);
            DirectionRequest request{};
            request.panel = {pairs, variant % (most + 1), 0, pairs > 0 && variant % 3 == 0, true, variant % 4 == 0};
            // The Cauchy point is before the first breakpoint, so that no variable has reached its bound there.
            const double first = machine.inner_products(request.panel).sums.first_breakpoint;
            request.cauchy_t = 0.9 * std::min(first, 1.0);
            if (variant % 5 == 0) request.panel.threshold = first < 1e30 ? first : 1;
            request.gradient_coefficient = -request.cauchy_t * (0.5 + uniform());
            request.coefficients = q.data();
            request.spare_slot = (variant + 1) % (most + 1);
            const reference::Share expected = machine.truncation(request);
            INFO("n = " << n << ", variant " << variant);
            if (request.panel.fresh) backend.store_g_base(machine, request.panel.newest_slot);
            const double alpha = backend->truncation(request);
            CHECK(std::fabs(alpha - expected.alpha) <= 64 * epsilon * expected.uncertainty);
            within += expected.alpha > 0 && expected.alpha < 1;
        }
    CHECK(within > 50);
}

CONFIGURED_TEST_CASE("A direction whose terms overflow gives a finite trial point", "[direction]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(22);
    for (const int64_t n : {1, 5, 130}) {
        const bool single = Backend<TestType>::single;
        const double huge = single ? 1e38 : 1e308, huge_in_columns = TestType::history_bits == 64 ? 1e308 : 1e38;
        for (const double step : {1.0, 0.5}) {
            reference::Machine machine = random_machine<TestType>(n, 1, Bounds::none, uniform);
            for (int64_t i = 0; i < n; i++) {
                machine.g[i] = i % 3 == 0 ? machine.stored(huge) : i % 3 == 1 ? 1 : -machine.stored(huge);
                machine.y[0][i] = machine.s[0][i] = i % 3 == 1 ? machine.history.stored(huge_in_columns) : 0;
            }
            double q[4] = {1e300, -1e300, 0, 0}; // the result is inf - inf if y and s are huge
            DirectionRequest request{};
            request.panel = {1, 0, 0, false, true, false};
            request.gradient_coefficient = -1e300;
            request.coefficients = q;
            request.step = step;
            request.spare_slot = 1;
            Backend<TestType> backend(machine);
            backend->direction(request);
            const std::vector<double> x = backend.fetch({HeldVector::x});
            for (int64_t i = 0; i < n; i++) {
                INFO("variable " << i << ", x = " << x[i]);
                if (i % 3 == 1) CHECK(x[i] == machine.x[i]);
                if (i % 3 == 1) continue;
                const double expected = (i % 3 == 0 ? -1 : 1) * machine.history.largest * (step == 1 ? 1 : 0.5);
                CHECK(x[i] == Approx(expected).epsilon(4 * machine.epsilon()).margin(0));
            }
        }
    }
}
