// Products over the free variables that are updated from one iterate to the next one match those that a sweep forms.
#include <algorithm>

#include "../support/forwarded_sweeps.hpp"
#include "backend.hpp"
#include "iterate.hpp"
#include "lbfgsb/free_gram.hpp"
#include "solver/solver.hpp"

namespace mathematics_free_gram {

using namespace mathematics;
using cudaopt::FreeGram;
using cudaopt::PanelRequest;
using cudaopt_test::skipped;
namespace panel = cudaopt::panel;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// ---- the sweep

// Returns the machine at x_base. Its g is the gradient at x_base, which the slot of the fresh pair contains.
reference::Machine at_base(const reference::Machine &machine, const PanelRequest &request) {
    reference::Machine base = machine;
    base.x = machine.x_base;
    base.g = machine.y[static_cast<std::size_t>(request.newest_slot)];
    return base;
}

// Compares the changes with differences of two full products. Returns the number of variables that are free at only one
// of the two points.
int64_t compare_changes(const reference::Machine &machine, PanelRequest request,
                        const cudaopt::PanelProducts &changes) {
    const reference::Machine base = at_base(machine, request);
    request.free_changes = false;
    const reference::Products now = machine.inner_products(request), before = base.inner_products(request);
    const int columns = panel::columns(request.pairs);
    REQUIRE(changes.columns == columns);
    const double of_sums = 128 * epsilon;
    for (int i = 0; i < columns; i++)
        for (int j = i; j < columns; j++) {
            const int at = panel::gram_index(i, j, columns);
            const bool older = i >= panel::leading;
            const double should = now.free_gram[at] - (older ? before.free_gram[at] : 0),
                         size = now.free_gram_sizes[at] + (older ? before.free_gram_sizes[at] : 0),
                         relative = of_sums + (i == 0 || j == 0 ? machine.history.epsilon : 0);
            if (std::isnan(should)) continue; // products with z are not set
            if (!(std::fabs(changes.over_free(i, j) - should) <= relative * size))
                FAIL("columns " << i << " and " << j << " change by " << changes.over_free(i, j) << ", not " << should
                                << ", of " << size);
        }
    for (int i = 0; i < panel::leading; i++)
        for (int j = 0; j < columns; j++) {
            const double size = now.leading_sizes[i * columns + j];
            if (std::isnan(now.leading_products[i * columns + j])) continue; // products with z are not set
            CHECK(std::fabs(changes.over_all(i, j) - now.leading_products[i * columns + j]) <=
                  (of_sums + (i == 0 || j == 0 ? machine.history.epsilon : 0)) * size);
        }
    CHECK(changes.variable_sums[cudaopt::free_variables] == now.sums.variable_sums[cudaopt::free_variables]);
    int64_t changed = 0;
    for (int64_t i = 0; i < machine.n; i++)
        changed += (machine.breakpoint(request, i) > 0) != (base.breakpoint(request, i) > 0);
    return changed;
}

} // namespace

CONFIGURED_TEST_CASE("Sweep 1 forms the changes of the products over the free variables", "[inner products]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Uniform uniform(61);
    for (const auto &[n, pairs] :
         {std::pair<int64_t, int>{1, 2}, {7, 3}, {100, 2}, {127, 5}, {129, 4}, {1000, 25}, {40000, 4}, {300, 80}}) {
        if (Backend<TestType>::too_large(n)) continue;
        reference::Machine machine = random_machine<TestType>(n, pairs, Bounds::both, uniform);
        const int newest = pairs / 2;
        PanelRequest request{pairs, newest, 0, true, true, false};
        request.free_changes = true;
        // The point differs from x_base in all variables, then only in the first three and the last three, and is then
        // x_base itself.
        for (const int64_t differing : {n, int64_t{3}, int64_t{0}}) {
            for (int64_t i = differing; i < n - differing; i++)
                machine.x_base[i] = machine.x[i], machine.y[newest][i] = machine.g[i];
            if (differing == 0) machine.x_base = machine.x, machine.y[newest] = machine.g;
            Backend<TestType> backend(machine);
            if (!backend->forms_free_changes()) return;
            backend.store_g_base(machine, newest);
            for (const bool weighted : {false, true}) {
                INFO("n = " << n << ", " << pairs << " pairs, variables at each end that differ from x_base: "
                            << differing << (weighted ? ", weighted" : ""));
                request.weighted = weighted;
                const cudaopt::PanelProducts &changes = backend->inner_products(request);
                const int64_t changed = compare_changes(machine, request, changes);
                if (differing == n && n > 100) CHECK(changed > n / 10);
                if (differing > 0) continue;
                CHECK(changed == 0);
                for (int j = panel::leading; j < changes.columns; j++) CHECK(changes.over_free(j, j) == 0);
            }
        }
    }
}

// ---- the update

namespace {

// The columns of all pairs so far, newest last, from which the products of a panel over the free variables are formed.
struct Columns {
    int n, pairs;
    std::vector<std::vector<double>> y, s;
    std::vector<double> g;

    std::vector<double> column(int j) const {
        if (j == panel::gradient) return g;
        if (j == panel::displacement) return std::vector<double>(static_cast<std::size_t>(n), 0.0);
        const auto &of = panel::inverse(j) ? s : y;
        return of[of.size() - 1 - static_cast<std::size_t>(panel::age(j))];
    }
    // Returns the sums of sign_i a_i b_i, computed in extended precision. Products of two older columns use of_older
    // instead of sign.
    std::vector<double> products(const std::vector<double> &sign, const std::vector<double> &of_older) const {
        const int columns = panel::columns(pairs);
        std::vector<double> all;
        for (int i = 0; i < columns; i++)
            for (int j = i; j < columns; j++) {
                const std::vector<double> a = column(i), b = column(j), &by = i < panel::leading ? sign : of_older;
                Number sum = 0;
                for (int r = 0; r < n; r++) sum += Number(by[r]) * a[r] * b[r];
                all.push_back(static_cast<double>(sum));
            }
        return all;
    }
    void append(Uniform &uniform) {
        for (auto *of : {&y, &s}) {
            of->emplace_back();
            for (int r = 0; r < n; r++) of->back().push_back(between(-1, 1, uniform));
        }
        g.clear();
        for (int r = 0; r < n; r++) g.push_back(between(-1, 1, uniform));
    }
};

cudaopt::PanelProducts reply_of(const Columns &columns, const std::vector<double> &products) {
    cudaopt::PanelProducts sums{};
    sums.columns = panel::columns(columns.pairs);
    sums.free_gram = products.data();
    return sums;
}

} // namespace

TEST_CASE("Updated products over the free variables match those of the new panel", "[free gram]") {
    Uniform uniform(62);
    for (const int m : {21, 25, 80}) {
        Placed<FreeGram> gram(m);
        Columns columns{12, 20, {}, {}, {}};
        for (int pair = 0; pair < 20; pair++) columns.append(uniform);
        std::vector<double> free(12, 1.0);
        free[3] = free[7] = 0;
        const std::vector<double> first = columns.products(free, free);
        gram.store(reply_of(columns, first), 20, 5);
        CHECK(gram.serves(20, 5));
        CHECK_FALSE(gram.serves(20, 6)); // number of another diagonal
        CHECK_FALSE(gram.serves(21, 5));
        for (int iterate = 0; iterate < (m == 80 ? 100 : 60); iterate++) {
            INFO("m = " << m << ", iterate " << iterate);
            const PanelRequest next{std::min(columns.pairs + 1, m), 0, 0, true, true, true};
            REQUIRE(gram.can_update(next, columns.pairs, 5));
            columns.append(uniform);
            columns.pairs = next.pairs;
            std::vector<double> sign(12, 0.0);
            for (int r = 0; r < 12; r++) {
                const double now = uniform() < 0.3 && r > 1 ? 1 - free[r] : free[r];
                sign[r] = now - free[r], free[r] = now;
            }
            const std::vector<double> changes = columns.products(free, sign), should = columns.products(free, free);
            REQUIRE(gram.update(reply_of(columns, changes)));
            CHECK(gram.serves(columns.pairs, 5));
            // An element is updated at most m times, and its absolute value is below 12.
            for (std::size_t k = 0; k < should.size(); k++)
                if (!(std::fabs(gram.data()[k] - should[k]) <= m * 12 * epsilon))
                    FAIL("product " << k << " is " << gram.data()[k] << ", not " << should[k]);
        }
    }
}

TEST_CASE("Products are not updated if digits would cancel or if the panel is not the next one", "[free gram]") {
    Uniform uniform(63);
    for (const double left : {0x1p-9, 0x1p-11}) { // the squares 2^-18 and 2^-22 are above and below the limit of 2^-20
        Placed<FreeGram> gram(25);
        Columns columns{2, 22, {}, {}, {}};
        for (int pair = 0; pair < 22; pair++) {
            columns.append(uniform);
            columns.s.back() = columns.y.back() = {1, left};
        }
        const std::vector<double> both = columns.products({1, 1}, {1, 1});
        gram.store(reply_of(columns, both), 22, 0);
        columns.append(uniform);
        columns.pairs = 23;
        const std::vector<double> changes = columns.products({0, 1}, {-1, 0}); // the first variable becomes active
        CHECK(gram.update(reply_of(columns, changes)) == (left == 0x1p-9));
        CHECK(gram.serves(23, 0) == (left == 0x1p-9));
    }
    { // A variable with large elements becomes free and is active again at the next iterate.
        Placed<FreeGram> gram(25);
        Columns columns{2, 22, {}, {}, {}};
        for (int pair = 0; pair < 24; pair++) {
            columns.append(uniform);
            columns.s.back() = columns.y.back() = {0x1p12, 1};
            if (pair < 21) continue;
            columns.pairs = pair + 1;
            const std::vector<double> products = pair == 21   ? columns.products({0, 1}, {0, 1})
                                                 : pair == 22 ? columns.products({1, 1}, {1, 0})
                                                              : columns.products({0, 1}, {-1, 0});
            if (pair == 21) gram.store(reply_of(columns, products), 22, 0);
            else CHECK(gram.update(reply_of(columns, products)) == (pair == 22));
        }
    }
    Placed<FreeGram> gram(25);
    Columns columns{2, 22, {}, {}, {}};
    for (int pair = 0; pair < 23; pair++) columns.append(uniform);
    const std::vector<double> both = columns.products({1, 1}, {1, 1});
    gram.store(reply_of(columns, both), 22, 0);
    PanelRequest next{23, 0, 0, true, true, false};
    CHECK(gram.can_update(next, 22, 0));
    next.fresh = false; // not a trial point
    CHECK_FALSE(gram.can_update(next, 22, 0));
    next = {23, 0, 0.5, true, true, false};
    CHECK_FALSE(gram.can_update(next, 22, 0));
    next = {20, 0, 0, true, true, false}; // with so few pairs, the products are formed in full
    CHECK_FALSE(gram.can_update(next, 22, 0));
    next = {23, 0, 0, true, true, false};
    next.older_steps = true; // the weights have changed
    CHECK_FALSE(gram.can_update(next, 22, 0));
    columns.pairs = 23;
    std::vector<double> changes = columns.products({1, 1}, {0, 0});
    changes.back() = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(gram.update(reply_of(columns, changes)));
    CHECK_FALSE(gram.can_update(next, 23, 0));
    columns.pairs = 19;
    const std::vector<double> few = columns.products({1, 1}, {1, 1});
    gram.store(reply_of(columns, few), 19, 0);
    CHECK_FALSE(gram.serves(19, 0));
}

// ---- whole solves

namespace {

struct Counts {
    int64_t full = 0, changes = 0;
};

// The sweeps of the host, which form the changes only if forms_changes is set.
class Watched final : public cudaopt_test::ForwardedSweeps {
  public:
    static inline bool forms_changes = true;
    static inline Counts counts;
    explicit Watched(int64_t n) : ForwardedSweeps(cudaopt::make_host_sweeps<double, double>(n)) {}
    bool forms_free_changes() const override { return forms_changes; }
    const cudaopt::PanelProducts &inner_products(const cudaopt::ProductsRequest &request) override {
        if (request.pairs > FreeGram::most_pairs_anew) (request.free_changes ? counts.changes : counts.full)++;
        return ForwardedSweeps::inner_products(request);
    }
    static std::unique_ptr<cudaopt::Sweeps> make(int, int64_t n, int, int) { return std::make_unique<Watched>(n); }
};

struct Solve {
    std::vector<double> f;
    Counts counts;
    int64_t skipped = 0;
};
// Runs a solve of the given number of iterations. If `further` > 0, it is followed by a warm start from another point
// and by this number of iterations.
Solve solve(const cudaopt_test::Problem &problem, int m, int64_t metric, bool forms_changes, int64_t further,
            int64_t before = 100) {
    Watched::forms_changes = forms_changes;
    Watched::counts = {};
    Solve made;
    cudaopt_test::Vector x = problem.start, g(problem.start.size());
    double f = 0;
    cudaopt::Solver solver(problem.size(), m, 64, CUDA_OPT_BACKEND_HOST, -1, Watched::make);
    solver.arrays = {x.data(), g.data(), &f, problem.lower.data(), problem.upper.data(), nullptr};
    solver.settings().metric = metric;
    solver.settings().report_iterates = true;
    solver.settings().eps = solver.settings().factr = 0;
    for (const int64_t iterations : {before, further}) {
        solver.settings().max_iterations = iterations;
        for (int task = solver.resume(); task > 0; task = solver.resume())
            if (task == CUDA_OPT_EVALUATE_FG) f = problem.evaluate(x, g);
            else made.f.push_back(f);
        if (iterations == further) break;
        made.counts = Watched::counts;
        made.skipped = solver.results().skipped_updates;
        if (further == 0) break;
        solver.warm_start();
        for (std::size_t i = 0; i < x.size(); i++) x[i] = (x[i] + problem.start[i]) / 2;
    }
    return made;
}

// Solves the problem with updated products and without, and compares f at each iterate. Rounding errors grow along the
// path. The comparison therefore ends where a start that is moved by rounding errors has changed f by a hundredth of
// the tolerance.
Solve check_same_path(cudaopt_test::Problem problem, int m, int64_t metric, int64_t further) {
    const Solve anew = solve(problem, m, metric, false, further), updated = solve(problem, m, metric, true, further);
    for (double &x : problem.start) x *= 1 + 1e-15;
    const Solve moved = solve(problem, m, metric, false, further);
    CHECK(anew.counts.changes == 0);
    const std::size_t iterations = std::min({updated.f.size(), anew.f.size(), moved.f.size()});
    std::size_t k = 0;
    for (; k < iterations && std::fabs(moved.f[k] - anew.f[k]) <= 1e-11 * std::fabs(anew.f[k]); k++) {
        INFO("iteration " << k + 1);
        CHECK(std::fabs(updated.f[k] - anew.f[k]) <= 1e-9 * std::fabs(anew.f[k]));
    }
    CHECK(k >= 30); // the products are updated from iteration 21 on
    if (m <= FreeGram::most_pairs_anew) CHECK(updated.f == anew.f);
    return updated;
}

} // namespace

// In the first 20 iterations the history has so few pairs that all products are formed in full.
TEST_CASE("A solve that updates the products has the same f at each iterate", "[free gram]") {
    using cudaopt::Metric;
    const cudaopt_test::Problem problem = cudaopt_test::torsion(50, 51);
    for (const int m : {20, 25, 80})
        for (const int64_t metric : {Metric::one_number, Metric::learned}) {
            INFO("m = " << m << ", initial Hessian " << metric);
            const Solve updated = check_same_path(problem, m, metric, 8);
            if (m == 20) {
                CHECK(updated.counts.changes == 0);
                continue;
            }
            // The products are updated at all further iterates, except at those where the diagonal has changed.
            CHECK(updated.counts.changes >= (metric == Metric::learned ? 20 : 25));
            CHECK(updated.counts.full <= (metric == Metric::learned ? 15 : 3));
        }
}

// The kept products have the number of pairs and the diagonal of the first model after the warm start, but belong to
// another point. With them, f at the first iterate would be larger by 4 %.
TEST_CASE("Products of the last iterate are not used after a warm start from another point", "[free gram]") {
    using cudaopt::Metric;
    constexpr int64_t before = 24, further = 3; // so few iterations that rounding errors remain small
    const cudaopt_test::Problem problem = cudaopt_test::torsion(50, 51);
    for (const int64_t metric : {Metric::one_number, Metric::learned}) {
        INFO("initial Hessian " << metric);
        const Solve anew = solve(problem, 25, metric, false, further, before),
                    updated = solve(problem, 25, metric, true, further, before);
        CHECK(updated.counts.changes > 0);
        REQUIRE(anew.f.size() == before + further);
        REQUIRE(updated.f.size() == before + further);
        for (std::size_t k = before; k < anew.f.size(); k++)
            CHECK(std::fabs(updated.f[k] - anew.f[k]) <= 1e-8 * std::fabs(anew.f[k]));
    }
}

TEST_CASE("Products are formed in full after a skipped pair", "[free gram]") {
    using namespace cudaopt_test;
    int64_t full = 0;
    for (uint64_t boxes = 3; full == 0 && boxes < 20; boxes++) // until a pair is skipped late enough
        for (const Problem &problem : {extended_wood(300), extended_powell(300), extended_beale(300)}) {
            INFO(problem.name << " in boxes " << boxes);
            const Solve updated = check_same_path(in_random_boxes(problem, boxes), 25, 0, 0);
            CHECK(updated.counts.changes > 30);
            CHECK(updated.counts.full <= updated.skipped); // a pair may be skipped while the history has few pairs
            full += updated.counts.full;
        }
    CHECK(full > 0);
}

} // namespace mathematics_free_gram
