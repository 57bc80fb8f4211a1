// Converts the caller's arrays before and after each call of a solve in scaled variables z = x / s, where s_i > 0 is
// the typical size of x_i. The state machine and the sweeps (the operations of the backend on all variables) use only z
// and its gradient s g (scaling/scaled_variables.hpp).
#include <limits>

#include "backend/makers.hpp"
#include "boundary/checksum.hpp"
#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

void Solver::bind_arrays() {
    x_is_new_ = g_is_restored_ = false;
    if ((!arrays.scales && arrays.scale_all == 1) || own_dimension() == 0) {
        scaled_.reset();
        return sweeps_->bind(arrays);
    }
    if (!scaled_) scaled_ = makers_of(backend_).scaled_variables(own_dimension(), bits_, device_);
    sweeps_->bind(scaled_->bind(arrays, resources()));
}

// Checks the scales before a solve, and divides the bounds by them. with_x: whether the start is divided as well.
// Returns 0, or a code and sets the message.
int Solver::prepare_scales(bool with_x) {
    if (!scaled_) return 0;
    const ScaleRecord found = scaled_->scale_start(with_x);
    if (found.usable()) return 0;
    const bool bad = found.bad.v != no_index;
    const int64_t i = bad ? found.bad.v : found.out_of_range.v;
    const long long index = i + (ranks_ ? ranks_->part().first : 0);
    double s = arrays.scale_all, x = std::numeric_limits<double>::quiet_NaN(), l = arrays.lower_all,
           u = arrays.upper_all;
    const auto read = [&](const void *array, double &value) {
        if (array) sweeps_->read(array, i, 1, &value);
    };
    read(arrays.scales, s), read(arrays.lower, l), read(arrays.upper, u);
    if (with_x) read(arrays.x, x);
    if (bad)
        return new_message().refuse_input(
            "the scale at index %lld (counted from 0) is %g, but scales have to be positive and finite", index, s);
    return new_message().refuse_input("at index %lld (counted from 0) x or a bound leaves the range of numbers when it "
                                      "is divided by the scale %g: l = %g, x = %g, u = %g",
                                      index, s, l, x, u);
}

// Converts the gradient or the diagonal that the caller has supplied for the last task to scaled variables.
void Solver::scale_input() {
    if (!scaled_ || !state_->started() || resumed_) return;
    if (state_->task() == CUDA_OPT_EVALUATE_FG) scaled_->scale_gradient();
    if (state_->task() == CUDA_OPT_SUPPLY_DIAGONAL) scaled_->scale_diagonal();
}

// Converts z and s g to the caller's x and g, if the backend has changed them since the last conversion.
void Solver::unscale_output() {
    if (!scaled_) return;
    if (x_is_new_) scaled_->unscale_x();
    if (g_is_restored_) scaled_->unscale_gradient();
    x_is_new_ = g_is_restored_ = false;
}

std::vector<double> Solver::scales() {
    std::vector<double> values(static_cast<std::size_t>(scaled_ ? own_dimension() : 0));
    if (scaled_) scaled_->read_scales(values.data());
    return values;
}

// Returns a checksum of the scales, or 0 if there are none. The checksum of existing scales is never 0.
uint64_t Solver::scales_checksum() {
    if (!scaled_) return 0;
    const std::vector<double> values = scales();
    const uint64_t sum = checksum(values.data(), static_cast<int64_t>(sizeof(double) * values.size()));
    return sum == 0 ? 1 : sum;
}

// Returns 0 if the scales are equal to those of a saved solve, whose vectors are in scaled variables. Otherwise sets
// the message and returns a negative code.
int Solver::check_scales(uint64_t saved) {
    const uint64_t own = scales_checksum();
    if (own == saved) return 0;
    return new_message().refuse_input("the scales of the variables are not those of the solve that was saved: it had "
                                      "%s, and the handle has %s",
                                      saved ? "scales" : "none",
                                      own == 0 ? "none"
                                      : saved  ? "others"
                                               : "some");
}

} // namespace cudaopt
