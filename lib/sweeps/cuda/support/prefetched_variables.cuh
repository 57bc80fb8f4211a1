// This header is the host's side of the variables that the device sends for the Cauchy search. It selects those that
// the search needs. It also determines the breakpoint up to which the next sweep 1 sends variables in advance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sweeps/cuda/support/crossed.cuh"
#include "sweeps/cuda/support/support.cuh"
#include "sweeps/found_variables.hpp"

namespace cudaopt {

class PrefetchedVariables {
  public:
    void allocate(int columns) {
        const int64_t size = int64_t{crossed_capacity} * CrossedVariables::record_size(columns);
        records_.allocate(size + crossed_capacity);
        t_ = records_.get() + size;
    }
    CrossedVariables place(unsigned long long *count) const { return {t_, records_.get(), count}; }

    // The device sends variables in advance, which means that sweep 1 sends them before the host requests them. The
    // function invalidate() records that the variables in host memory were not sent in advance. The function ahead()
    // returns the breakpoint up to which the next sweep 1 sends variables, if it sends any.
    void invalidate() { below_ = 0; }
    SendAhead ahead(bool sends, unsigned long long *count) {
        if (sends) below_ = next_;
        return {below_, static_cast<float>(below_ * (1 + 1e-5)), place(count)};
    }

    // Records the number of variables that sweep 1 has sent to the host. If it exceeds the capacity, they are not used,
    // and the next sweep 1 sends variables up to a smaller breakpoint.
    void record(const PanelRequest &panel, int64_t variables) {
        panel_ = panel;
        variables_ = variables;
        if (variables > crossed_capacity) {
            below_ = 0;
            next_ = std::isfinite(next_) ? next_ / 2 : 0;
        }
    }

    // Sets the breakpoint up to which the next sweep 1 sends variables. The latest Cauchy search needed the `count`
    // variables with breakpoints in (lo, hi], and before that those up to lo. The next one is expected to need
    // variables up to about the same breakpoint. Sweep 1 goes beyond hi by a factor, which is smaller if it would send
    // too many.
    void expect(double lo, double hi, int64_t count) {
        needed_ = count + (lo > 0 ? needed_ : 0);
        const double root = std::cbrt(most_sent / static_cast<double>(std::max<int64_t>(needed_, 1)));
        const double factor = std::min(most_ahead, root * root);
        next_ = (needed_ <= crossed_capacity ? std::max(1.0, factor) : factor) * hi;
    }

    // Returns whether sweep 1 has already sent all variables with breakpoints up to hi.
    bool covers(const PanelRequest &panel, double hi) const {
        return hi <= below_ && panel.pairs == panel_.pairs && panel.newest_slot == panel_.newest_slot &&
               panel.fresh == panel_.fresh && panel.weighted == panel_.weighted;
    }
    int64_t count() const { return variables_; }

    // Finds the variables with breakpoints in (lo, hi] among the first `count` that were sent.
    void between(double lo, double hi, int64_t count, int columns, FoundVariables &found) const {
        found.clear();
        const int size = CrossedVariables::record_size(columns);
        for (int64_t k = 0; k < count; k++) {
            if (!(t_[k] > lo && t_[k] <= hi)) continue;
            const double *record = records_.get() + k * size, *w = record + 1;
            for (int j = 0; j <= columns; j += 64 / sizeof(double)) __builtin_prefetch(record + j);
            found.add({t_[k], 0, 0, 0, w});
        }
        // The loop above has prefetched the records.
        for (CrossedVariable &variable : found.variables()) {
            std::memcpy(&variable.index, variable.w - 1, sizeof variable.index);
            variable.g = variable.w[panel::gradient], variable.z = variable.w[panel::displacement];
        }
    }

  private:
    // The constant most_ahead is the largest ratio of the breakpoint up to which variables are sent to the one that the
    // latest Cauchy search needed. The latter changes from one iteration to the next by a bounded factor. In an
    // experiment with the torsion problem, the ratio of successive steepest-descent minimisers was between 1/2 and 2.3.
    static constexpr double most_ahead = 2.5;
    // In the same experiment the number of breakpoints up to t grew as t^1.5. The constant most_sent is the number of
    // variables that sweep 1 should send at most. It is much less than crossed_capacity, because the number varies.
    static constexpr double most_sent = 1200;

    CudaArray<double, Lives::on_host_mapped> records_; // and then the breakpoints, because an allocation takes 0.2 ms
    double *t_ = nullptr;
    // Sweep 1 has sent all variables with breakpoints in (0, below_].
    double below_ = 0;
    int64_t variables_ = 0;
    PanelRequest panel_{};
    // The number of variables that the latest Cauchy search needed, and the breakpoint up to which the next sweep 1
    // sends variables.
    int64_t needed_ = 0;
    double next_ = 0;
};

} // namespace cudaopt
