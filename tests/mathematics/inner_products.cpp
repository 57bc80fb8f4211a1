// Sweep 1 and the windows of breakpoints of each backend are equivalent to those of the reference.
#include <algorithm>

#include "backend.hpp"

namespace mathematics_inner_products {

using namespace mathematics;
using cudaopt::PanelRequest;
using cudaopt_test::sanitized;
using cudaopt_test::skipped;
using cudaopt_test::Uniform;
namespace panel = cudaopt::panel;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// The terms of a product are added in sequences of at most 128, and the results in a binary tree.
constexpr double of_sums = 128 * epsilon;

// Products are formed in double precision. A backend may round some factors beforehand: y = g - g_base to the history
// precision, and the displacement to the bound and the projected gradient to the caller's precision. If single
// precision is allowed, it is used only if the columns are bfloat16. The terms are then added in sequences of 128 or
// 256 variables. The slope along the newest step is always formed in double precision.
double of_columns(const reference::Machine &machine, const PanelRequest &request, int i, int j, bool over_all) {
    const bool slope = over_all && std::min(i, j) == panel::s_new && std::max(i, j) == panel::gradient;
    const auto rounded = [&](int column) {
        if (column == 0 && request.fresh) return machine.history.epsilon;
        return column == panel::displacement ? machine.epsilon() : 0;
    };
    const bool single = request.single && machine.history.bits == 16 && !slope;
    return (single ? 0x1p-20 : of_sums) + rounded(i) + rounded(j);
}

void compare(const reference::Machine &machine, const PanelRequest &request, const cudaopt::PanelProducts &sums) {
    const reference::Products expected = machine.inner_products(request);
    const int columns = panel::columns(request.pairs);
    REQUIRE(sums.columns == columns);
    CHECK(sums.f == machine.f);
    for (const auto which : {cudaopt::at_lower, cudaopt::at_upper, cudaopt::free_variables, cudaopt::not_finite})
        if (sums.variable_sums[which] != expected.sums.variable_sums[which])
            FAIL("variable sum " << which << " is " << sums.variable_sums[which] << ", not "
                                 << expected.sums.variable_sums[which]);
    const double of_rows = of_sums + 2 * machine.epsilon();
    for (const auto which : {cudaopt::projected_gradient_squared, cudaopt::x_squared})
        CHECK(sums.variable_sums[which] == Approx(expected.sums.variable_sums[which]).epsilon(of_rows).margin(0));
    CHECK(sums.projected_gradient_max == Approx(expected.sums.projected_gradient_max).epsilon(of_rows).margin(0));
    if (request.threshold >= 0) CHECK(sums.first_breakpoint == expected.sums.first_breakpoint);
    const char *const over_all = "all variables";
    const auto absent = [&](int j) { return request.pairs == 0 && j < panel::gradient; };
    const auto check = [&](int i, int j, double is, double should, double size, const char *over) {
        // Some products are not set, and the state machine does not use them; other tests set them to NaN. The products
        // of an absent pair may be any number or NaN, because a backend multiplies whatever its column contains.
        if (std::isnan(should) || absent(i) || absent(j)) return;
        if (!(std::fabs(is - should) <= of_columns(machine, request, i, j, over == over_all) * size))
            FAIL("the product of columns " << i << " and " << j << " over " << over << " is " << is << ", not "
                                           << should << ", of " << size);
    };
    for (int i = 0; i < panel::leading; i++)
        for (int j = 0; j < columns; j++)
            check(i, j, sums.over_all(i, j), expected.leading_products[i * columns + j],
                  expected.leading_sizes[i * columns + j], over_all);
    for (int i = 0; request.free_gram && i < columns; i++)
        for (int j = i; j < columns; j++) {
            const int at = panel::gram_index(i, j, columns);
            check(i, j, sums.over_free(i, j), expected.free_gram[at], expected.free_gram_sizes[at], "free variables");
        }
    REQUIRE((sums.older_steps != nullptr) == request.older_steps);
    for (int i = 1; request.older_steps && i < request.pairs; i++)
        for (int j = i; j < request.pairs; j++) {
            const int at = panel::older_index(i, j, request.pairs);
            check(panel::s_column(i), panel::s_column(j), sums.steps_over_all(i, j), expected.older_steps[at],
                  expected.older_sizes[at], over_all);
        }
    for (int j = 0; request.older_steps && j < request.pairs; j++)
        CHECK(sums.steps_over_all(0, j) == sums.over_all(panel::s_new, panel::s_column(j)));
    if (!request.in_metric()) return;
    CHECK(sums.variable_sums[cudaopt::bad_weights] == expected.sums.variable_sums[cudaopt::bad_weights]);
    const double of_y = 2 * of_columns(machine, request, 0, 0, true);
    for (const auto which : {cudaopt::newest_y_sum, cudaopt::newest_d_sum})
        CHECK(sums.variable_sums[which] == Approx(expected.sums.variable_sums[which]).epsilon(of_y).margin(0));
}

void compare(const reference::Machine &machine, const PanelRequest &request, double lo, double hi,
             const cudaopt::CrossedWindow &window) {
    INFO("breakpoints in (" << lo << ", " << hi << "]");
    const reference::Window expected = machine.crossed(request, lo, hi);
    REQUIRE(window.count == static_cast<int64_t>(expected.rows.size()));
    if (window.count > cudaopt::crossed_capacity) {
        CHECK(window.variables == nullptr);
        return;
    }
    const double root = request.weighted ? 4 * epsilon : 0, of_z = std::max(root, machine.epsilon());
    for (int64_t k = 0; k < window.count; k++) {
        const cudaopt::CrossedVariable &is = window.variables[k], &should = expected.rows[static_cast<std::size_t>(k)];
        if (is.t != should.t || is.index != should.index)
            FAIL("entry " << k << " is variable " << is.index << " at " << is.t << ", not " << should.index << " at "
                          << should.t);
        if (!(std::fabs(is.g - should.g) <= root * std::fabs(should.g)))
            FAIL("g of variable " << is.index << " is " << is.g);
        if (!(std::fabs(is.z - should.z) <= of_z * std::fabs(should.z)))
            FAIL("z of variable " << is.index << " is " << is.z);
        for (int age = 0; age < request.pairs; age++)
            for (const int j : {panel::y_column(age), panel::s_column(age)}) {
                const double relative = root + (j == 0 && request.fresh ? machine.history.epsilon : 0);
                if (!(std::fabs(is.w[j] - should.w[j]) <= relative * std::fabs(should.w[j])))
                    FAIL("column " << j << " of variable " << is.index << " is " << is.w[j] << ", not " << should.w[j]);
            }
    }
}

// Returns the update by the pairs in these slots, with the sums that the inner products would give.
cudaopt::DiagonalUpdate update_of(const reference::Machine &machine, const std::vector<int> &slots, bool anew) {
    cudaopt::DiagonalUpdate update{anew};
    for (const int slot : slots) {
        reference::Number dd = 0, yy = 0;
        for (int64_t i = 0; i < machine.n; i++) {
            const reference::Number h = anew ? 1 : machine.diagonal[i], d = machine.s[slot][i], y = machine.y[slot][i];
            dd += d * d / h, yy += h * y * y;
        }
        update.pairs[update.count++] = {slot, static_cast<double>(1 / dd), static_cast<double>(1 / yy), 0.3};
    }
    return update;
}

template <class Configuration>
void gather_all_ways(Backend<Configuration> &backend, const reference::Machine &machine, Bounds bounds, int pairs,
                     int newest, bool fresh) {
    if (fresh) backend.store_g_base(machine, newest);
    for (const bool weighted : {false, true}) {
        for (const bool older_steps : {false, true}) {
            if (older_steps && !weighted) continue;
            // A request without products over the free variables is possible only if no variable has a finite bound.
            const bool unmasked = !weighted && (bounds == Bounds::none || bounds == Bounds::infinite);
            PanelRequest request{pairs, newest, 0, fresh, true, weighted};
            request.older_steps = older_steps;
            INFO("pairs " << pairs << ", newest slot " << newest << (fresh ? ", fresh" : "")
                          << (weighted ? ", weighted" : "") << (older_steps ? ", older steps" : ""));
            compare(machine, request, backend->inner_products(request));
            for (const double threshold : {middle_breakpoint(machine, request), 1e30}) {
                request.threshold = threshold;
                INFO("threshold " << threshold);
                compare(machine, request, backend->inner_products(request));
            }
            request.threshold = -1;
            if (!weighted) compare(machine, request, backend->inner_products(request));
            request.threshold = 0;
            request.watches = true; // a learned diagonal that the model does not use yet
            if (!weighted) compare(machine, request, backend->inner_products(request));
            request.older_steps = true; // the stored products were weighted until now
            if (!weighted) compare(machine, request, backend->inner_products(request));
            request.watches = request.older_steps = request.free_gram = false;
            if (unmasked) compare(machine, request, backend->inner_products(request));
        }
    }
    if (fresh) backend.store_y(machine, newest);
}

} // namespace

CONFIGURED_TEST_CASE("Sweep 1 is equivalent to the reference", "[inner products]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(10);
    const int most = 5;
    for (const int64_t n : {1, 2, 31, 32, 127, 128, 129, 1000, 5000})
        for (int kind = 0; kind < static_cast<int>(Bounds::count); kind++) {
            if (Backend<TestType>::too_large(n)) continue;
            const auto bounds = static_cast<Bounds>(kind);
            INFO("n = " << n << ", bounds " << kind);
            const reference::Machine machine = random_machine<TestType>(n, most, bounds, uniform);
            Backend<TestType> backend(machine, kind % 2);
            for (int pairs = 0; pairs <= most; pairs++) {
                if (n == 5000 && pairs != 0 && pairs != most) continue;
                gather_all_ways(backend, machine, bounds, pairs, (pairs + kind) % (most + 1),
                                pairs > 0 && pairs % 2 == 0);
                gather_all_ways(backend, machine, bounds, pairs, (pairs + 2) % (most + 1), pairs % 2 == 1);
            }
        }
}

// On CUDA a warp whose first tile is beyond n reuses the same stage in shared memory for its third tile.
CONFIGURED_TEST_CASE("Sweep 1 is equivalent to the reference if a bound is the same for all variables",
                     "[inner products]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(15);
    for (const int64_t n : {33, 63, 65, 1001, 300001})
        for (auto kind = static_cast<int>(Bounds::uniform_around_0); kind < static_cast<int>(Bounds::count); kind++)
            for (const int offset : {0, 1}) {
                if (Backend<TestType>::too_large(n)) continue;
                INFO("n = " << n << ", bounds " << kind << ", offset " << offset);
                const auto bounds = static_cast<Bounds>(kind);
                const reference::Machine machine = random_machine<TestType>(n, 1, bounds, uniform);
                Backend<TestType> backend(machine, offset);
                const PanelRequest request{1, 0, 0, false, true, false};
                compare(machine, request, backend->inner_products(request));
            }
}

CONFIGURED_TEST_CASE("Sweep 1 is equivalent to the reference for panels of any width", "[inner products]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(11);
    const int most = 30;
    for (const Bounds bounds : {Bounds::both, Bounds::uniform_above_0, Bounds::uniform_upper}) {
        const reference::Machine machine = random_machine<TestType>(300, most, bounds, uniform);
        Backend<TestType> backend(machine);
        for (int pairs = 6; pairs <= most; pairs += Backend<TestType>::on_cuda() ? 2 : 6) // CUDA has a kernel per width
            gather_all_ways(backend, machine, bounds, pairs, pairs % 7, pairs % 4 == 0);
    }
}

CONFIGURED_TEST_CASE("Sweep 1 in single precision is equivalent to the reference", "[inner products]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(16);
    const int most = 24;
    for (const int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 129, 1000, 9001})
        for (const Bounds bounds : {Bounds::none, Bounds::both, Bounds::uniform_above_0}) {
            if (Backend<TestType>::too_large(n)) continue;
            const reference::Machine machine = random_machine<TestType>(n, most, bounds, uniform);
            Backend<TestType> backend(machine, n % 2);
            for (const int pairs : {1, 2, 6, 7, 14, 15, 22, 23}) {
                const bool fresh = pairs % 2 == 0;
                INFO("n = " << n << ", bounds " << static_cast<int>(bounds) << ", pairs " << pairs);
                if (fresh) backend.store_g_base(machine, pairs);
                PanelRequest request{pairs, pairs, 0, fresh, bounds != Bounds::none, false, true};
                compare(machine, request, backend->inner_products(request));
                request.threshold = middle_breakpoint(machine, request);
                request.free_gram = true;
                request.single = false;
                compare(machine, request, backend->inner_products(request));
                if (fresh) backend.store_y(machine, pairs);
            }
        }
}

// On CUDA several warps form the products of this number of columns. With 46 or more pairs, several blocks may.
CONFIGURED_TEST_CASE("Sweep 1 and windows of breakpoints are equivalent to the reference for many pairs",
                     "[inner products]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(18);
    const int most = 80;
    for (const int64_t n : {1, 63, 64, 65, 129, 1001})
        for (const Bounds bounds : {Bounds::none, Bounds::both, Bounds::uniform_above_0, Bounds::uniform_upper}) {
            if (sanitized && n > 1000) continue;
            const reference::Machine machine = random_machine<TestType>(n, most, bounds, uniform);
            Backend<TestType> backend(machine, n % 2);
            for (const int pairs : {20, 23, 25, 30, 40, 46, 51, most}) {
                // The other numbers are limits of kernels.
                if (!Backend<TestType>::on_cuda() && pairs != 23 && pairs % 20 != 0) continue;
                const bool fresh = pairs % 2 == 0;
                INFO("n = " << n << ", bounds " << static_cast<int>(bounds) << ", pairs " << pairs);
                if (fresh) backend.store_g_base(machine, pairs);
                const PanelRequest request{pairs, pairs, 0, fresh, bounds != Bounds::none, false, true};
                const double middle = bounds == Bounds::none ? 1 : middle_breakpoint(machine, request);
                // The second time, the backend may already have transferred the variables together with the sums.
                for (int time = 0; time < 2; time++) {
                    compare(machine, request, backend->inner_products(request));
                    if (request.free_gram) compare(machine, request, 0, middle, backend->crossed(request, 0, middle));
                }
                if (fresh) backend.store_y(machine, pairs);
            }
        }
}

CONFIGURED_TEST_CASE("Sweep 1 is equivalent to the reference if a GPU block processes many tiles", "[inner products]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>() || !Backend<TestType>::on_cuda() || TestType::history_bits != 16) return;
    Uniform uniform(23);
    for (const int pairs : {30, 40, 80})
        for (const Bounds bounds : {Bounds::none, Bounds::both}) {
            const int64_t n = pairs == 80 ? 50001 : 120001;
            INFO("n = " << n << ", bounds " << static_cast<int>(bounds) << ", pairs " << pairs);
            const reference::Machine machine = random_machine<TestType>(n, pairs, bounds, uniform);
            Backend<TestType> backend(machine);
            const PanelRequest request{pairs, 3, 0, false, bounds != Bounds::none, false, true};
            const cudaopt::PanelProducts &sums = backend->inner_products(request);
            compare(machine, request, sums);
            // A repetition gives bitwise identical products.
            const int columns = panel::columns(pairs);
            const std::vector<double> free_gram(sums.free_gram, sums.free_gram + panel::gram_count(columns)),
                leading(sums.leading_products, sums.leading_products + panel::leading * columns);
            const cudaopt::PanelProducts &again = backend->inner_products(request);
            CHECK(std::equal(free_gram.begin(), free_gram.end(), again.free_gram));
            CHECK(std::equal(leading.begin(), leading.end(), again.leading_products));
        }
}

// The backend may form other products over the free variables as well.
CONFIGURED_TEST_CASE("Sweep 1 forms Y'Y and S'S if a problem without bounds has a new diagonal", "[inner products]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(19);
    const int most = 14;
    for (const int64_t n : {1, 31, 127, 129, 1000}) {
        const reference::Machine machine = random_machine<TestType>(n, most, Bounds::none, uniform);
        Backend<TestType> backend(machine, n % 2, true, true);
        for (const int pairs : {1, 2, 3, 4, 5, 8, 11, most})
            for (const bool weighted : {false, true}) {
                INFO("n = " << n << ", pairs " << pairs << (weighted ? ", weighted" : ""));
                const bool fresh = pairs % 2 == 0;
                if (fresh) backend.store_g_base(machine, pairs);
                PanelRequest request{pairs, pairs, 0, fresh, true, weighted};
                request.older_steps = request.watches = true;
                const reference::Products expected = machine.inner_products(request);
                const cudaopt::PanelProducts &sums = backend->inner_products({request, {}, true});
                for (int i = 0; i < pairs; i++)
                    for (int j = i; j < pairs; j++) {
                        const int y_i = panel::y_column(i), y_j = panel::y_column(j),
                                  at = panel::gram_index(y_i, y_j, sums.columns);
                        CHECK(std::fabs(sums.over_free(y_i, y_j) - expected.free_gram[at]) <=
                              of_columns(machine, request, y_i, y_j, false) * expected.free_gram_sizes[at]);
                    }
                request.free_gram = false; // the other products over the free variables are not compared
                compare(machine, request, sums);
                if (fresh) backend.store_y(machine, pairs);
            }
    }
}

CONFIGURED_TEST_CASE("Sweep 1 uses double precision if squares overflow or underflow in single precision",
                     "[inner products]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(17);
    for (const double scale : {0x1p-56, 0x1p60}) { // the squares of s underflow or overflow in single precision
        reference::Machine machine = random_machine<TestType>(1000, 3, Bounds::both, uniform);
        for (double &v : machine.s[2]) v *= scale;
        Backend<TestType> backend(machine);
        const PanelRequest request{3, 2, 0, false, true, false, true};
        const cudaopt::PanelProducts &sums = backend->inner_products(request);
        PanelRequest in_double = request;
        in_double.single = false;
        compare(machine, in_double, sums);
    }
}

CONFIGURED_TEST_CASE("Sweep 1 counts components of g that are not finite", "[inner products]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(12);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int64_t n : {1, 31, 200, 1000}) {
        reference::Machine machine = random_machine<TestType>(n, 2, Bounds::both, uniform);
        const int64_t row = n / 2;
        for (const double bad : {nan, reference::infinity, -reference::infinity}) {
            INFO("n = " << n << ", g = " << bad);
            machine.g[row] = bad;
            machine.lower[row] = -reference::infinity, machine.upper[row] = reference::infinity;
            if (n > 100) machine.g[n - 1] = reference::infinity;
            Backend<TestType> backend(machine);
            const cudaopt::PanelProducts &sums = backend->inner_products(PanelRequest{2, 1, 0, false, true, false});
            CHECK(sums.variable_sums[cudaopt::not_finite] == (n > 100 ? 2 : 1));
            if (bad != bad) CHECK(sums.projected_gradient_max != sums.projected_gradient_max);
            else CHECK(sums.projected_gradient_max == reference::infinity);
        }
    }
}

CONFIGURED_TEST_CASE("Windows of breakpoints are equivalent to the reference", "[crossed]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(13);
    const int most = 4;
    for (const int64_t n : {1, 2, 31, 128, 129, 1000, 5000}) {
        reference::Machine machine = random_machine<TestType>(n, most, Bounds::both, uniform);
        const bool tied = n == 129 || n == 1000;
        for (int64_t i = 0; i < n && tied; i++) { // few different breakpoints, each of many variables
            machine.g[i] = 0.5, machine.diagonal[i] = 1;
            machine.lower[i] =
                machine.stored(machine.x[i] = static_cast<double>(i % 7)) - static_cast<double>(i % 5) / 8;
            machine.upper[i] = machine.x[i] + 1;
        }
        Backend<TestType> backend(machine);
        for (int pairs = 0; pairs <= most; pairs++)
            for (const bool weighted : {false, true}) {
                const PanelRequest request{pairs, pairs, 0, pairs % 2 == 1, true, weighted};
                INFO("n = " << n << ", pairs " << pairs << (weighted ? ", weighted" : ""));
                const double middle = middle_breakpoint(machine, request);
                if (request.fresh) backend.store_g_base(machine, request.newest_slot);
                // The second time, the backend may already have transferred variables together with the sums.
                for (int time = 0; time < 2; time++) {
                    if (time > 0) backend->inner_products(request);
                    compare(machine, request, 0, middle, backend->crossed(request, 0, middle));
                    compare(machine, request, middle, 2 * middle, backend->crossed(request, middle, 2 * middle));
                    compare(machine, request, 0, 0.5 * middle, backend->crossed(request, 0, 0.5 * middle));
                    compare(machine, request, 1e9, 1e10, backend->crossed(request, 1e9, 1e10));
                }
                if (request.fresh) backend.store_y(machine, request.newest_slot);
            }
    }
}

CONFIGURED_TEST_CASE("A window with more variables than can be fetched reports only their number", "[crossed]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(14);
    for (const int64_t n : {cudaopt::crossed_capacity, cudaopt::crossed_capacity + 1, 3 * cudaopt::crossed_capacity}) {
        reference::Machine machine = random_machine<TestType>(n, 1, Bounds::none, uniform);
        machine.lower.resize(machine.x.size());
        for (int64_t i = 0; i < n; i++) {
            machine.g[i] = 0.25;
            machine.lower[i] = machine.x[i] - static_cast<double>(1 + i % 100) / 64;
            machine.lower[i] = machine.stored(machine.lower[i]);
        }
        Backend<TestType> backend(machine);
        const PanelRequest request{1, 0, 0, false, true, false};
        for (int time = 0; time < 2; time++) {
            if (time > 0) backend->inner_products(request);
            compare(machine, request, 0, 100, backend->crossed(request, 0, 100));
            compare(machine, request, 0, 1, backend->crossed(request, 0, 1));
            compare(machine, request, 0, 100, backend->crossed(request, 0, 100));
        }
    }
}

CONFIGURED_TEST_CASE("Sweep 1 updates the diagonal before it uses it", "[metric]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(51);
    for (const int m : {1, 2, 5, 14, 17, 19, 24})
        for (const int64_t n : {1, 31, 64, 300, 3000})
            for (const bool bounded : {false, true}) {
                if (Backend<TestType>::too_large(n)) continue;
                reference::Machine machine =
                    random_machine<TestType>(n, m, bounded ? Bounds::both : Bounds::none, uniform);
                Backend<TestType> backend(machine, bounded ? 1 : 0, true, true);
                for (const bool anew : {true, false})
                    for (const bool fresh : {false, true})
                        for (const bool weighted : {false, true}) {
                            INFO("m = " << m << ", n = " << n << (bounded ? ", bounds" : "") << (anew ? ", anew" : "")
                                        << (fresh ? ", fresh" : "") << (weighted ? ", weighted" : ""));
                            const int newest = m / 2;
                            cudaopt::ProductsRequest request(PanelRequest{m, newest, 0, fresh, true, weighted});
                            request.watches = true;
                            request.older_steps = weighted == (m % 2 == 0);
                            // If the newest pair is fresh, up to four older pairs update the diagonal. With m = 1 the
                            // pair before the fresh one is not in the panel.
                            std::vector<int> slots;
                            for (int age = fresh ? std::min(4, std::max(1, m - 1)) : 0; age >= (fresh ? 1 : 0); age--)
                                slots.push_back(machine.slot(request, age));
                            request.update = update_of(machine, slots, anew);
                            if (fresh) backend.store_g_base(machine, newest);
                            const cudaopt::PanelProducts &sums = backend->inner_products(request);
                            const std::vector<double> learned = backend.fetch({HeldVector::diagonal});
                            machine.learn(request.update);
                            for (int64_t i = 0; i < n; i++)
                                if (const double h = machine.diagonal[i];
                                    !(std::fabs(learned[i] - h) <= (16 * epsilon + 2 * machine.epsilon()) * h))
                                    FAIL("h_" << i << " = " << learned[i] << ", not " << h);
                            machine.diagonal = learned; // the rounded diagonal of the backend, for the comparison
                            compare(machine, request, sums);
                            request.update = {};
                            compare(machine, request, backend->inner_products(request));
                            CHECK(backend.fetch({HeldVector::diagonal}) == learned);
                            if (fresh) backend.store_y(machine, newest);
                        }
            }
}

CONFIGURED_TEST_CASE("Sweep 1 forms a diagonal from the sizes of the variables", "[metric]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    Uniform uniform(52);
    const double special[] = {0,
                              -0.0,
                              1e-30,
                              -1e30,
                              std::numeric_limits<Real>::denorm_min(),
                              std::numeric_limits<Real>::max(),
                              std::numeric_limits<Real>::quiet_NaN()};
    for (const int m : {1, 5, 30})
        for (const int64_t n : {1, 31, 64, 300, 3000})
            for (const Bounds bounds : {Bounds::none, Bounds::both})
                for (const bool extreme : {false, true}) {
                    if (Backend<TestType>::too_large(n)) continue;
                    INFO("m = " << m << ", n = " << n << (extreme ? ", extreme sizes" : ""));
                    reference::Machine machine = random_machine<TestType>(n, m, bounds, uniform);
                    for (int64_t i = 0; extreme && i < n; i++)
                        machine.x[i] = static_cast<Real>(special[i % static_cast<int64_t>(std::size(special))]);
                    Backend<TestType> backend(machine, n % 2, true, true);
                    cudaopt::ProductsRequest request(PanelRequest{0, 0, 0, false, true, true});
                    request.watches = request.older_steps = true;
                    request.update.anew = cudaopt::DiagonalUpdate::from_sizes;
                    const cudaopt::PanelProducts &sums = backend->inner_products(request);
                    const std::vector<double> learned = backend.fetch({HeldVector::diagonal});
                    for (int64_t i = 0; i < n; i++)
                        if (const double h = static_cast<Real>(request.update.first_weight(machine.x[i]));
                            learned[i] != h)
                            FAIL("h_" << i << " = " << learned[i] << ", not " << h);
                    machine.diagonal = learned;
                    if (!extreme) compare(machine, request, sums);
                }
}

// With many pairs, the kernel does not transfer variables together with the sums.
CONFIGURED_TEST_CASE("Windows of breakpoints are equivalent to the reference after sweep 1 with many pairs",
                     "[crossed]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(18);
    const int most = 30;
    const reference::Machine machine = random_machine<TestType>(1000, most, Bounds::both, uniform);
    Backend<TestType> backend(machine);
    for (const int pairs : {4, most}) {
        const PanelRequest request{pairs, pairs, 0, false, true, false};
        const double middle = middle_breakpoint(machine, request);
        INFO("pairs " << pairs);
        for (int time = 0; time < 3; time++) {
            backend->inner_products(request);
            compare(machine, request, 0, middle, backend->crossed(request, 0, middle));
        }
    }
}

} // namespace mathematics_inner_products
