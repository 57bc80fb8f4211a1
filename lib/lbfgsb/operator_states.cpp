// The transitions of the state machine that belong to an operator as initial Hessian (operator_model.hpp).
#include "lbfgsb/state_machine.hpp"

#include "lbfgsb/termination.hpp"
#include "lbfgsb/trial.hpp"

namespace cudaopt {

void StateMachine::begin_operator(const PanelProducts &sums) {
    const CauchySearch<0> &path = cauchy_;
    if (fresh_start) operator_.forget_scale();
    operator_.begin(matrix_, sums, path.free_gram(sums), path.p());
    request_operator_input();
}

void StateMachine::request_operator_input() {
    operator_request_ = operator_.input(direction_request_.panel);
    suspend(State::operator_formed, Verb::operator_input);
}

// The caller has applied the operator. If the vector was y of a pair, gamma follows, and q is the next vector.
void StateMachine::accept_operator(const OperatorProducts &products) {
    constexpr double least_square = 1e-200; // products of shorter vectors may underflow
    operator_.count_application();
    // If v has overflowed, the operator is not to blame.
    if (!is_finite(products.in_in)) return leave_operator();
    if (products.not_finite > 0)
        return end_with_operator(EventKind::operator_is_not_finite, static_cast<double>(products.not_finite), 0);
    if (!(products.in_out > 0) && products.in_in > least_square)
        return end_with_operator(EventKind::operator_is_not_positive, products.in_out, std::sqrt(products.in_in));
    if (operator_.measures_scale()) {
        operator_.set_scale(products);
        return request_operator_input();
    }
    if (!operator_.is_symmetric(products)) return leave_operator();
    if (!operator_.direction(products, operator_request_)) return break_down();
    take_direction(Verb::operator_direction);
}

// Forms the model with B_0 = theta I before a direction was taken, when y of the newest pair may not be stored yet.
void StateMachine::leave_operator() {
    operator_.refuse();
    request_products(State::model_products, model_panel());
}

void StateMachine::end_with_operator(EventKind why, double a, double b) {
    end_numbers[0] = a, end_numbers[1] = b;
    end(CUDA_OPT_BAD_OPERATOR, why);
    settle();
}

// Verifies the stopping test FACTR with the norm of the relative gradient. A badly conditioned operator may move few
// variables only. Where the others are 0, the relative gradient is small although f is not near a minimum. With an
// operator, the model with B_0 = theta I and without pairs must therefore predict a small decrease along -P g as well.
// An infinite RELATIVE_GTOL disables both conditions.
void StateMachine::verify_decrease(double relative_gradient) {
    verify(settings, relative_gradient);
    if (!uses_operator() || !is_finite(settings.relative_gtol)) return;
    const double predicted = results.pg_norm2 * results.pg_norm2 / (2 * matrix_.theta());
    if (!(predicted <= significant_decrease(settings))) relatively_flat = false;
}

// Returns whether f at the first trial point is too large and the projection has changed that point. A line search
// along the segment to it would move the variables that the projection has stopped away from their bounds.
bool StateMachine::shortens_direction(const PanelProducts &sums) {
    const bool is_first = search_evaluations == 0 && line.step() == first_step;
    if (!operator_.is_used() || direction.projected == 0 || !is_first || returning) return false;
    if (!are_finite(sums)) return false; // the line search cuts the step, and a longer one must not follow
    const double slope = first_step * slope_base,
                 errors = rounding_level * std::fabs(f_base) + 2 * noise_level(settings, f_base);
    shortening_ = operator_.shorter(f_base, slope, f_base + settings.ftol * slope + errors, sums.f);
    return shortening_ < 1;
}

// Returns whether a direction that does not descend may be shortened. If the projection has changed x + d, the
// direction to P(x + t d) descends if t is small enough.
bool StateMachine::can_shorten_direction() const { return direction.projected > 0 && operator_.can_shorten(); }

void StateMachine::take_shorter_direction() {
    if (ends_at_limit(settings, false)) return settle();
    operator_.shorten(shortening_, operator_request_);
    direction_request_.panel.fresh = false; // the first direction has stored y
    take_direction(Verb::operator_direction);
}

// The direction of the operator does not descend, or the line search found no step. This is no fault of the operator if
// the decrease that can be expected is below the rounding errors of f.
void StateMachine::refuse_operator_direction(double decrease) {
    operator_.refuse(decrease > rounding_level * std::fabs(f_base) + noise_level(settings, f_base));
}

// The direction of the operator does not descend, or no step along it was accepted. The direction of the model with B_0
// = theta I replaces it at this iterate.
void StateMachine::replace_operator() {
    if (ends_at_limit(settings, true)) return settle();
    use_stored_pairs();
    request_products(State::model_products, model_panel());
}

} // namespace cudaopt
