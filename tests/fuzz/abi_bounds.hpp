// The bounds of a fuzzed solve in its precision, as arrays or, if they are the same for all variables, as numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "functions.hpp"

namespace fuzz {

template <class Real> class Bounds {
    using Api = cudaopt_test::Abi<Real>;
    static constexpr Real infinity = std::numeric_limits<Real>::infinity();

  public:
    const char *words;

    Bounds(Run &run, int64_t n) : run_(run), random_(run.random) {
        const Box box(random_, n, sizeof(Real) == 4 ? 3e38 : 1e300);
        words = box.words;
        sound_ = box.sound;
        for (const double l : box.lower) lower_.push_back(static_cast<Real>(l));
        for (const double u : box.upper) upper_.push_back(static_cast<Real>(u));
        if (sound_ && random_.chance(0.3)) {
            for (auto *bounds : {&lower_, &upper_})
                if (!bounds->empty() && random_.chance(0.8)) std::fill(bounds->begin(), bounds->end(), bounds->front());
            if (!consistent()) std::fill(lower_.begin(), lower_.end(), -infinity);
        }
        as_numbers_ = random_.chance(0.5);
    }

    double lower(std::size_t i) const { return lower_.empty() ? -infinity : lower_[i]; }
    double upper(std::size_t i) const { return upper_.empty() ? infinity : upper_[i]; }
    bool any_nan() const {
        const auto nan = [](Real bound) { return std::isnan(bound); };
        return std::any_of(lower_.begin(), lower_.end(), nan) || std::any_of(upper_.begin(), upper_.end(), nan);
    }
    // Returns whether each variable has a finite feasible value.
    bool consistent() const {
        for (std::size_t i = 0; i < std::max(lower_.size(), upper_.size()); i++)
            if (!(lower(i) <= upper(i)) || lower(i) == infinity || upper(i) == -infinity) return false;
        return sound_;
    }
    void make_sound() {
        for (std::size_t i = 0; i < lower_.size(); i++)
            if (!(lower_[i] < infinity) || lower_[i] > upper(i))
                lower_[i] = upper_.empty() ? Real(-1) : std::min(Real(-1), upper_[i]);
        sound_ = true;
    }

    // The result of a solve does not depend on the form of the bounds.
    void change_form() { as_numbers_ = !as_numbers_; }
    // Sets the bounds of a handle whose variables begin with variable `first`.
    void set(cuda_opt *s, int64_t first = 0) {
        const bool l = is_number(lower_), u = is_number(upper_);
        check_code(run_, s, "set_bounds", Api::set_bounds(s, array(lower_, l, first), array(upper_, u, first)), {0});
        check_code(run_, s, "set_uniform_bounds",
                   Api::set_uniform_bounds(s, l ? lower_[0] : -infinity, u ? upper_[0] : infinity), {0});
    }
    // Sets other bounds and then these bounds again.
    void disturb(cuda_opt *s, bool started) {
        const Real l = hostile(), u = hostile();
        const bool good = l <= u && l < infinity && u > -infinity;
        check_code(run_, s, "hostile_uniform_bounds", Api::set_uniform_bounds(s, l, u),
                   {started ? CUDA_OPT_MISUSE
                    : good  ? 0
                            : CUDA_OPT_IMPROPER_INPUT},
                   l != l || u != u);
        if (!started) set(s);
    }

  private:
    bool is_number(const std::vector<Real> &bounds) const {
        return as_numbers_ && consistent() && !bounds.empty() &&
               std::all_of(bounds.begin(), bounds.end(), [&](Real bound) { return bound == bounds[0]; });
    }
    static const Real *array(const std::vector<Real> &bounds, bool number, int64_t first) {
        return number || bounds.empty() ? nullptr : bounds.data() + first;
    }
    Real hostile() {
        const double value = random_.hostile(), largest = static_cast<double>(std::numeric_limits<Real>::max());
        return static_cast<Real>(std::isfinite(value) ? std::clamp(value, -largest, largest) : value);
    }

    Run &run_;
    Random &random_;
    std::vector<Real> lower_, upper_; // empty: no bounds on that side
    bool sound_, as_numbers_;
};

} // namespace fuzz
