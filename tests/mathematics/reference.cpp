#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

using cudaopt::CrossedVariable;
using cudaopt::DirectionRequest;
using cudaopt::PanelRequest;
namespace panel = cudaopt::panel;

namespace {

bool is_y(int column) { return column % 2 == 0 && column != panel::gradient; }
int age_of(int column) { return column < panel::leading ? 0 : (column - panel::leading) / 2 + 1; }

// Returns P(x), limited to the numbers that can be stored. If x is NaN, the result is `from`.
Number place(Number x, Number from, Number l, Number u, Number largest) {
    if (std::isnan(x)) return from;
    return std::min(std::max(std::min(std::max(x, l), u), -largest), largest);
}

Number longest(Number x, Number d, Number l, Number u) {
    return d < 0 ? (l - x) / d : d > 0 ? (u - x) / d : static_cast<Number>(infinity);
}

} // namespace

// bfloat16 has the same exponents as float.
Precision::Precision(int bits_)
    : bits(bits_), digits(bits == 64   ? 53
                          : bits == 32 ? 24
                                       : 8),
      epsilon(std::ldexp(1.0, 1 - digits)), largest(std::ldexp(2 - epsilon, bits == 64 ? 1023 : 127)) {}

// Returns the unit in the last place.
Number Precision::unit_of(Number v) const {
    constexpr int of_smallest_normal = -125; // the exponent that frexp returns for 2^-126
    int exponent = of_smallest_normal;
    if (v != 0) std::frexp(v, &exponent);
    return std::ldexp(Number(1), std::max(exponent, of_smallest_normal) - digits);
}

double Precision::stored(Number v) const {
    if (bits != 64) v = static_cast<float>(v); // the backends also round to float before they round to bfloat16
    if (bits != 16 || v == 0 || !std::isfinite(v)) return static_cast<double>(v);
    const Number unit = unit_of(v), rounded = std::nearbyint(v / unit) * unit;
    return std::fabs(rounded) > largest ? std::copysign(infinity, static_cast<double>(v))
                                        : static_cast<double>(rounded);
}

double Precision::next_away_from_zero(double v) const { return v + std::copysign(static_cast<double>(unit_of(v)), v); }

Machine::Machine(int64_t n_, int m_, int bits, int history_bits)
    : caller(bits), history(history_bits), n(n_), m(m_), x(n), g(n), s(m + 1, std::vector<double>(n)), y(s), x_base(n) {
}

bool Machine::is_active(int64_t i) const {
    return (x[i] <= lower_of(i) && g[i] >= 0) || (x[i] >= upper_of(i) && g[i] <= 0) || lower_of(i) == upper_of(i);
}

double Machine::breakpoint(const PanelRequest &panel, int64_t i) const {
    if (is_active(i)) return 0;
    if (g[i] == 0) return infinity;
    const double slope = weight(panel, i) * g[i];
    return (x[i] - (g[i] < 0 ? upper_of(i) : lower_of(i))) / slope;
}

Number Machine::projected_gradient(int64_t i) const {
    const Number to = static_cast<Number>(x[i]) - g[i];
    return x[i] - std::min<Number>(std::max<Number>(to, lower_of(i)), upper_of(i));
}

Vector Machine::column(const PanelRequest &panel, int j) const {
    Vector v(n);
    const int age = age_of(j);
    for (int64_t i = 0; i < n; i++) {
        const Number root = std::sqrt(static_cast<Number>(weight(panel, i)));
        if (j == panel::gradient) {
            v[i] = root * g[i];
        } else if (j == panel::displacement) {
            const double t = breakpoint(panel, i);
            if (t > 0 && t <= panel.threshold)
                v[i] = (static_cast<Number>(g[i] < 0 ? upper_of(i) : lower_of(i)) - x[i]) / root;
        } else if (age < panel.pairs && is_y(j)) {
            const double held_y = y[slot(panel, age)][i];
            v[i] = root * (age == 0 && panel.fresh ? history.stored(static_cast<Number>(g[i]) - held_y) : held_y);
        } else if (age < panel.pairs) {
            v[i] = s[slot(panel, age)][i] / root;
        }
    }
    return v;
}

Pairs Machine::pairs(const PanelRequest &panel, const std::vector<double> &steps) const {
    Pairs result;
    for (int age = panel.pairs - 1; age >= 0; age--) {
        Pair pair{column(panel, panel::s_column(age)), column(panel, panel::y_column(age))};
        for (Number &v : pair.s) v *= steps[steps.size() - 1 - age];
        result.push_back(pair);
    }
    return result;
}

Path Machine::path(const PanelRequest &panel) const {
    PanelRequest whole = panel;
    whole.threshold = infinity;
    Path path{column(panel, panel::gradient), {}, column(whole, panel::displacement)};
    for (int64_t i = 0; i < n; i++) path.breakpoints.push_back(breakpoint(panel, i));
    return path;
}

cudaopt::StartReport Machine::start() {
    cudaopt::StartReport report{n, n, n, 0, 0, 0};
    for (int64_t i = n - 1; i >= 0; i--) {
        const double l = lower_of(i), u = upper_of(i);
        if (!std::isfinite(x[i])) report.x_nan = i;
        if (std::isnan(l) || std::isnan(u)) report.bound_nan = i;
        if (l > u || l == infinity || u == -infinity) report.crossed = i;
        report.projected += x[i] < l || x[i] > u;
        report.boxed += std::isfinite(l) && std::isfinite(u);
        report.bounded += std::isfinite(l) || std::isfinite(u);
    }
    if (report.usable(n))
        for (int64_t i = 0; i < n; i++) x[i] = std::min(std::max(x[i], lower_of(i)), upper_of(i));
    return report;
}

Products Machine::inner_products(const PanelRequest &panel) const {
    const int columns = panel::columns(panel.pairs);
    Products result{};
    cudaopt::PanelProducts &sums = result.sums;
    sums.columns = columns;
    sums.f = f;
    sums.first_breakpoint = infinity;
    Number pg_squared = 0, x_squared = 0;
    std::vector<bool> free(n);
    for (int64_t i = 0; i < n; i++) {
        const Number pg = projected_gradient(i);
        const double t = breakpoint(panel, i);
        free[i] = t > panel.threshold;
        pg_squared += pg * pg;
        x_squared += static_cast<Number>(x[i]) * x[i];
        sums.projected_gradient_max = std::max(sums.projected_gradient_max, static_cast<double>(std::fabs(pg)));
        sums.variable_sums[cudaopt::at_lower] += x[i] <= lower_of(i);
        sums.variable_sums[cudaopt::at_upper] += x[i] >= upper_of(i) && upper_of(i) > lower_of(i);
        sums.variable_sums[cudaopt::free_variables] += free[i];
        sums.variable_sums[cudaopt::not_finite] += !std::isfinite(g[i]);
        if (free[i]) sums.first_breakpoint = std::min(sums.first_breakpoint, t);
    }
    sums.variable_sums[cudaopt::projected_gradient_squared] = static_cast<double>(pg_squared);
    sums.variable_sums[cudaopt::x_squared] = static_cast<double>(x_squared);

    std::vector<Vector> w(columns); // a column that is not set is empty
    for (int j = 0; j < columns; j++)
        if (j == panel::displacement ? panel.threshold > 0 : j == panel::gradient || age_of(j) < panel.pairs)
            w[j] = column(panel, j);
    const auto multiply = [&](int i, int j, bool free_alone, std::vector<double> &to, std::vector<double> &sizes) {
        const bool set = !w[i].empty() && !w[j].empty();
        Number sum = 0, size = 0;
        for (int64_t row = 0; set && row < n; row++) {
            if (free_alone && !free[row]) continue;
            const Number product = w[i][row] * w[j][row];
            sum += product;
            size += std::fabs(product);
        }
        to.push_back(set ? static_cast<double>(sum) : std::numeric_limits<double>::quiet_NaN());
        sizes.push_back(static_cast<double>(size));
    };
    for (int i = 0; i < panel::leading; i++)
        for (int j = 0; j < columns; j++) multiply(i, j, false, result.leading_products, result.leading_sizes);
    for (int i = 0; panel.free_gram && i < columns; i++)
        for (int j = i; j < columns; j++) multiply(i, j, true, result.free_gram, result.free_gram_sizes);
    for (int i = 1; panel.older_steps && i < panel.pairs; i++)
        for (int j = i; j < panel.pairs; j++)
            multiply(panel::s_column(i), panel::s_column(j), false, result.older_steps, result.older_sizes);
    if (panel.older_steps) {
        result.older_steps.push_back(0); // data() must not be null if there are no older pairs
        sums.older_steps = result.older_steps.data();
    }
    if (panel.in_metric()) {
        PanelRequest other = panel;
        other.weighted = !panel.weighted;
        const auto square_of = [&](int j) {
            const Vector v = column(other, j);
            return panel.pairs > 0 ? static_cast<double>(dot(v, v)) : 0;
        };
        sums.variable_sums[cudaopt::newest_y_sum] = square_of(panel::y_new);
        sums.variable_sums[cudaopt::newest_d_sum] = square_of(panel::s_new);
        for (const double h : diagonal) sums.variable_sums[cudaopt::bad_weights] += !(h > 0) || !std::isfinite(h);
    }
    sums.leading_products = result.leading_products.data();
    sums.free_gram = panel.free_gram ? result.free_gram.data() : nullptr;
    return result;
}

void Machine::learn(const cudaopt::DiagonalUpdate &update) {
    const Number least = std::exp2(static_cast<Number>(-90));
    for (int64_t i = 0; i < n; i++) {
        Number b = update.anew ? 1 : 1 / static_cast<Number>(diagonal[i]);
        for (int k = 0; k < update.count; k++) {
            const cudaopt::LearnedPair &pair = update.pairs[k];
            const Number y_i = y[pair.slot][i], d_i = s[pair.slot][i];
            const Number u = y_i * y_i / b * pair.of_y, w = b * d_i * d_i * pair.of_d;
            const Number quotient = (pair.kappa + u) / (pair.kappa + w), most = 1.5;
            b = std::min(std::max(b * std::sqrt(std::min(std::max(quotient, 1 / most), most)), least), 1 / least);
        }
        diagonal[i] = stored(1 / b);
    }
}

Window Machine::crossed(const PanelRequest &panel, double lo, double hi) const {
    Window window;
    PanelRequest whole = panel;
    whole.threshold = infinity;
    const int columns = panel::columns(panel.pairs);
    std::vector<Vector> w;
    for (int j = 0; j < columns; j++) w.push_back(column(whole, j));
    for (int64_t i = 0; i < n; i++) {
        const double t = breakpoint(panel, i);
        if (!(t > lo && t <= hi)) continue;
        const auto entry = [&](int j) { return static_cast<double>(w[j][i]); };
        window.rows.push_back({t, i, entry(panel::gradient), entry(panel::displacement), nullptr});
    }
    std::stable_sort(window.rows.begin(), window.rows.end(),
                     [](const CrossedVariable &a, const CrossedVariable &b) { return a.t < b.t; });
    window.entries.resize(window.rows.size());
    for (std::size_t k = 0; k < window.rows.size(); k++) {
        for (int j = 0; j < columns; j++) {
            const bool set = j != panel::gradient && j != panel::displacement;
            window.entries[k].push_back(set ? static_cast<double>(w[j][window.rows[k].index])
                                            : std::numeric_limits<double>::quiet_NaN());
        }
        window.rows[k].w = window.entries[k].data();
    }
    return window;
}

Vector Machine::move(const DirectionRequest &request, Vector *sizes) const {
    Vector way(n);
    const auto add = [&](int j, Number factor) {
        const Vector v = column(request.panel, j);
        for (int64_t i = 0; i < n; i++) {
            const Number term = factor * v[i] * std::sqrt(static_cast<Number>(weight(request.panel, i)));
            way[i] += term;
            (*sizes)[i] += std::fabs(term);
        }
    };
    sizes->assign(n, 0);
    add(panel::gradient, request.gradient_coefficient);
    for (int age = 0; age < request.panel.pairs; age++)
        for (const int j : {panel::y_column(age), panel::s_column(age)}) add(j, request.coefficients[j]);
    return way;
}

Trial Machine::direction(const DirectionRequest &request) const {
    Trial trial;
    Vector sizes;
    const Vector way = move(request, &sizes);
    for (int64_t i = 0; i < n; i++) {
        const double l = lower_of(i), u = upper_of(i), t = breakpoint(request.panel, i);
        Number to = x[i], size = 0;
        if (is_active(i)) {
        } else if (request.panel.threshold > 0 && t <= request.panel.threshold) {
            to = g[i] < 0 ? u : l;
        } else {
            Number wanted = way[i];
            const Number to_cauchy = -static_cast<Number>(request.cauchy_t) * weight(request.panel, i) * g[i];
            if (request.truncate) wanted = to_cauchy + request.alpha * (way[i] - to_cauchy);
            to = place(x[i] + wanted, x[i], l, u, largest());
            trial.projected += to != x[i] + wanted;
            size = sizes[i] + (request.truncate ? std::fabs(to_cauchy) : 0);
        }
        const double d = direction_of(i, to);
        trial.d.push_back(d);
        trial.at_bound.push_back(to == l || to == u);
        trial.x.push_back(request.step == 1 && !apart() ? stored(to) : stepped(x[i], d, request.step, i));
        trial.sizes.push_back(static_cast<double>(size + std::fabs(static_cast<Number>(x[i]))));
        trial.slope += static_cast<Number>(g[i]) * d;
        trial.slope_size += std::fabs(static_cast<Number>(g[i])) * trial.sizes.back();
        trial.d_squared += static_cast<Number>(d) * d;
    }
    return trial;
}

Share Machine::truncation(const DirectionRequest &request) const {
    Vector sizes;
    const Vector way = move(request, &sizes);
    Share share{1, 0};
    for (int64_t i = 0; i < n; i++) {
        if (is_active(i) || breakpoint(request.panel, i) <= request.panel.threshold) continue;
        const Number to_cauchy = -static_cast<Number>(request.cauchy_t) * weight(request.panel, i) * g[i];
        const Number l = lower_of(i), u = upper_of(i), x_c = std::min(std::max(x[i] + to_cauchy, l), u);
        const Number d = way[i] - to_cauchy, most = longest(x_c, d, l, u);
        if (most >= share.alpha) continue;
        share.alpha = std::max<Number>(most, 0);
        const Number size = sizes[i] + std::fabs(to_cauchy) + std::fabs(static_cast<Number>(x[i]));
        share.uncertainty = std::max(share.uncertainty, size / std::fabs(d));
    }
    return share;
}

double Machine::stepped(double from, double d, double step, int64_t i) const {
    const double to = stored(from + static_cast<Number>(step) * d);
    return stored(place(to, from, lower_of(i), upper_of(i), largest()));
}

// Returns to - x as it is stored. It is rounded to nearest, except that it is rounded away from zero if `to` is a bound
// that the step would not reach otherwise.
double Machine::direction_of(int64_t i, Number to) const {
    const double d = history.stored(std::min<Number>(std::max<Number>(to - x[i], -history.largest), history.largest));
    const bool bound = to != x[i] && (to == lower_of(i) || to == upper_of(i));
    return !apart() || !bound || stepped(x[i], d, 1, i) == to ? d : history.next_away_from_zero(d);
}

double Machine::largest_step(int slot) const {
    Number least = infinity;
    for (int64_t i = 0; i < n; i++) least = std::min(least, longest(x_base[i], s[slot][i], lower_of(i), upper_of(i)));
    return static_cast<double>(least);
}

} // namespace reference
