// Implements the interface Problem for any family of test functions, which is a std::variant with a function
// evaluate_cuda().
#pragma once

#include "testfuncs/device_scratch.hpp"
#include "testfuncs/host_executor.hpp"
#include "testfuncs/problem.hpp"

#include <utility>
#include <variant>

namespace cudaopt::testfuncs {

template <class Family> class ProblemOf final : public Problem {
  public:
    explicit ProblemOf(Family function)
        : function_(std::move(function)), facts_(std::visit([](const auto &f) { return f.facts(); }, function_)) {}

    const Facts &facts() const override { return facts_; }
    int64_t n() const override {
        return std::visit([](const auto &f) { return f.n; }, function_);
    }
    std::string shape() const override {
        return std::visit([](const auto &f) { return f.shape(); }, function_);
    }
    std::optional<double> minimum() const override {
        return std::visit([](const auto &f) { return f.minimum(); }, function_);
    }
    bool bounded() const override {
        return std::visit([](const auto &f) { return f.bounded; }, function_);
    }

    void start(int64_t first, int64_t count, double *x) const override { fill_start(first, count, x); }
    void start(int64_t first, int64_t count, float *x) const override { fill_start(first, count, x); }
    void lower(int64_t first, int64_t count, double *l) const override { fill_lower(first, count, l); }
    void lower(int64_t first, int64_t count, float *l) const override { fill_lower(first, count, l); }
    void upper(int64_t first, int64_t count, double *u) const override { fill_upper(first, count, u); }
    void upper(int64_t first, int64_t count, float *u) const override { fill_upper(first, count, u); }

    void evaluate(const double *x, double *f, double *g, const Place &place) override { evaluate_in(x, f, g, place); }
    void evaluate(const float *x, double *f, float *g, const Place &place) override { evaluate_in(x, f, g, place); }

  private:
    template <class Real> void fill_start(int64_t first, int64_t count, Real *x) const {
        fill(first, count, x, [](const auto &f, int64_t i) { return f.start(i); });
    }
    template <class Real> void fill_lower(int64_t first, int64_t count, Real *l) const {
        fill(first, count, l, [](const auto &f, int64_t i) { return f.lower(i); });
    }
    template <class Real> void fill_upper(int64_t first, int64_t count, Real *u) const {
        fill(first, count, u, [](const auto &f, int64_t i) { return f.upper(i); });
    }
    template <class Real, class Value> void fill(int64_t first, int64_t count, Real *out, const Value &value) const {
        std::visit(
            [&](const auto &f) {
                for (int64_t i = 0; i < count; i++) out[i] = static_cast<Real>(value(f, first + i));
            },
            function_);
    }

    template <class Real> void evaluate_in(const Real *x, double *f, Real *g, const Place &place) {
        if (place.space == Place::Space::cuda) {
            evaluate_cuda(function_, x, f, g, scratch_, place.stream);
            return;
        }
        HostExecutor on(place.threads);
        std::visit([&](const auto &function) { function.evaluate(on, x, f, g); }, function_);
    }

    Family function_;
    Facts facts_;
    DeviceScratch scratch_;
};

} // namespace cudaopt::testfuncs
