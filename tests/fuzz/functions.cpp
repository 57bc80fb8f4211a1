#include "functions.hpp"

#include <algorithm>
#include <cmath>

namespace fuzz {

namespace {

constexpr int pranks = 12;

const char *const shape_names[] = {"quadratic",  "indefinite quadratic",
                                   "Rosenbrock", "exponentials",
                                   "linear",     "kinks",
                                   "constant",   "barrier",
                                   "waves",      "quartic"};
const char *const mischief_names[] = {"honest", "spoilt at one trial", "spoilt now and then", "noisy", "g unrelated"};

} // namespace

Function::Function(Random &random, int64_t n, bool calm)
    : n_(n), shape_(static_cast<Shape>(random.below(quartic + 1))), mischief_(none), random_(random.next()),
      place_(static_cast<std::size_t>(n)), weight_(place_.size()), x_(place_.size()), g_(place_.size()) {
    const double spread = random.pick({0.0, 1.0, 3.0, 6.0});
    for (double &place : place_) place = random.uniform(-2, 2);
    for (double &weight : weight_) weight = random.power_of_10(-spread, spread);
    if (shape_ == indefinite)
        for (double &weight : weight_) weight *= random.sign();
    if (calm) return;
    if (random.chance(0.25)) scale_ = std::ldexp(1.0, static_cast<int>(random.from_to(-1000, 1000)));
    if (random.chance(0.5)) mischief_ = static_cast<Mischief>(random.from_to(at_one_trial, unrelated));
    noise_ = random.power_of_10(-17, -2);
    trial_ = random.from_to(1, 12);
    prank_ = static_cast<int>(random.below(pranks));
}

std::string Function::words() const {
    return std::string(shape_names[shape_]) + " x " + std::to_string(std::ilogb(scale_)) + " (log2), " +
           mischief_names[mischief_] +
           (mischief_ == at_one_trial ? " " + std::to_string(trial_) + " by prank " + std::to_string(prank_) : "") +
           ", n = " + std::to_string(n_);
}

std::vector<double> Function::start(Random &random) const {
    std::vector<double> x(place_);
    const double size = random.chance(0.8) ? 1 : random.power_of_10(-300, 300);
    for (double &value : x) value += size * random.uniform(-3, 3);
    if (random.chance(0.1)) std::fill(x.begin(), x.end(), random.pick({0.0, 1.0, -0.0, 1e160, 350.0}));
    if (random.chance(0.02)) x[static_cast<std::size_t>(random.below(n_))] = random.hostile();
    return x;
}

double Function::shape(const std::vector<double> &x, std::vector<double> &g) const {
    double f = 0;
    const std::size_t n = x.size();
    std::fill(g.begin(), g.end(), 0.0);
    for (std::size_t i = 0; i < n; i++) {
        const double w = weight_[i], d = x[i] - place_[i];
        switch (shape_) {
        case quadratic:
        case indefinite: {
            const double link = i + 1 < n ? d + 0.5 * (x[i + 1] - place_[i + 1]) : d;
            f += w * link * link / 2;
            g[i] += w * link;
            if (i + 1 < n) g[i + 1] += 0.5 * w * link;
            break;
        }
        case rosenbrock:
            if (i % 2 == 0 && i + 1 < n) {
                const double valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
                f += w * (100 * valley * valley + slope * slope);
                g[i] = w * (-400 * x[i] * valley - 2 * slope);
                g[i + 1] = w * 200 * valley;
            }
            break;
        case exponentials:
            f += std::exp(x[i]) + std::exp(-2 * x[i]);
            g[i] = std::exp(x[i]) - 2 * std::exp(-2 * x[i]);
            break;
        case linear:
            f += w * x[i] * (i % 2 ? 1 : -1);
            g[i] = w * (i % 2 ? 1 : -1);
            break;
        case kinks:
            f += w * std::fabs(d);
            g[i] = w * (d > 0 ? 1 : d < 0 ? -1 : 0);
            break;
        case constant: f = 3; break;
        case barrier: // NaN beyond 0
            f += w * (x[i] - std::log(x[i]));
            g[i] = w * (1 - 1 / x[i]);
            break;
        case waves:
            f += w * (1 - std::cos(3 * d)) + 1e-3 * d * d;
            g[i] = w * 3 * std::sin(3 * d) + 2e-3 * d;
            break;
        case quartic:
            f += w * d * d * d * d;
            g[i] = 4 * w * d * d * d;
            break;
        }
    }
    for (double &value : g) value *= scale_;
    return f * scale_;
}

void Function::spoil(double &f, std::vector<double> &g) {
    double &g_i = g[static_cast<std::size_t>(random_.below(n_))];
    switch (prank_) {
    case 0: f = random_.sign() * infinity; break;
    case 1: f = std::nan(""); break;
    case 2: f = 1.7e308; break;
    case 3: f = -1.7e308; break;
    case 4: g_i = random_.sign() * 1e80; break;
    case 5: g_i = random_.sign() * 1e160; break;
    case 6: g_i = random_.hostile(); break;
    case 7:
        for (double &value : g) value *= 1e-170;
        break;
    case 8: std::fill(g.begin(), g.end(), random_.pick({0.0, -0.0, 4.9e-324})); break;
    case 9: f = -0.0; break;
    case 10:
        for (double &value : g) value *= -1e150;
        break;
    default: f = random_.hostile(); break;
    }
}

double Function::evaluate(const double *x, double *g) {
    evaluations_++;
    x_.assign(x, x + n_);
    double f = shape(x_, g_);
    switch (mischief_) {
    case none: break;
    case at_one_trial:
        if (evaluations_ == trial_) spoil(f, g_);
        break;
    case now_and_then:
        if (random_.chance(0.15)) {
            prank_ = static_cast<int>(random_.below(pranks));
            spoil(f, g_);
        }
        break;
    case noise:
        f *= 1 + noise_ * random_.uniform(-1, 1);
        for (double &value : g_) value *= 1 + noise_ * random_.uniform(-1, 1);
        break;
    case unrelated:
        for (double &value : g_) value = weight_[0] * random_.uniform(-1, 1);
        break;
    }
    std::copy(g_.begin(), g_.end(), g);
    return f;
}

double Function::evaluate(const float *x, float *g) {
    const std::vector<double> wide(x, x + n_);
    std::vector<double> gradient(wide.size());
    const double f = evaluate(wide.data(), gradient.data());
    std::transform(gradient.begin(), gradient.end(), g, [](double value) { return static_cast<float>(value); });
    return f;
}

Box::Box(Random &random, int64_t n, double largest) {
    const auto kind = random.below(10);
    if (kind <= 2) return;
    const auto size = static_cast<std::size_t>(n);
    lower.assign(size, -infinity);
    upper.assign(size, infinity);
    const double middle = random.uniform(-2, 2);
    for (std::size_t i = 0; i < size; i++) {
        double &l = lower[i], &u = upper[i];
        switch (kind == 3 ? random.below(9) : kind) {
        case 4: words = "boxes", l = random.uniform(-3, 0), u = l + random.uniform(0, 4); break;
        case 5: words = "ties", l = middle, u = middle + 1; break;
        case 6: words = "huge boxes", l = -largest, u = random.pick({largest, largest / 1e8}); break;
        case 7: words = "tiny boxes", l = random.pick({0.0, middle}), u = l + random.power_of_10(-300, -10); break;
        case 8: words = "fixed, some", l = middle, u = random.chance(0.7) ? middle : middle + 2; break;
        case 9: words = "all fixed", l = u = middle; break;
        case 0: l = random.uniform(-3, 3); break;
        case 1: u = random.uniform(-3, 3); break;
        default: break;
        }
    }
    if (kind == 3) words = "bounds of all kinds";
    if (random.chance(0.2)) (random.chance(0.5) ? lower : upper).clear();
    if (!lower.empty() && random.chance(0.03)) {
        words = "unsound bounds";
        sound = false;
        const auto at = static_cast<std::size_t>(random.below(n));
        lower[at] = random.pick({std::nan(""), infinity});
        if (!upper.empty() && random.chance(0.5)) lower[at] = 1, upper[at] = 0;
    }
}

} // namespace fuzz
