// A backend's verbs on the vectors of a reference machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "../support/configurations.hpp"
#include "../support/problems.hpp"
#include "sweeps/backend.hpp"
#include "reference.hpp"

namespace mathematics {

using cudaopt::HeldVector;

template <class Configuration> class Backend {
  public:
    using Real = typename Configuration::Real;
    static constexpr bool single = sizeof(Real) == sizeof(float);
    static constexpr bool on_cuda = Configuration::backend == CUDA_OPT_BACKEND_CUDA;

    // The caller's arrays begin `offset` elements into their memory: aligned to what a vector access wants, or not.
    explicit Backend(const reference::Machine &machine, int offset = 0, bool aside = true)
        : n_(machine.n), offset_(offset), space_(on_cuda ? cudaopt::make_cuda_memory() : cudaopt::make_host_memory()),
          sweeps_(on_cuda ? cudaopt::make_cuda_sweeps<Real, Real>(n_) : cudaopt::make_host_sweeps<Real, Real>(n_)) {
        arrays_.x = place(machine.x);
        arrays_.g = place(machine.g);
        arrays_.f = static_cast<double *>(allocate(sizeof(double)));
        arrays_.lower = bounds(machine, machine.lower, arrays_.lower_all);
        arrays_.upper = bounds(machine, machine.upper, arrays_.upper_all);
        arrays_.diagonal = place(machine.diagonal);
        sweeps_->allocate(machine.m, {1, nullptr, aside, &patience_});
        sweeps_->bind(arrays_);
        sweeps_->store({HeldVector::f}, &machine.f);
        for (int slot = 0; slot <= machine.m; slot++) {
            store({HeldVector::s_column, slot}, machine.s[slot]);
            store({HeldVector::y_column, slot}, machine.y[slot]);
        }
        store({HeldVector::x_base}, machine.x_base);
    }
    ~Backend() {
        sweeps_.reset();
        for (void *memory : memory_) space_->release(memory);
    }
    Backend(const Backend &) = delete;
    Backend &operator=(const Backend &) = delete;

    cudaopt::Sweeps *operator->() { return sweeps_.get(); }
    const cudaopt::UserArrays &arrays() const { return arrays_; }

    void store(const HeldVector &which, const std::vector<double> &values) {
        const std::vector<Real> real(values.begin(), values.end());
        REQUIRE(sweeps_->bytes_of(which) == static_cast<int64_t>(real.size() * sizeof(Real)));
        sweeps_->store(which, real.data());
    }
    std::vector<double> fetch(const HeldVector &which) {
        std::vector<Real> real(static_cast<std::size_t>(n_));
        sweeps_->fetch(which, real.data());
        return std::vector<double>(real.begin(), real.end());
    }
    double f() {
        double f = 0;
        REQUIRE(sweeps_->bytes_of({HeldVector::f}) == sizeof f);
        sweeps_->fetch({HeldVector::f}, &f);
        return f;
    }

  private:
    void *allocate(std::size_t bytes) {
        memory_.push_back(space_->allocate(bytes));
        return memory_.back();
    }
    void *place(const std::vector<double> &values) {
        if (values.empty()) return nullptr;
        const std::vector<Real> real(values.begin(), values.end());
        Real *const to = static_cast<Real *>(allocate((real.size() + offset_) * sizeof(Real))) + offset_;
        space_->copy_in(to, real.data(), real.size() * sizeof(Real), nullptr);
        space_->synchronize(nullptr);
        return to;
    }

    // As an array; or as one number for all.
    void *bounds(const reference::Machine &machine, const std::vector<double> &values, double &for_all) {
        const auto differ = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<double>());
        if (!machine.uniform || values.empty() || differ != values.end()) return place(values);
        for_all = values[0];
        return nullptr;
    }

    int64_t n_;
    int offset_;
    std::atomic<bool> stop_requested_{false};
    cudaopt::Patience patience_{stop_requested_};
    std::unique_ptr<cudaopt::MemorySpace> space_;
    std::unique_ptr<cudaopt::Sweeps> sweeps_;
    std::vector<void *> memory_;
    cudaopt::UserArrays arrays_{};
};

enum class Bounds {
    none,
    infinite,
    lower_alone,
    upper_alone,
    both,
    // the same for all rows, and given as numbers:
    uniform_around_0,
    uniform_above_0,
    uniform_below_0,
    uniform_lower, // and an array of upper ones
    uniform_upper, // and an array of lower ones
    uniform_lower_alone,
    count
};

// x and x_base between bounds of which one side at least is the same for all rows; some rows are held.
inline void draw_uniform_bounds(reference::Machine &machine, Bounds bounds, cudaopt_test::Uniform &uniform) {
    const double l = machine.stored(bounds == Bounds::uniform_around_0  ? -0.7
                                    : bounds == Bounds::uniform_below_0 ? -2.3
                                                                        : 0.3),
                 u = machine.stored(bounds == Bounds::uniform_around_0  ? 0.9
                                    : bounds == Bounds::uniform_above_0 ? 1.9
                                                                        : -0.2);
    const bool lower_varies = bounds == Bounds::uniform_upper, upper_varies = bounds == Bounds::uniform_lower;
    machine.uniform = true;
    machine.lower.assign(machine.x.size(), l);
    if (bounds != Bounds::uniform_lower_alone) machine.upper.assign(machine.x.size(), u);
    for (int64_t i = 0; i < machine.n; i++) {
        if (lower_varies) machine.lower[i] = machine.stored(u - 2 * uniform());
        if (upper_varies) machine.upper[i] = machine.stored(l + 2 * uniform());
        const double kind = uniform(), low = machine.lower_of(i),
                     high = std::min(machine.upper_of(i), machine.stored(low + 3));
        machine.x[i] = kind < 0.2   ? low
                       : kind > 0.8 ? high
                                    : std::min(std::max(machine.stored(low + (high - low) * uniform()), low), high);
        machine.x_base[i] = std::min(std::max(machine.x_base[i], low), high);
        if (kind > 0.45 && kind < 0.5) machine.g[i] = 0;
    }
}

// Vectors at random, rounded as the caller stores them; with bounds some rows are held, some fixed, some beyond reach.
inline reference::Machine random_machine(int64_t n, int m, bool single, Bounds bounds, cudaopt_test::Uniform &uniform) {
    reference::Machine machine(n, m, single);
    const auto between = [&](double low, double high) { return machine.stored(low + (high - low) * uniform()); };
    const auto fill = [&](std::vector<double> &values, double low, double high) {
        values.resize(static_cast<std::size_t>(n));
        for (double &v : values) v = between(low, high);
    };
    fill(machine.x, -2, 2);
    fill(machine.g, -1, 1);
    fill(machine.diagonal, 0.25, 4);
    fill(machine.x_base, -2, 2);
    for (int slot = 0; slot <= m; slot++) fill(machine.s[slot], -1, 1), fill(machine.y[slot], -1, 1);
    machine.f = between(-1, 1);
    if (bounds >= Bounds::uniform_around_0) {
        draw_uniform_bounds(machine, bounds, uniform);
        return machine;
    }
    const bool lower = bounds == Bounds::infinite || bounds == Bounds::lower_alone || bounds == Bounds::both;
    const bool upper = bounds == Bounds::infinite || bounds == Bounds::upper_alone || bounds == Bounds::both;
    if (lower) machine.lower.assign(machine.x.size(), -reference::infinity);
    if (upper) machine.upper.assign(machine.x.size(), reference::infinity);
    for (int64_t i = 0; i < n && bounds != Bounds::infinite; i++) {
        const double x = machine.x[i], kind = uniform();
        if (lower && kind < 0.8) machine.lower[i] = kind < 0.15 ? x : machine.stored(x - between(0.001, 2));
        if (upper && kind > 0.1) machine.upper[i] = kind > 0.9 ? x : machine.stored(x + between(0.001, 2));
        if (lower && upper && kind > 0.4 && kind < 0.45) machine.lower[i] = machine.upper[i] = x;
        if (kind > 0.6 && kind < 0.65) machine.g[i] = 0;
        machine.x_base[i] =
            machine.stored(std::min(std::max(machine.x_base[i], machine.lower_of(i)), machine.upper_of(i)));
    }
    return machine;
}

// A breakpoint in the middle of them, or 1 where there is none.
inline double middle_breakpoint(const reference::Machine &machine, const cudaopt::PanelRequest &panel) {
    std::vector<double> breakpoints;
    for (int64_t i = 0; i < machine.n; i++) {
        const double t = machine.breakpoint(panel, i);
        if (t > 0 && t < reference::infinity) breakpoints.push_back(t);
    }
    if (breakpoints.empty()) return 1;
    const auto middle = breakpoints.begin() + static_cast<std::ptrdiff_t>(breakpoints.size() / 2);
    std::nth_element(breakpoints.begin(), middle, breakpoints.end());
    return *middle;
}

} // namespace mathematics

#define MATHEMATICS_BACKENDS                                                                                           \
    cudaopt_test::HostDouble, cudaopt_test::HostFloat, cudaopt_test::CudaDouble, cudaopt_test::CudaFloat
