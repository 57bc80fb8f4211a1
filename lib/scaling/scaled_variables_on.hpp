// Implements ScaledVariables for an executor, that of the host or of CUDA (backend/makers.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "scaling/scaled_variables.hpp"

namespace cudaopt {

template <class Executor, class Real> class ScaledVariablesOn final : public ScaledVariables {
    using Array = typename Executor::template Array<Real>;

  public:
    ScaledVariablesOn(int64_t n, int device) : n_(n), executor_(device, "the scaling of variables") {}

    const UserArrays &bind(const UserArrays &user, const Resources &resources) override {
        user_ = user;
        executor_.template start<CheckScales<Real>, Divide<Real>, ScaleGradient<Real>, UnscaleX<Real>,
                                 RemoveInfiniteSlope<Real>>(resources);
        arrays_ = user;
        arrays_.x = need(z_, true);
        arrays_.g = need(g_z_, true);
        bind_side(lower_, arrays_.lower, arrays_.lower_all);
        bind_side(upper_, arrays_.upper, arrays_.upper_all);
        arrays_.diagonal = need(diagonal_, user.diagonal != nullptr);
        return arrays_;
    }
    int64_t workspace_bytes() const override {
        return z_.bytes() + g_z_.bytes() + lower_.bytes() + upper_.bytes() + diagonal_.bytes() + executor_.bytes();
    }

    ScaleRecord scale_start(bool with_x) override {
        const Real *const x = with_x ? of(user_.x) : nullptr;
        const ScaleRecord record = executor_.reduce(n_, CheckScales<Real>{scales(), x, box_of<Real>(user_)});
        if (!record.usable()) return record;
        if (lower_.get()) divide(user_.lower, user_.lower_all, lower_.get());
        if (upper_.get()) divide(user_.upper, user_.upper_all, upper_.get());
        if (with_x) divide(user_.x, 0, z_.get());
        return record;
    }
    void scale_gradient() override { executor_.map(n_, ScaleGradient<Real>{scales(), of(user_.g), g_z_.get()}); }
    void scale_diagonal() override { divide(user_.diagonal, 0, diagonal_.get(), true); }
    void unscale_x() override {
        executor_.map(n_, UnscaleX<Real>{scales(), z_.get(), box_of<Real>(user_), box_of<Real>(arrays_), of(user_.x)});
    }
    void remove_infinite_slopes() override {
        executor_.map(n_, RemoveInfiniteSlope<Real>{of(user_.x), of(user_.g), box_of<Real>(user_)});
    }
    void unscale_gradient() override { divide(g_z_.get(), 0, of(user_.g)); }
    void read_scales(double *to) override {
        if (!user_.scales) return std::fill_n(to, n_, user_.scale_all), void();
        std::vector<Real> scales(static_cast<std::size_t>(n_));
        executor_.copy_out(scales.data(), user_.scales, sizeof(Real) * scales.size());
        std::copy(scales.begin(), scales.end(), to);
    }

  private:
    static const Real *of(const void *vector) { return static_cast<const Real *>(vector); }
    static Real *of(void *vector) { return static_cast<Real *>(vector); }
    Scales<Real> scales() const { return {of(user_.scales), user_.scale_all}; }
    // Replaces the bounds of a side of the box by scaled bounds. A side needs a vector of them if the caller's bounds
    // are an array. One bound for all variables needs a vector unless it is 0 or infinite, or all variables have the
    // same scale. It is then divided by this scale and rounded to Real. The variable is volatile, because GCC 12 omits
    // the rounding at -O2 and above.
    void bind_side(Array &array, const void *&bound, double &bound_all) {
        bound = need(array, bound || (user_.scales && bound_all != 0 && is_finite(bound_all)));
        const volatile Real rounded = static_cast<Real>(bound_all / user_.scale_all);
        if (!user_.scales) bound_all = static_cast<double>(rounded);
    }
    Real *need(Array &array, bool wanted) {
        if (wanted) return executor_.allocate(array, (n_ + 63) / 64 * 64);
        array.release();
        return nullptr;
    }
    void divide(const void *from, double all, Real *to, bool twice = false) {
        executor_.map(n_, Divide<Real>{scales(), of(from), all, to, twice});
    }

    const int64_t n_;
    UserArrays user_{}, arrays_{};
    Array z_, g_z_, lower_, upper_, diagonal_;
    Executor executor_; // the last member, so that its destructor waits before the arrays are freed
};

} // namespace cudaopt
