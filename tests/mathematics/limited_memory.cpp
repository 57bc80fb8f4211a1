// The limited-memory matrix is compared with dense matrices that are formed from its pairs.
#include "iterate.hpp"

#include <algorithm>

namespace mathematics_limited_memory {

using Memory = cudaopt::CompactMatrix<0>;
using cudaopt::PanelRequest;
using namespace mathematics;
namespace panel = cudaopt::panel;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// A bound on the rounding errors of a factorisation and of two solves with up to 16 unknowns.
constexpr double rounding = 100 * epsilon;

reference::Vector random_basis(const reference::Vector &scale, Uniform &uniform) {
    reference::Vector v;
    for (const Number size : scale) v.push_back(static_cast<double>(size * between(-1, 1, uniform)));
    return v;
}

std::vector<double> as_doubles(const reference::Vector &v) { return std::vector<double>(v.begin(), v.end()); }

// Returns the largest |a_i - b_i| scale_i.
Number distance(const std::vector<double> &a, const reference::Vector &b, const reference::Vector &scale) {
    Number largest = 0;
    for (std::size_t i = 0; i < b.size(); i++) largest = std::max(largest, std::fabs(a[i] - b[i]) * scale[i]);
    return largest;
}

// Compares a'M b of two random vectors with a dense solution of the system with M^-1 in extended precision. Returns
// false if the condition number of M^-1 is too large for the comparison.
bool check_middle_form(Iterate &iterate, Uniform &uniform) {
    const int k = iterate.memory.pairs();
    const reference::Pairs pairs = iterate.pairs();
    const reference::Vector scale = reference::middle_scale(pairs, iterate.theta());
    const auto middle = reference::inverse_middle(pairs, iterate.theta());
    const auto conditioning = reference::conditioning(middle, scale);
    if (conditioning.condition > 1e8) return false;
    REQUIRE(iterate.factor());
    const reference::Vector a = random_basis(scale, uniform), b = random_basis(scale, uniform);
    std::vector<double> a_reduced = as_doubles(a), b_reduced = as_doubles(b);
    iterate.memory.reduce_by_middle(iterate.middle, a_reduced.data());
    iterate.memory.reduce_by_middle(iterate.middle, b_reduced.data());
    const Number expected = reference::dot(a, reference::solve(middle, b));
    const Number size = 2 * k * conditioning.inverse_norm;
    const Number error =
        std::fabs(iterate.memory.middle_form(iterate.middle, a_reduced.data(), b_reduced.data()) - expected);
    if (!(error <= rounding * conditioning.condition * size)) FAIL("a'M b is wrong by " << error << " of " << size);
    return true;
}

int free_at_random(std::vector<bool> &free, Uniform &uniform) {
    int count = 0;
    for (std::size_t i = 0; i < free.size(); i++) count += free[i] = uniform() < 0.5;
    return count;
}

} // namespace

TEST_CASE("The compact and the recursive formula give the same Hessian approximation", "[reference]") {
    Uniform uniform(1);
    for (int repetition = 0; repetition < 500; repetition++) {
        Shape shape = random_shape(uniform);
        shape.n += 8; // the history has at most 8 pairs, whose steps have to be linearly independent
        const Iterate iterate(Box::infinite, shape, uniform);
        const int n = shape.n;
        const reference::Pairs pairs = iterate.pairs();
        const reference::Matrix compact = reference::compact_hessian(pairs, iterate.theta(), n),
                                recursive = reference::recursive_hessian(pairs, iterate.theta(), n);
        Number largest = 0, error = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                largest = std::max(largest, std::fabs(recursive(i, j)));
                error = std::max(error, std::fabs(recursive(i, j) - compact(i, j)));
            }
        if (!(error <= 1e-12L * largest)) FAIL("the two formulas differ by " << error << " of " << largest);
    }
}

TEST_CASE("The history contains the newest m pairs in slots that are used cyclically", "[memory]") {
    Uniform uniform(2);
    for (int m = 1; m <= 8; m++) {
        Placed<Memory> memory(m);
        reference::Machine machine(4, m, 64, 64);
        memory.drop_pairs(false);
        CHECK(memory.capacity() == m);
        for (int seen = 1; seen <= 3 * m + 2; seen++) {
            INFO("m = " << m << ", " << seen << " pairs appended");
            const int spare = memory.spare_slot(), before = memory.pairs();
            const PanelRequest tentative = memory.tentative_panel();
            CHECK(tentative.pairs == std::min(before + 1, m));
            CHECK(tentative.newest_slot == spare);
            CHECK((tentative.fresh && tentative.free_gram && !tentative.weighted && tentative.threshold == 0));
            for (int i = 0; i < 4; i++) {
                machine.g[i] = seen + between(0.1, 1, uniform);
                machine.s[spare][i] = between(0.1, 1, uniform);
                machine.y[spare][i] = seen;
            }
            memory.append(machine.inner_products(tentative).sums, 2, cudaopt::no_weights, 1, true);
            CHECK(memory.pairs() == std::min(seen, m));
            CHECK(memory.newest_slot() == spare);
            CHECK(memory.spare_slot() != spare);
            const PanelRequest stored = memory.stored_panel();
            CHECK(stored.pairs == memory.pairs());
            CHECK(stored.newest_slot == spare);
            CHECK((!stored.fresh && stored.free_gram && !stored.weighted && stored.threshold == 0));
            std::vector<bool> taken(m + 1);
            for (int pair = 0; pair < memory.pairs(); pair++) {
                const int slot = memory.slot(pair);
                REQUIRE((slot >= 0 && slot <= m));
                CHECK(slot == machine.slot(stored, memory.pairs() - 1 - pair));
                CHECK_FALSE(taken[slot]);
                taken[slot] = true;
            }
            CHECK_FALSE(taken[memory.spare_slot()]);
        }
    }
}

TEST_CASE("theta is kept on request if pairs are dropped and is reset if the history is cleared", "[memory]") {
    Uniform uniform(3);
    Shape shape{5, 3, 4, false, false, 8, 1};
    Iterate iterate(Box::infinite, shape, uniform);
    Memory &memory = iterate.memory;
    const double theta = memory.theta();
    const int spare = memory.spare_slot();
    REQUIRE(theta != 1);
    memory.drop_pairs(true);
    CHECK(memory.pairs() == 0);
    CHECK(memory.theta() == theta);
    CHECK(memory.spare_slot() == spare);
    memory.set_scale(3);
    CHECK(memory.theta() == 3);
    memory.drop_pairs(false);
    CHECK(memory.theta() == 1);
    memory.set_scale(3);
    memory.drop_pairs(false);
    CHECK(memory.theta() == 1);
    CHECK(memory.factor(iterate.middle));
}

TEST_CASE("A history whose pairs were dropped gives the same results as a new one", "[memory]") {
    Uniform uniform(4);
    for (int m = 1; m <= 4; m++) {
        Iterate iterate(Box::infinite, {9, m, 2 * m + 1, false, false, 1, 1}, uniform);
        Placed<Memory> fresh(m);
        Placed<Memory::Factors> fresh_middle(m);
        fresh.drop_pairs(false);
        iterate.memory.drop_pairs(false);
        reference::Machine machine(9, m, 64, 64);
        for (int k = 0; k <= m; k++) {
            const int slot = k % (m + 1); // both histories get the same columns, although their slots may differ
            for (int i = 0; i < 9; i++) {
                machine.s[slot][i] = between(-1, 1, uniform);
                machine.y[slot][i] = (1 + i % 2) * machine.s[slot][i];
            }
            for (Memory *memory : {static_cast<Memory *>(&iterate.memory), static_cast<Memory *>(&fresh)})
                memory->append(
                    machine.inner_products({memory->tentative_panel().pairs, slot, 0, false, true, false}).sums, 0.5,
                    cudaopt::no_weights, 1, true);
        }
        REQUIRE(iterate.memory.pairs() == fresh.pairs());
        CHECK(iterate.memory.theta() == fresh.theta());
        REQUIRE(iterate.memory.factor(iterate.middle));
        REQUIRE(fresh.factor(fresh_middle));
        std::vector<double> a(2 * m, 1), b(2 * m, 1);
        iterate.memory.reduce_by_middle(iterate.middle, a.data());
        fresh.reduce_by_middle(fresh_middle, b.data());
        CHECK(a == b);
    }
}

TEST_CASE("The products of a pair are usable if they and their quotients are normal numbers", "[memory]") {
    constexpr double largest = std::numeric_limits<double>::max(), nan = std::numeric_limits<double>::quiet_NaN();
    struct {
        double yy, ys, ss, step;
        bool usable;
    } const cases[] = {
        {4, 2, 1, 1, true},
        {4, 2, 1, 1e-100, true},
        {4, -2, 1, 1, true}, // the caller of usable() checks the sign of the curvature
        {4, 0, 1, 1, false},
        {0, 2, 1, 1, false},
        {4, 2, 0, 1, false},
        {4, nan, 1, 1, false},
        {nan, 2, 1, 1, false},
        {4, 2, nan, 1, false},
        {reference::infinity, 2, 1, 1, false},
        {4, 2, reference::infinity, 1, false},
        {4, 1e-310, 1, 1, false},
        {4, 2, 1e-310, 1, false},
        {4, 2, 1, 1e-160, false},
        {largest, 1e-2, 1, 1, false},
        {1e-300, 1e300, 1, 1, false},
        {4, 2, 1e200, 1e60, false},
        {4, 2, 1, 1e-150, true},
    };
    for (const auto &c : cases) {
        INFO("y'y = " << c.yy << ", y'd = " << c.ys << ", d'd = " << c.ss << ", step " << c.step);
        double full[4 * 4] = {};
        full[0] = c.yy, full[1] = full[4] = c.ys, full[5] = c.ss;
        cudaopt::PanelProducts sums{};
        sums.columns = 4;
        sums.leading_products = full;
        CHECK(Memory::usable(sums, c.step) == c.usable);
    }
}

TEST_CASE("theta and W and products with M match the stored pairs", "[memory]") {
    Uniform uniform(5);
    int judged = 0;
    for (int repetition = 0; repetition < 4000; repetition++) {
        Shape shape = random_shape(uniform);
        shape.weighted = repetition % 4 == 0;
        shape.own_theta = repetition % 8 == 0;
        if (shape.own_theta) shape.kept = up_to(5, uniform);
        Iterate iterate(Box::infinite, shape, uniform);
        Memory &memory = iterate.memory;
        const int k = memory.pairs(), columns = panel::columns(k);
        if (k == 0) continue;
        INFO("repetition " << repetition << ", n = " << shape.n << ", m = " << shape.m << ", pairs " << k);
        if (!shape.weighted || shape.own_theta) {
            const double theta = memory.theta(), expected = static_cast<double>(reference::scale_of(iterate.pairs()));
            if (!(std::fabs(theta - expected) <= 8 * epsilon * expected))
                FAIL("theta = " << theta << ", not " << expected);
            const auto stiffest = iterate.pairs()[static_cast<std::size_t>(memory.stiffest_pair())];
            for (const auto &pair : iterate.pairs())
                CHECK(reference::scale_of({pair}) <= (1 + 1e-9L) * reference::scale_of({stiffest}));
        }
        const reference::Pairs pairs = iterate.pairs();
        const Number theta = iterate.theta();
        if (!check_middle_form(iterate, uniform)) continue;
        judged++;
        CHECK((!shape.weighted || shape.own_theta || memory.theta() == 1));

        const reference::Vector a = random_basis(reference::middle_scale(pairs, theta), uniform);
        const auto w = reference::basis(pairs, theta, shape.n);
        std::vector<double> entries(columns), row(2 * k), back(columns);
        for (int j = 0; j < columns; j++)
            if (j != panel::gradient && j != panel::displacement)
                entries[j] = static_cast<double>(iterate.machine.column(iterate.panel, j)[0]);
        memory.to_basis(entries.data(), row.data());
        for (int j = 0; j < 2 * k; j++)
            if (!(std::fabs(row[j] - w(0, j)) <= 8 * epsilon * std::fabs(w(0, j))))
                FAIL("column " << j << " of the first row of W is " << row[j] << ", not " << w(0, j));
        memory.to_panel(as_doubles(a).data(), back.data());
        Number there = 0, here = 0, sizes = 0;
        for (int j = 0; j < columns; j++) there += static_cast<Number>(back[j]) * entries[j];
        for (int j = 0; j < 2 * k; j++) here += a[j] * row[j], sizes += std::fabs(a[j] * row[j]);
        if (!(std::fabs(there - here) <= 8 * epsilon * sizes))
            FAIL("the product with the coefficients of the panel is " << there << ", not " << here);
    }
    CHECK(judged > 3000);
}

TEST_CASE("A history with weighted products can load unweighted products", "[memory]") {
    Uniform uniform(7);
    int judged = 0;
    for (int repetition = 0; repetition < 1000; repetition++) {
        Shape shape = random_shape(uniform);
        shape.weighted = true;
        shape.own_theta = repetition % 2 == 0;
        Iterate iterate(Box::infinite, shape, uniform);
        if (iterate.memory.pairs() == 0) continue;
        CHECK_FALSE(iterate.memory.is_unscaled());
        iterate.panel.weighted = false;
        PanelRequest all = iterate.panel;
        all.threshold = -1;
        all.free_gram = true;
        iterate.memory.load_unscaled(iterate.machine.inner_products(all).sums);
        INFO("repetition " << repetition << ", n = " << shape.n << ", pairs " << iterate.memory.pairs());
        CHECK(iterate.memory.is_unscaled());
        const double expected = static_cast<double>(reference::scale_of(iterate.pairs()));
        CHECK(std::fabs(iterate.theta() - expected) <= 8 * epsilon * expected);
        judged += check_middle_form(iterate, uniform);
    }
    CHECK(judged > 700);
}

TEST_CASE("Systems with K are solved for any free variables and without factorisation for all", "[memory]") {
    Uniform uniform(6);
    int judged = 0;
    for (int repetition = 0; repetition < 4000; repetition++) {
        Shape shape = random_shape(uniform);
        const bool all = repetition % 3 == 0;
        shape.weighted = repetition % 4 == 0;
        shape.own_theta = repetition % 8 == 0;
        if (shape.own_theta) shape.kept = up_to(5, uniform);
        Iterate iterate(Box::boxed, shape, uniform);
        Memory &memory = iterate.memory;
        Placed<Memory::Factors> system(shape.m);
        const int k = memory.pairs();
        if (k == 0 || !iterate.factor()) continue;
        std::vector<bool> free(shape.n, true);
        if (!all) free_at_random(free, uniform);
        for (int i = 0; i < shape.n; i++)
            if (!free[i]) iterate.machine.lower[i] = iterate.machine.upper[i] = iterate.machine.x[i];
            else iterate.machine.lower[i] = -reference::infinity, iterate.machine.upper[i] = reference::infinity;
        const reference::Pairs pairs = iterate.pairs();
        const reference::Vector scale = reference::middle_scale(pairs, iterate.theta());
        const auto matrix = reference::subspace_matrix(pairs, iterate.theta(), free);
        const auto conditioning = reference::conditioning(matrix, scale);
        if (!(conditioning.condition <= 1e8)) continue;
        judged++;
        INFO("repetition " << repetition << ", n = " << shape.n << ", pairs " << k << (all ? ", all free" : ""));
        const reference::Vector right = random_basis(scale, uniform);
        const reference::Vector expected = reference::solve(matrix, right);
        const Number size = 2 * k * conditioning.inverse_norm * conditioning.condition;
        std::vector<double> solution = as_doubles(right);
        const reference::Products products = iterate.machine.inner_products(iterate.panel);
        REQUIRE(memory.solve_subspace(system, products.free_gram.data(), solution.data()));
        // K contains theta S'S minus its part over the free variables. If all variables are free, only rounding errors
        // of this difference remain.
        Number error = distance(solution, expected, scale);
        if (!(error <= rounding * size)) FAIL("the solution is wrong by " << error << " of " << size);
        if (!all) continue;
        iterate.take_free(iterate.panel_at_start()); // all variables have become free by the change of the bounds
        solution = as_doubles(right);
        memory.apply_full_space_inverse(solution.data());
        error = distance(solution, expected, scale);
        if (!(error <= rounding * size))
            FAIL("the solution without a factorisation is wrong by " << error << " of " << size);
    }
    CHECK(judged > 2500);
}

} // namespace mathematics_limited_memory
