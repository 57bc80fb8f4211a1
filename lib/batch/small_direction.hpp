// The direction sweep of one small problem computes the direction d from the coefficients of the quadratic model, and
// the first trial point, x_base + step d projected on the box, where x_base is the present x. The same traversal copies
// x and g to x_base and g_base, and moves each stored correction pair to the next position, so that d becomes the
// newest s.
#pragma once

#include "batch/small_sweeps.hpp"

namespace cudaopt::batch {

// Returns component i of the step from x to the minimiser of the model in the subspace, before its projection on the
// box. With the coefficients a of g, p_k of y_k and q_k of s_k it is h_i (a g_i + sum p_k y_ki) + sum q_k s_ki.
template <class Real, class Team, class ShapeOf>
template <class Size, class Entries>
CUDA_OPT_HD_INLINE double SmallSweeps<Real, Team, ShapeOf>::subspace_move(Size pairs, double gradient_coefficient,
                                                                          const double *coefficients, double g,
                                                                          double h, const Entries &entries) {
    double from_y = gradient_coefficient * g, from_s = 0;
    CUDA_OPT_UNROLLED(dense::times_unrolled<Size>)
    for (int age = 0; age < pairs; age++) {
        const int column = panel::y_column(age);
        from_y += coefficients[column] * static_cast<double>(entries[2 * age]);
        from_s += coefficients[column + 1] * static_cast<double>(entries[2 * age + 1]);
    }
    return h * from_y + from_s;
}

template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_direction(const DirectionRequest &request,
                                                                         bool bounded) {
    bring_to_front(request.panel);
    dense::at_size<known_pairs<ShapeOf>>(pairs_of(request.panel), [&](auto pairs) {
        if (has_bounds<ShapeOf> && bounded) form_direction_of<true>(pairs, request);
        else form_direction_of<false>(pairs, request);
    });
}

// Moves the stored correction pairs by one position and stores d as the newest s. On a device, if m is a compile-time
// constant, the data of the next variables is loaded while the current ones are processed.
template <class Real, class Team, class ShapeOf>
template <bool bounded, class Size>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_direction_of(Size pairs,
                                                                            const DirectionRequest &request) {
    constexpr bool known = on_device && !std::is_same_v<Size, int>;
    using Own = RowOfPairs<History, known ? 2 * known_pairs<ShapeOf> : 0, PairValues>;
    struct Loaded {
        BoxedVariable at;
        Own own;
    };
    const auto load = [&](int i) { return Loaded{this->template row<bounded>(i), Own(this->pairs(i))}; };
    Coefficients<known ? panel::columns(known_pairs<ShapeOf>) : 0> q(coefficients_);
    const double of_gradient = request.gradient_coefficient;
    DirectionRecord record;
    in_turn<in_advance>((shape_.n + Team::width - 1) / Team::width,
                        [&](int k) {
                            const int i = k * Team::width + team_.lane();
                            return i < shape_.n ? load(i) : Loaded{};
                        },
                        [&](int k, const Loaded &here) {
                            const int i = k * Team::width + team_.lane();
                            if (i >= shape_.n) return;
                            const BoxedVariable &at = here.at;
                            const double move =
                                subspace_move(pairs, of_gradient, q.values, at.g, weight(request.panel, i), here.own);
                            const auto trial =
                                take_trial<Real, History>(at, request, weight(request.panel, i), move, record);
                            const PairValues own = this->pairs(i);
                            CUDA_OPT_HOST_UNROLLED(16)
                            for (int l = 2 * shape_.m - 1; l >= 0; l--) own[l + 2] = here.own[l];
                            own[panel::s_new] = trial.d;
                            vector(at_g_base)[i] = static_cast<Real>(at.g);
                            vector(at_x_base)[i] = static_cast<Real>(at.x);
                            x()[i] = trial.x;
                        });
    team_.sync(); // all lanes have read front(), which the first lane changes next
    if (team_.lane() == 0) front() = request.spare_slot;
    const Count projected = team_.join(Count{static_cast<int64_t>(record.projected.v)});
    if (team_.lane() == 0) replies_->direction.projected = static_cast<double>(projected.v);
    if constexpr (several) sum_direction();
    else replies_->direction.slope = record.slope.v, replies_->direction.d_squared = record.d_squared.v;
}

// Computes the inner products d'g and d'd. Each is formed by one lane of the team.
template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::sum_direction() {
    if (team_.lane() > 1) return;
    const bool first = team_.lane() == 0;
    const auto d = column_of_pairs<History, Real>(pairs(0) + panel::s_new, row_stride(shape_.m));
    const double sum = product(shape_.n, d, first ? column_of_vector<History, Real>(g()) : d);
    (first ? replies_->direction.slope : replies_->direction.d_squared) = sum;
}

} // namespace cudaopt::batch
