// The generalised Cauchy point and the subspace minimiser are compared with dense ones in thousands of random boxes.
#include "model.hpp"

#include <algorithm>
#include <utility>

namespace mathematics_model {

using namespace mathematics;
using reference::Vector;
namespace panel = cudaopt::panel;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Tally {
    int all = 0, judged = 0, crossed = 0, overflows = 0, elsewhere = 0, beyond = 0;
};

// The growth of rounding errors in the model of an iterate. Rounding errors of p'M p are up to epsilon cond(M) |M|
// |p|^2 if M is scaled to a unit diagonal. With this scaling, p = W'd is of the size sqrt(theta) |d|, or larger if a
// pair has more curvature than theta.
struct Rounding {
    Number slopes = epsilon; // error of phi' and phi'', relative to those of theta I
    Number magnified = 1;    // factor by which errors of p grow in B^-1 p

    Rounding(const reference::Pairs &pairs, Number theta, const std::vector<bool> &free, int segments) {
        if (pairs.empty()) return;
        Number ratio = 1;
        for (const reference::Pair &pair : pairs)
            ratio = std::max(ratio, reference::dot(pair.y, pair.y) / reference::dot(pair.s, pair.y) / theta);
        const Vector scale = reference::middle_scale(pairs, theta);
        const auto middle = reference::conditioning(reference::inverse_middle(pairs, theta), scale);
        const auto reduced = reference::conditioning(reference::subspace_matrix(pairs, theta, free), scale);
        const Number width = 2 * static_cast<Number>(pairs.size());
        slopes = epsilon * middle.condition * middle.inverse_norm * ratio * width * (1 + segments);
        magnified = reduced.condition * ratio * width;
    }
};

bool same_free(const reference::Path &path, double threshold, const reference::CauchyPoint &expected) {
    for (std::size_t i = 0; i < path.breakpoints.size(); i++)
        if ((path.breakpoints[i] > threshold) != expected.free[i]) return false;
    return true;
}

void compare(Iterate &iterate, int64_t capacity, bool approximate, Tally &tally) {
    reference::Machine &machine = iterate.machine;
    const auto n = static_cast<int>(machine.n);
    const auto path = machine.path(iterate.panel);
    const auto pairs = iterate.pairs();
    const Number theta = iterate.theta();
    const auto hessian = iterate.hessian();
    tally.all++;
    reference::CauchyPoint expected = reference::cauchy_point(hessian, theta, path, approximate);
    if (!iterate.bounded()) { // without bounds, x is minimised over all variables without a Cauchy search
        expected.z.assign(n, 0);
        expected.t = expected.t_first = 0;
    }
    const Rounding rounding(pairs, theta, expected.free, static_cast<int>(expected.segments));
    const Number slack = 4 * rounding.slopes;
    if (!(slack < 1e-6L) || expected.margin < slack) return; // rounding errors may change a decision
    tally.judged++;

    if (iterate.bounded()) REQUIRE(iterate.factor());
    Search search(iterate, capacity, approximate);
    REQUIRE(search.state == cudaopt::CauchyState::found);
    const CauchySearch<0> &found = search.cauchy;
    const cudaopt::CauchyPoint &point = found.point();
    const int k = static_cast<int>(pairs.size());
    if (k > 0 && search.overflows > 0) {
        // The slope may change its sign more than once along the path. Bisection then finds a local minimiser that need
        // not be the first. The result is compared with the minimiser of the segment in which it lies.
        tally.overflows++;
        if (!same_free(path, point.threshold, expected)) {
            double beyond = 0;
            for (const double t : path.breakpoints)
                if (t < point.t) beyond = std::max(beyond, t);
            const Number t_first = expected.t_first;
            expected = reference::cauchy_point(hessian, theta, path, false, beyond);
            expected.t_first = t_first;
            tally.elsewhere++;
            if (expected.margin < slack) return;
        }
    }
    if (k > 0) {
        if (!same_free(path, point.threshold, expected))
            FAIL("other variables are free: t* = " << point.t << ", threshold " << point.threshold << ", not "
                                                   << expected.t << ", " << expected.threshold);
        CHECK(point.free_variables == expected.free_variables);
        CHECK(point.breakpoints_crossed == expected.passed);
        CHECK((search.overflows > 0 || point.segments == expected.segments));
        CHECK(point.crossed == (expected.passed > 0));
        tally.crossed += expected.passed > 0;
    }
    // If all variables have stopped, any t from the last breakpoint on gives the same point.
    const Number beyond = expected.moving == 0 ? std::max<Number>(point.t - expected.t, 0) : 0;
    const Number t_error = std::fabs(point.t - beyond - expected.t), t_tolerance = slack * expected.uncertainty;
    tally.beyond += beyond > t_tolerance;
    if (k > 0 && !(t_error <= t_tolerance))
        FAIL("t* = " << point.t << ", not " << expected.t << ", +- " << t_tolerance);
    if (expected.moving_at_start > 0 && !(std::fabs(point.t_first - expected.t_first) <= t_tolerance))
        FAIL("t_first = " << point.t_first);

    // c = W'(x_c - x) and p = W'd, d = -g on the free variables.
    const auto w = reference::basis(pairs, theta, n);
    const Number steep = reference::norm(path.g), way = reference::norm(expected.z) + expected.t * steep;
    for (int j = 0; j < 2 * k; j++) {
        Number c = 0, p = 0, size = 0;
        for (int i = 0; i < n; i++) {
            c += w(i, j) * expected.z[i];
            if (expected.free[i]) p -= w(i, j) * path.g[i];
            size += w(i, j) * w(i, j);
        }
        size = std::sqrt(size);
        const Number segments = 8 * n + 8 * expected.segments;
        const Number c_tolerance = size * (segments * epsilon * (way + beyond * steep) + t_tolerance * steep);
        const double found_c = point.crossed ? found.c()[j] : point.t * found.p()[j];
        if (!(std::fabs(found_c - c) <= c_tolerance))
            FAIL("c_" << j << " = " << found_c << ", not " << c << ", +- " << c_tolerance);
        if (!(std::fabs(found.p()[j] - p) <= segments * epsilon * size * steep))
            FAIL("p_" << j << " = " << found.p()[j] << ", not " << p);
    }

    // From the products over the free variables, the terms of the crossed variables were subtracted one by one.
    if (expected.free_variables == 0) return;
    cudaopt::PanelRequest at_threshold = iterate.panel_at_start();
    const reference::Products before = machine.inner_products(at_threshold);
    at_threshold.threshold = point.threshold;
    const reference::Products there = machine.inner_products(at_threshold);
    const int columns = panel::columns(k);
    const double *const gram =
        iterate.bounded() || iterate.panel.weighted ? search.cauchy.free_gram(*search.answer.sums) : nullptr;
    for (int i = 0; gram && k > 0 && i < columns; i++)
        for (int j = i; j < columns; j++) {
            const int at = panel::gram_index(i, j, columns);
            const bool of_pairs =
                i != panel::gradient && i != panel::displacement && j != panel::gradient && j != panel::displacement;
            if (of_pairs &&
                !(std::fabs(gram[at] - there.free_gram[at]) <= 2 * n * epsilon * before.free_gram_sizes[at]))
                FAIL("the product of columns " << i << " and " << j << " is " << gram[at] << ", not "
                                               << there.free_gram[at]);
        }

    const bool all_free = !iterate.bounded() || point.free_variables == n;
    const Vector minimiser = reference::subspace_minimiser(hessian, path.g, expected);
    const Number size = steep / theta + way;
    const Number tolerance = rounding.magnified * (2 * epsilon * size + t_tolerance * steep);
    if (!(tolerance <= 1e-6L * size)) return;
    REQUIRE(search.minimise(iterate.memory, all_free));
    const cudaopt::DirectionRequest request = search.direction();
    Vector sizes;
    const Vector move = machine.move(request, &sizes);
    const reference::Trial trial = machine.direction(request);
    for (int i = 0; i < n; i++) {
        const Number root = std::sqrt(static_cast<Number>(machine.weight(iterate.panel, i)));
        const Number wanted = root * minimiser[i], error = std::fabs(move[i] - wanted);
        if (k > 0 && expected.free[i]) {
            if (!(error <= root * tolerance))
                FAIL("variable " << i << " moves by " << move[i] << ", not by " << wanted << ", +- "
                                 << root * tolerance);
        }
        const Number x = machine.x[i],
                     to = std::min<Number>(std::max<Number>(x + wanted, machine.lower_of(i)), machine.upper_of(i));
        if (!(std::fabs(trial.d[i] - (to - x)) <= root * tolerance + 4 * epsilon * std::fabs(x)))
            FAIL("d_" << i << " = " << trial.d[i] << ", not " << to - x);
    }
}

bool crosses(Box box) { return box != Box::infinite && box != Box::far && box != Box::all_held; }

} // namespace

TEST_CASE("The Cauchy point and the subspace minimiser match dense ones in every kind of box", "[model]") {
    const int box = GENERATE(range(0, static_cast<int>(Box::count)));
    const bool weighted = GENERATE(false, true);
    Uniform uniform(100 + 2 * box + weighted);
    Tally tally;
    for (int repetition = 0; repetition < 1000; repetition++) {
        Shape shape = random_shape(uniform);
        shape.weighted = weighted;
        shape.own_theta = repetition % 2 == 0;
        if (weighted && repetition % 4 == 2) shape.kept = up_to(5, uniform);
        INFO(name_of(static_cast<Box>(box))
             << (weighted ? ", weighted" : "") << ", repetition " << repetition << ", n = " << shape.n);
        Iterate iterate(static_cast<Box>(box), shape, uniform);
        compare(iterate, cudaopt::crossed_capacity, repetition % 8 == 0, tally);
    }
    CHECK(tally.judged > 0.9 * tally.all);
    CHECK((tally.crossed > 0) == crosses(static_cast<Box>(box)));
    CHECK(tally.overflows == 0);
}

TEST_CASE("Bisection finds the Cauchy point if there are too many breakpoints to fetch", "[model]") {
    const int box = GENERATE(range(0, static_cast<int>(Box::count)));
    Uniform uniform(200 + box);
    Tally tally;
    for (int repetition = 0; repetition < 1000; repetition++) {
        Shape shape = random_shape(uniform);
        shape.weighted = repetition % 4 == 0;
        shape.own_theta = repetition % 8 == 0;
        const int capacity = up_to(3, uniform);
        INFO(name_of(static_cast<Box>(box)) << (shape.weighted ? ", weighted" : "") << ", repetition " << repetition
                                            << ", n = " << shape.n << ", capacity " << capacity);
        Iterate iterate(static_cast<Box>(box), shape, uniform);
        compare(iterate, capacity, false, tally);
    }
    CHECK(tally.judged > 0.9 * tally.all);
    CHECK((tally.overflows > 0) == crosses(static_cast<Box>(box)));
    CHECK(tally.elsewhere <= 0.01 * tally.overflows);
}

TEST_CASE("The Cauchy search continues with variables whose squares are lost in rounding g'g", "[model]") {
    Uniform uniform(500);
    Tally tally;
    for (int repetition = 0; repetition < 1000; repetition++) {
        Shape shape{2 + up_to(6, uniform), 2, 1 + repetition % 2, false, false, 1, 1};
        INFO("repetition " << repetition << ", n = " << shape.n);
        Iterate iterate(Box::boxed, shape, uniform);
        reference::Machine &machine = iterate.machine;
        // The first variable soon reaches its bound. The slope along the others is then dominated by the curvature of
        // the model between them and the first variable. This slope is much larger than the squares of their gradients
        // and than the rounding error of the square of the first one.
        for (int i = 0; i < shape.n; i++) {
            machine.x[i] = 0;
            machine.g[i] = i == 0 ? 1 : std::ldexp(between(-1, 1, uniform), -28);
            machine.upper[i] = 0.1 * (i == 0 ? 1 : between(2, 20, uniform) * std::fabs(machine.g[i]));
            machine.lower[i] = -machine.upper[i];
        }
        compare(iterate, cudaopt::crossed_capacity, false, tally);
    }
    CHECK(tally.judged > 0.9 * tally.all);
    CHECK(tally.crossed == tally.judged);
}

TEST_CASE("NaN and infinity are a breakdown of the Cauchy search and of the subspace minimisation", "[model]") {
    Uniform uniform(400);
    for (const double bad : {reference::infinity, std::numeric_limits<double>::quiet_NaN()}) {
        Iterate iterate(Box::boxed, {12, 4, 3, false, false, 1, 1}, uniform);
        REQUIRE(iterate.factor());
        reference::Products products = iterate.machine.inner_products(iterate.panel_at_start());
        const int columns = products.sums.columns;
        const auto with_bad = [&](int i, int j, auto &&check) {
            double &product = products.free_gram[panel::gram_index(std::min(i, j), std::max(i, j), columns)];
            const double good = std::exchange(product, bad);
            check();
            product = good;
        };
        Placed<CauchySearch<0>> cauchy(4);
        Placed<cudaopt::CompactMatrix<0>::Factors> system(4);
        double workspace[8], coefficients[panel::columns(4)];
        const auto begin = [&](bool approximate) {
            return cauchy.begin(iterate.memory, iterate.middle, iterate.panel_at_start(), products.sums, true,
                                approximate);
        };
        for (const int column : {panel::gradient, panel::y_column(0), panel::s_column(1)})
            with_bad(panel::gradient, column, [&] { CHECK(begin(false) == cudaopt::CauchyState::breakdown); });
        REQUIRE(begin(true) == cudaopt::CauchyState::found);
        const auto minimise = [&] {
            const CauchySearch<0> &path = cauchy;
            return cudaopt::minimise_subspace(iterate.memory, path.p(), nullptr, 0, products.free_gram.data(), system,
                                              workspace, coefficients);
        };
        CHECK(minimise());
        for (const int column : {panel::y_column(0), panel::s_column(1)})
            with_bad(column, column, [&] { CHECK_FALSE(minimise()); });
        CHECK(minimise());
    }
}

TEST_CASE("Products are formed again if hundreds of variables reach their bounds together", "[model]") {
    Uniform uniform(300);
    Tally tally;
    int gathers = 0;
    for (const int64_t capacity : {cudaopt::crossed_capacity, 100}) {
        for (int repetition = 0; repetition < 4; repetition++) {
            Shape shape{700, 3, 2 + repetition, false, repetition % 2 == 0, 1, 1};
            INFO("repetition " << repetition << ", capacity " << capacity);
            Iterate iterate(Box::tied, shape, uniform);
            compare(iterate, capacity, false, tally);
            REQUIRE(iterate.factor());
            gathers += Search(iterate, capacity, false).gathers;
        }
    }
    CHECK(tally.judged == tally.all);
    CHECK(tally.crossed == tally.all);
    CHECK(gathers > 0);
}

} // namespace mathematics_model
