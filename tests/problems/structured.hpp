// Objectives of many variables that are sums of functions of few variables, or of functions of linear forms. Their
// gradients are computed in one loop over the terms.
#pragma once

#include <array>
#include <random>

#include "problem.hpp"

namespace cudaopt_problems {

template <class T, std::size_t width> using Few = std::array<T, width>;

// Returns the sum over 0 <= k < count of term(k, v), where v contains the variables with the indices indices(k), a
// Few<int, width>. A negative index represents the constant 0.
template <std::size_t width, class Indices, class Term>
Problem make_sum(std::string name, std::string source, Vector start, int count, Indices indices, Term term) {
    static_assert(width <= Dual::width);
    const auto value = [=](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        T f = 0;
        for (int k = 0; k < count; k++) {
            const Few<int, width> places = indices(k);
            Few<T, width> v{};
            for (std::size_t j = 0; j < width; j++)
                if (places[j] >= 0) v[j] = x[static_cast<std::size_t>(places[j])];
            f += term(k, v);
        }
        return f;
    };
    Problem problem = make(std::move(name), std::move(source), std::move(start), value);
    problem.evaluate = [=](const Vector &x, Vector &g) {
        double f = 0;
        std::fill(g.begin(), g.end(), 0.0);
        for (int k = 0; k < count; k++) {
            const Few<int, width> places = indices(k);
            Few<Dual, width> v{};
            for (std::size_t j = 0; j < width; j++)
                if (places[j] >= 0) {
                    v[j].value = x[static_cast<std::size_t>(places[j])];
                    v[j].partial[j] = 1;
                }
            const Dual result = term(k, v);
            f += result.value;
            for (std::size_t j = 0; j < width; j++)
                if (places[j] >= 0) g[static_cast<std::size_t>(places[j])] += result.partial[j];
        }
        return f;
    };
    return problem;
}

// A sparse matrix that is stored by rows.
struct Forms {
    std::vector<std::vector<std::pair<int, double>>> rows;

    template <class V> ScalarOf<V> apply(std::size_t row, const V &x) const {
        ScalarOf<V> sum = 0;
        for (const auto &[column, entry] : rows[row]) sum += entry * x[static_cast<std::size_t>(column)];
        return sum;
    }
    LongVector times(const Vector &x) const {
        LongVector result;
        for (std::size_t k = 0; k < rows.size(); k++) result.push_back(apply(k, LongVector(x.begin(), x.end())));
        return result;
    }
};

// Returns the sum over the rows k of term(k, (A x)_k), plus ridge |x|^2 / 2.
template <class Term>
Problem make_of_forms(std::string name, std::string source, Vector start, Forms forms, double ridge, Term term) {
    const auto value = [=](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        T f = 0;
        for (std::size_t k = 0; k < forms.rows.size(); k++) f += term(static_cast<int>(k), forms.apply(k, x));
        for (const T &v : x) f += ridge * square(v) / 2;
        return f;
    };
    Problem problem = make(std::move(name), std::move(source), std::move(start), value);
    problem.evaluate = [=](const Vector &x, Vector &g) {
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            f += ridge * square(x[i]) / 2;
            g[i] = ridge * x[i];
        }
        for (std::size_t k = 0; k < forms.rows.size(); k++) {
            Dual form(forms.apply(k, x));
            form.partial[0] = 1;
            const Dual result = term(static_cast<int>(k), form);
            f += result.value;
            for (const auto &[column, entry] : forms.rows[k])
                g[static_cast<std::size_t>(column)] += result.partial[0] * entry;
        }
        return f;
    };
    return problem;
}

// Random numbers from 0 to 1 that are the same on every machine.
class Chance {
  public:
    explicit Chance(unsigned seed) : engine_(seed) {}
    double operator()() { return (engine_() >> 11) / 9007199254740992.0; }
    // Returns 10 to a random power between 0 and `decades`.
    double decades(double decades) { return std::pow(10, decades * (*this)()); }

  private:
    std::mt19937_64 engine_;
};

} // namespace cudaopt_problems
