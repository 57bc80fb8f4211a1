/* The one implementation of Problem, for any family of functions: a std::variant with an evaluate_cuda(). */
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
        : function_(std::move(function)), facts_(std::visit([](const auto &f) { return f.facts(); }, function_))
    {
    }

    const Facts &facts() const override { return facts_; }
    std::int64_t n() const override
    {
        return std::visit([](const auto &f) { return f.n; }, function_);
    }
    std::optional<double> minimum() const override
    {
        return std::visit([](const auto &f) { return f.minimum(); }, function_);
    }
    bool bounded() const override
    {
        return std::visit([](const auto &f) { return f.bounded; }, function_);
    }

    void start(std::int64_t first, std::int64_t count, double *x) const override { fill_start(first, count, x); }
    void start(std::int64_t first, std::int64_t count, float *x) const override { fill_start(first, count, x); }
    void bounds(std::int64_t first, std::int64_t count, double *lower, double *upper) const override
    {
        fill_bounds(first, count, lower, upper);
    }
    void bounds(std::int64_t first, std::int64_t count, float *lower, float *upper) const override
    {
        fill_bounds(first, count, lower, upper);
    }

    void evaluate(const double *x, double *f, double *g, const Place &place) override { evaluate_in(x, f, g, place); }
    void evaluate(const float *x, double *f, float *g, const Place &place) override { evaluate_in(x, f, g, place); }

private:
    template <class Real> void fill_start(std::int64_t first, std::int64_t count, Real *x) const
    {
        std::visit(
            [=](const auto &f) {
                for (std::int64_t i = 0; i < count; ++i)
                    x[i] = static_cast<Real>(f.start(first + i));
            },
            function_);
    }

    template <class Real> void fill_bounds(std::int64_t first, std::int64_t count, Real *lower, Real *upper) const
    {
        std::visit(
            [=](const auto &f) {
                for (std::int64_t i = 0; i < count; ++i) {
                    lower[i] = static_cast<Real>(f.lower(first + i));
                    upper[i] = static_cast<Real>(f.upper(first + i));
                }
            },
            function_);
    }

    template <class Real> void evaluate_in(const Real *x, double *f, Real *g, const Place &place)
    {
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
