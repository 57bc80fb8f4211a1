#include "problem.hpp"

#include <stdexcept>

namespace cudaopt_problems {

bool Problem::bounded() const {
    const auto finite = [](double bound) { return std::isfinite(bound); };
    return std::any_of(lower.begin(), lower.end(), finite) || std::any_of(upper.begin(), upper.end(), finite);
}

Problem &Problem::minimum(double value, double within) {
    minima.push_back(value);
    tolerance = std::max(tolerance, within);
    return *this;
}

Problem &Problem::box(double l, double u) { return box(Vector(start.size(), l), Vector(start.size(), u)); }

Problem &Problem::box(Vector l, Vector u) {
    lower = std::move(l);
    upper = std::move(u);
    return *this;
}

Problem &Problem::from(Vector another_start) {
    start = std::move(another_start);
    return *this;
}

Problem &Problem::named(std::string suffix) {
    name += std::move(suffix);
    return *this;
}

double projected_gradient_norm(const Problem &problem, const Vector &x, const Vector &g) {
    double norm = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
        const double p = x[i] - std::min(problem.upper[i], std::max(problem.lower[i], x[i] - g[i]));
        const double size = std::isfinite(problem.lower[i]) || std::isfinite(problem.upper[i]) ? p : g[i];
        if (std::isnan(p)) return p;
        norm = std::max(norm, std::abs(size));
    }
    return norm;
}

Vector repeated(const Vector &pattern, int n) {
    Vector values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); i++) values[i] = pattern[i % pattern.size()];
    return values;
}

Vector scaled(Vector values, double factor) {
    for (double &value : values) value *= factor;
    return values;
}

void append(Problems &all, Problems more) {
    for (Problem &problem : more) all.push_back(std::move(problem));
}

const Problem &problem_named(const std::string &name) {
    for (const Problem &problem : all_problems())
        if (problem.name == name) return problem;
    throw std::out_of_range("there is no problem '" + name + "'");
}

} // namespace cudaopt_problems
