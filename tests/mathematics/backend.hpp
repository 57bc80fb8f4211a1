// The sweeps of a backend, applied to the vectors of a reference machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

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
    static bool on_cuda() { return Configuration::backend == CUDA_OPT_BACKEND_CUDA; }
    // Returns whether n variables show no more than 1001 do. On the host and under a sanitizer, a thousand variables
    // have each kind of tile and several segments. On CUDA the number of tiles per warp and of blocks depends on n.
    static bool too_large(int64_t n) { return n > 1001 && (!on_cuda() || cudaopt_test::sanitized); }

    // The caller's arrays begin `offset` elements after the start of their memory. With an odd offset they are not
    // aligned for vector accesses. learns: the diagonal is a learned one of the backend, and not the caller's.
    explicit Backend(const reference::Machine &machine, int offset = 0, bool aside = true, bool learns = false)
        : n_(machine.n), offset_(offset), space_(on_cuda() ? cudaopt::make_cuda_memory() : cudaopt::make_host_memory()),
          sweeps_(sweeps_of(machine.n, machine.m, aside, space_->device())) {
        REQUIRE(machine.caller.bits == 8 * sizeof(Real));
        REQUIRE(machine.history.bits == Configuration::history_bits);
        arrays_.g = place(machine.g);
        arrays_.f = static_cast<double *>(allocate(sizeof(double)));
        arrays_.diagonal = place(machine.diagonal);
        const int64_t metric = learns ? cudaopt::Metric::learned : cudaopt::Metric::one_number;
        sweeps_->allocate(machine.m, {1, nullptr, aside, metric, &cancellation_});
        bind(machine);
        if (learns) store({HeldVector::diagonal}, machine.diagonal);
        sweeps_->store({HeldVector::f}, &machine.f);
        for (int slot = 0; slot <= machine.m; slot++) {
            store({HeldVector::s_column, slot}, machine.s[slot]);
            store({HeldVector::y_column, slot}, machine.y[slot]);
        }
        store({HeldVector::x_base}, machine.x_base);
    }
    ~Backend() {
        if (!on_cuda()) sweeps_.reset();
        for (void *memory : memory_) space_->release(memory);
    }
    Backend(const Backend &) = delete;
    Backend &operator=(const Backend &) = delete;

    // Binds x and the bounds of another machine. All other vectors are kept.
    void bind(const reference::Machine &machine) {
        arrays_.x = place(machine.x);
        arrays_.lower = bounds(machine, machine.lower, arrays_.lower_all);
        arrays_.upper = bounds(machine, machine.upper, arrays_.upper_all);
        sweeps_->bind(arrays_);
    }

    cudaopt::Sweeps *operator->() { return sweeps_.get(); }
    const cudaopt::UserArrays &arrays() const { return arrays_; }

    void store(const HeldVector &which, const std::vector<double> &values) {
        const int bits = bits_of(which);
        if (bits == 64) store_as<double>(which, values);
        else if (bits == 32) store_as<float>(which, values);
        else store_as<cudaopt::bfloat16>(which, values);
    }
    std::vector<double> fetch(const HeldVector &which) {
        const int bits = bits_of(which);
        return bits == 64   ? fetch_as<double>(which)
               : bits == 32 ? fetch_as<float>(which)
                            : fetch_as<cudaopt::bfloat16>(which);
    }
    // Stores the gradient at x_base, which the slot of a fresh pair or of a direction contains as y until the pair is
    // finished. If the columns have the caller's precision, it is there already.
    void store_g_base(const reference::Machine &machine, int slot) {
        store({HeldVector::g_base, slot}, machine.y[static_cast<std::size_t>(slot)]);
    }
    // Restores y of a slot. If g_base has its own vector, inner products with a fresh pair may have stored its final y.
    void store_y(const reference::Machine &machine, int slot) {
        store({HeldVector::y_column, slot}, machine.y[static_cast<std::size_t>(slot)]);
    }
    double f() {
        double f = 0;
        REQUIRE(sweeps_->bytes_of({HeldVector::f}) == sizeof f);
        sweeps_->fetch({HeldVector::f}, &f);
        return f;
    }

  private:
    // The allocation of host memory that a GPU can write takes a millisecond. The sweeps of a GPU are therefore kept
    // until the program ends, and machines of the same shape reuse them.
    static std::shared_ptr<cudaopt::Sweeps> sweeps_of(int64_t n, int m, bool aside, int device) {
        static auto &kept = *new std::map<std::tuple<int64_t, int, bool, int>, std::shared_ptr<cudaopt::Sweeps>>();
        std::shared_ptr<cudaopt::Sweeps> own,
            &sweeps = on_cuda() ? kept[{n, m, aside, Configuration::history_bits}] : own;
        if (!sweeps)
            sweeps = cudaopt::make_sweeps<Real>(Configuration::backend, n, Configuration::history_bits, device);
        return sweeps;
    }

    static int bits_of(const HeldVector &which) {
        const bool is_column = which.kind == HeldVector::s_column || which.kind == HeldVector::y_column;
        return is_column ? Configuration::history_bits : 8 * static_cast<int>(sizeof(Real));
    }
    template <class Stored> void store_as(const HeldVector &which, const std::vector<double> &values) {
        const std::vector<Stored> stored(values.begin(), values.end());
        REQUIRE(sweeps_->bytes_of(which) == static_cast<int64_t>(stored.size() * sizeof(Stored)));
        sweeps_->store(which, stored.data());
    }
    template <class Stored> std::vector<double> fetch_as(const HeldVector &which) {
        std::vector<Stored> stored(static_cast<std::size_t>(n_));
        sweeps_->fetch(which, stored.data());
        return std::vector<double>(stored.begin(), stored.end());
    }
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

    // Passes the bounds as an array, or as one number if all are equal and machine.uniform is set.
    void *bounds(const reference::Machine &machine, const std::vector<double> &values, double &for_all) {
        const auto differ = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<double>());
        if (!machine.uniform || values.empty() || differ != values.end()) return place(values);
        for_all = values[0];
        return nullptr;
    }

    int64_t n_;
    int offset_;
    std::atomic<bool> stop_requested_{false};
    cudaopt::CancellationToken cancellation_{stop_requested_};
    std::unique_ptr<cudaopt::MemorySpace> space_;
    std::shared_ptr<cudaopt::Sweeps> sweeps_;
    std::vector<void *> memory_;
    cudaopt::UserArrays arrays_{};
};

enum class Bounds {
    none,
    infinite,
    lower_alone,
    upper_alone,
    both,
    // From here on, bounds that are the same for all variables are passed as one number.
    uniform_around_0,
    uniform_above_0,
    uniform_below_0,
    uniform_lower, // and an array of upper bounds
    uniform_upper, // and an array of lower bounds
    uniform_lower_alone,
    count
};

// Draws x and x_base between bounds of which the lower or the upper ones are the same for all variables. Some variables
// are active.
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

// Returns random vectors, rounded as they are stored. With bounds, some variables are active, some are fixed, and some
// never reach a bound.
template <class Configuration>
reference::Machine random_machine(int64_t n, int m, Bounds bounds, cudaopt_test::Uniform &uniform) {
    reference::Machine machine(n, m, 8 * sizeof(typename Configuration::Real), Configuration::history_bits);
    const auto between = [&](double low, double high) { return machine.stored(low + (high - low) * uniform()); };
    const auto fill = [&](std::vector<double> &values, double low, double high) {
        values.resize(static_cast<std::size_t>(n));
        for (double &v : values) v = between(low, high);
    };
    fill(machine.x, -2, 2);
    fill(machine.g, -1, 1);
    fill(machine.diagonal, 0.25, 4);
    fill(machine.x_base, -2, 2);
    for (int slot = 0; slot <= m; slot++)
        for (auto *column : {&machine.s[slot], &machine.y[slot]}) {
            fill(*column, -1, 1);
            for (double &v : *column) v = machine.history.stored(v);
        }
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

// Returns the median of the finite breakpoints, or 1 if there are none.
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
