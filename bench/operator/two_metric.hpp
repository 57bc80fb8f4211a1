// Two-metric projection with an operator as initial inverse Hessian, on the host, for comparison with the library. A
// variable is held if it is within epsilon of a bound to which -g points (Bertsekas, SIAM J. Control Optim. 20 (1982)
// 221; epsilon as there). The others step along the direction of L-BFGS with gamma H_0, the held ones along -g / theta.
// The step is shortened along P(x + t d) until f decreases sufficiently.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <stdexcept>

#include "fields.hpp"

namespace cudaopt::bench {

// Stores H_0 v in the last argument; the second one is 1 at the free variables, and 0 elsewhere.
using Operator = std::function<void(const Vector &, const Vector &, Vector &)>;

struct Counts {
    int64_t evaluations = 0, applications = 0, refusals = 0; // until the projected gradient is at the tolerance
    int64_t total = 0;                                       // evaluations until the end of the solve
    double f = 0;
};

class TwoMetric {
  public:
    TwoMetric(Field &field, const Operator &apply, int m)
        : field_(field), apply_(apply), m_(static_cast<std::size_t>(m)) {}

    // Throws std::runtime_error if the projected gradient does not fall to the tolerance of the field.
    Counts minimise(Vector x, int64_t limit) {
        const std::size_t n = x.size();
        const double epsilon = std::numeric_limits<double>::epsilon();
        Vector g(n), trial(n), g_trial(n), d(n), s(n);
        counts_ = {};
        pairs_.clear(), theta_ = 1;
        double f = evaluate(x, g);
        while (true) {
            const double norm = projected_gradient(x, g, field_.lower, field_.upper);
            counts_.f = f;
            counts_.total = counts_.evaluations;
            if (norm <= field_.tolerance) return counts_;
            set_free(x, g);
            direction(g, d);
            if (counts_.evaluations == 1) scale(d, std::min(1.0, 1 / std::sqrt(dot(d, d))));
            double slope = 0, step = 1;
            for (std::size_t i = 0; i < n; i++) slope += is_free_[i] * g[i] * d[i];
            for (int tries = 0;; tries++) {
                if (counts_.evaluations >= limit) throw std::runtime_error("two-metric projection reached its limit");
                double expected = step * slope;
                for (std::size_t i = 0; i < n; i++) {
                    trial[i] = std::clamp(x[i] + step * d[i], field_.lower[i], field_.upper[i]);
                    s[i] = trial[i] - x[i];
                    if (is_free_[i] == 0) expected += g[i] * s[i];
                }
                expected = std::min(expected, 0.0);
                const double f_trial = evaluate(trial, g_trial);
                const bool level = f_trial <= f + 1e5 * epsilon * std::fabs(f) &&
                                   projected_gradient(trial, g_trial, field_.lower, field_.upper) <= norm;
                if (f_trial <= f + 1e-4 * expected || level) {
                    append(s, g, g_trial);
                    x = trial, f = f_trial, g = g_trial;
                    break;
                }
                const double excess = f_trial - f - expected; // of f over its tangent
                const double shorter = excess > 0 ? -expected * step / (2 * excess) : step / 2;
                step = std::clamp(shorter, step / 10, step / 2);
                if (tries < 24) continue;
                if (pairs_.empty()) throw std::runtime_error("two-metric projection found no step");
                pairs_.clear();
                break;
            }
        }
    }

  private:
    struct Pair {
        Vector s, y;
    };
    static double dot(const Vector &a, const Vector &b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
        return sum;
    }
    static void scale(Vector &v, double by) {
        for (double &element : v) element *= by;
    }
    static void add(Vector &v, double factor, const Vector &w) {
        for (std::size_t i = 0; i < v.size(); i++) v[i] += factor * w[i];
    }
    double dot_on_free(const Vector &a, const Vector &b) const {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); i++) sum += is_free_[i] * a[i] * b[i];
        return sum;
    }
    void restrict(Vector &v) const {
        for (std::size_t i = 0; i < v.size(); i++) v[i] *= is_free_[i];
    }

    double evaluate(const Vector &x, Vector &g) {
        counts_.evaluations++;
        return field_.evaluate(x, g);
    }
    void set_free(const Vector &x, const Vector &g) {
        double square = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            const double move = x[i] - std::clamp(x[i] - g[i], field_.lower[i], field_.upper[i]);
            square += move * move;
        }
        const double near = std::min(1e-3, std::sqrt(square));
        is_free_.resize(x.size());
        for (std::size_t i = 0; i < x.size(); i++) {
            const bool held =
                (x[i] <= field_.lower[i] + near && g[i] > 0) || (x[i] >= field_.upper[i] - near && g[i] < 0);
            is_free_[i] = held ? 0 : 1;
        }
    }

    void direction(const Vector &g, Vector &d) {
        Vector q = g, z(g.size());
        restrict(q);
        const Pair *newest = nullptr;
        std::vector<double> alpha(pairs_.size()), sy(pairs_.size());
        for (std::size_t j = pairs_.size(); j-- > 0;) {
            const Pair &pair = pairs_[j];
            sy[j] = dot_on_free(pair.s, pair.y);
            if (!(sy[j] > 1e-8 * std::sqrt(dot_on_free(pair.s, pair.s) * dot_on_free(pair.y, pair.y)))) {
                sy[j] = 0;
                continue;
            }
            if (!newest) newest = &pair;
            alpha[j] = dot_on_free(pair.s, q) / sy[j];
            add(q, -alpha[j], pair.y);
            restrict(q);
        }
        apply(q, z);
        if (newest) {
            Vector y = newest->y, hy(y.size());
            restrict(y);
            apply(y, hy);
            scale(z, dot_on_free(newest->s, newest->y) / dot(y, hy));
        }
        for (std::size_t j = 0; j < pairs_.size(); j++) {
            if (sy[j] == 0) continue;
            add(z, alpha[j] - dot_on_free(pairs_[j].y, z) / sy[j], pairs_[j].s);
            restrict(z);
        }
        for (std::size_t i = 0; i < d.size(); i++) d[i] = is_free_[i] != 0 ? -z[i] : -g[i] / theta_;
    }
    void apply(const Vector &v, Vector &to) {
        counts_.applications++;
        apply_(v, is_free_, to);
    }

    void append(const Vector &s, const Vector &g, const Vector &g_trial) {
        Pair pair{s, g_trial};
        add(pair.y, -1, g);
        const double sy = dot(pair.s, pair.y), yy = dot(pair.y, pair.y);
        if (!(sy > 1e-12 * std::sqrt(dot(s, s) * yy))) return;
        theta_ = yy / sy;
        pairs_.push_back(std::move(pair));
        if (pairs_.size() > m_) pairs_.pop_front();
    }

    Field &field_;
    const Operator &apply_;
    const std::size_t m_;
    std::deque<Pair> pairs_;
    Vector is_free_;
    double theta_ = 1;
    Counts counts_;
};

} // namespace cudaopt::bench
