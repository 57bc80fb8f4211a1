// Implements CheckSweeps for an executor, that of the host or of CUDA (backend/makers.hpp).
#pragma once

#include "gradient_check/gradient_check.hpp"

namespace cudaopt {

template <class Executor, class Real> class CheckSweepsOn final : public CheckSweeps {
  public:
    CheckSweepsOn(int64_t n, int device) : n_(n), executor_(device, "the check of a gradient") {}

    void begin(const UserArrays &user, const Resources &resources) override {
        user_ = user;
        executor_.template start<CopyPoint<Real>, CheckPoint<Real>, LookAtGradient<Real>>(resources);
        executor_.map(n_, CopyPoint<Real>{x(), executor_.allocate(x0_, n_)});
        // The stored gradient needs some finite values until the first gradient is known, so x is copied to it.
        executor_.map(n_, CopyPoint<Real>{x(), executor_.allocate(g0_, n_)});
    }
    MoveRecord move(const CheckDirection &direction, double t) override {
        const Scales<Real> scales{of(user_.scales), user_.scale_all};
        return executor_.reduce(n_,
                                CheckPoint<Real>{x0_.get(), g0_.get(), x(), scales, box_of<Real>(user_), direction, t});
    }
    LookRecord look(bool keep) override {
        return executor_.reduce(n_, LookAtGradient<Real>{user_.f, of(user_.g), g0_.get(), keep});
    }
    void restore_x() override { executor_.map(n_, CopyPoint<Real>{x0_.get(), x()}); }

  private:
    static const Real *of(const void *vector) { return static_cast<const Real *>(vector); }
    Real *x() const { return static_cast<Real *>(user_.x); }

    const int64_t n_;
    UserArrays user_{};
    typename Executor::template Array<Real> x0_, g0_;
    Executor executor_; // the last member, so that its destructor waits before the arrays are freed
};

} // namespace cudaopt
