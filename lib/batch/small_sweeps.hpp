// The sweeps of one small problem, which are its operations on all n variables. Variables and sums are distributed over
// the lanes of a team (team.hpp). All lanes call the functions of the first group below, and the first lane alone those
// of the second. small_inner_products.hpp defines the sweep of the inner products.
#pragma once

#include <cmath>
#include <type_traits>

#include "batch/layout.hpp"
#include "batch/products.hpp"
#include "batch/team.hpp"
#include "batch/weighted_rows.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt::batch {

// The counts, minima and maxima of the sweep of the inner products: the largest |(P g)_i|, the number of components of
// g that are not finite, and with bounds the least breakpoint and the numbers of variables at bounds and free. They do
// not depend on the order of the variables, so that the records of all lanes can be joined.
template <bool bounds> struct RowFacts {
    Max largest{0};
    Count not_finite;
    CUDA_OPT_HD void join(const RowFacts &o) { largest.join(o.largest), not_finite.join(o.not_finite); }
};
template <> struct RowFacts<true> : RowFacts<false> {
    Min first_breakpoint;
    Count at_lower, at_upper, free;
    CUDA_OPT_HD void join(const RowFacts &o) {
        RowFacts<false>::join(o);
        first_breakpoint.join(o.first_breakpoint);
        at_lower.join(o.at_lower), at_upper.join(o.at_upper), free.join(o.free);
    }
};

template <class Real, class Team, class ShapeOf = Shape> class SmallSweeps {
  public:
    using Values = Numbers<Real, ShapeOf>;
    using PairValues = Pairs<Real, ShapeOf>;
    using History = Stored<Real, ShapeOf>;
    static_assert(std::is_same_v<Real, History> || std::is_same_v<History, bfloat16> ||
                      (std::is_same_v<Real, double> && std::is_same_v<History, float>),
                  "pairs are of x's own bits, or of fewer: float or bfloat16");

    // vectors: memory of vectors_bytes(shape) bytes.
    CUDA_OPT_HD SmallSweeps(Team team, ShapeOf shape, const Workspace &workspace, const Values &vectors,
                            const BoxArrays<Real> &box)
        : team_(team), shape_(shape), box_(box),
          persistent_(reinterpret_cast<Persistent<ShapeOf> *>(workspace.persistent)), vectors_(vectors) {
        replies_ = reinterpret_cast<Replies *>(workspace.replies);
        leading_ = reinterpret_cast<double *>(replies_ + 1);
        coefficients_ = leading_ + leading_count(shape);
        if constexpr (!ShapeOf::bounds) return;
        const int columns = panel::columns(shape.m), rows = padded(shape.n);
        double *next = reinterpret_cast<double *>(workspace.scratch + rounded_up(sizeof(Operands)) +
                                                  rounded_up(transient_bytes(shape)));
        const auto take = [&next](int count) {
            double *const taken = next;
            next += count;
            return taken;
        };
        free_gram_ = take(panel::gram_count(columns));
        older_steps_ = take(older_count(shape));
        breakpoints_ = take(rows);
        entries_ = take(rows * entries_stride(shape));
        crossed_ = reinterpret_cast<CrossedVariable *>(next);
        free_ = reinterpret_cast<int *>(crossed_ + shape.n);
    }

    CUDA_OPT_HD Values x() const { return vector(at_x); }
    CUDA_OPT_HD Values g() const { return vector(at_g); }
    CUDA_OPT_HD Values h() const { return vector(at_h); } // may be called only if the problem has weights h
    CUDA_OPT_HD double &f() const { return persistent_->f; }

    // ---- functions that all lanes call

    // Checks the start and the bounds, and projects a valid start on the box. Every lane receives the report.
    CUDA_OPT_HD StartReport check_start() const {
        const StartReport report =
            report_of<Real>(over_rows<StartRecord>(CheckStart<Real, Values>{x(), box_}), shape_.n);
        if (report.usable(shape_.n)) each_row(MoveIntoBox<Real, Values>{x(), box_});
        return report;
    }
    // Computes the inner products of the panel's columns with each other (lbfgsb/panel.hpp). If `update` contains
    // correction pairs, the learned diagonal is first updated with them (lbfgsb/learned_diagonal.hpp).
    CUDA_OPT_HD void inner_products(const PanelRequest &request, const DiagonalUpdate &update) {
        bring_to_front(request);
        if constexpr (ShapeOf::weights)
            if (in_metric(shape_)) weighted_rows().learn(team_, front(), update, x());
        form_inner_products(request, persistent_->iteration.bounded);
        team_.sync();
    }
    // Computes the direction d from the coefficients of the quadratic model, and the first trial point.
    CUDA_OPT_HD void direction(const DirectionRequest &request) {
        const bool bounded = ShapeOf::bounds && persistent_->iteration.bounded;
        bring_to_front(request.panel);
        dense::at_size<ShapeOf::pairs>(pairs_of(request.panel), [&](auto pairs) {
            if (bounded) form_direction<true>(pairs, request);
            else form_direction<false>(pairs, request);
        });
        team_.sync();
    }
    CUDA_OPT_HD void step(double length) const {
        rows_together<loaded_together<ShapeOf>>(
            team_, shape_.n, [this](int i) { return base(i); },
            [=](int i, const Base &at) {
                if (i < shape_.n) x()[i] = stepped_variable<Real>(at.x, at.d, length, at.l, at.u);
            });
    }
    // Returns, in every lane, the factor by which a direction is shortened so that its end point lies in the box.
    CUDA_OPT_HD double truncation(const DirectionRequest &request) {
        bring_to_front(request.panel);
        // The elements of variable i in all correction pairs. They are loaded together.
        using Own = RowOfPairs<History, bands ? 2 * ShapeOf::pairs : 0, PairValues>;
        const auto rule = [=, &request](int i, Min &alpha) {
            const BoxedVariable at = row(i);
            const Own own(pairs(i));
            const double h = weight(request.panel, i),
                         move = dense::at_size<ShapeOf::pairs>(pairs_of(request.panel), [&](auto size) {
                             return subspace_move(size, request.gradient_coefficient, coefficients_, at.g, h, own);
                         });
            alpha.add(truncation_of_variable(at, request, h, move));
        };
        const double alpha = over_rows<Min>(rule).v;
        team_.sync(); // all lanes have read the request, which the first lane changes next
        return alpha < 0 ? 0 : alpha < 1 ? alpha : 1;
    }

    // ---- functions that only the first lane calls

    // The results of the last inner products and of the last direction. products() returns a copy whose pointers are
    // members of this object, so that the compiler can determine the address space of the arrays.
    CUDA_OPT_HD PanelProducts products() const {
        PanelProducts products = replies_->products;
        if (is_full(shape_)) products.columns = panel::columns(shape_.m);
        products.free_gram = free_gram_;
        products.leading_products = leading_;
        return products;
    }
    CUDA_OPT_HD const DirectionSums &direction_sums() const { return replies_->direction; }
    // The coefficients of the direction, one for each column of the panel.
    CUDA_OPT_HD double *coefficients() const { return coefficients_; }
    CUDA_OPT_HD void restore(double f_base) const {
        alone(Restore<Real, Values>{x(), g(), vector(at_x_base), vector(at_g_base), &f(), f_base});
    }
    CUDA_OPT_HD void save_best() const {
        alone(Restore<Real, Values>{vector(at_best_x), vector(at_best_g), vector(at_x_base), vector(at_g_base)});
    }
    CUDA_OPT_HD void save_trial() const {
        alone(Restore<Real, Values>{vector(at_best_x), vector(at_best_g), x(), g()});
    }
    CUDA_OPT_HD void restore_best(double f_best) const {
        alone(Restore<Real, Values>{x(), g(), vector(at_best_x), vector(at_best_g), &f(), f_best});
    }
    // The sum of squares depends on the order of its terms, so that one lane forms it.
    CUDA_OPT_HD double norm(const NormRequest &request) const {
        struct Change {
            const SmallSweeps *sweeps;
            int column;
            CUDA_OPT_HD double operator[](int64_t i) const { return sweeps->pairs(static_cast<int>(i))[column]; }
        };
        const int slots = shape_.m + 1, ahead = static_cast<int>(front() - request.slot + slots) % slots;
        const MeasureNorm<Real, Change, Values> rule{request,          x(), g(), box_, {this, 2 * ahead + panel::y_new},
                                                     vector(at_g_base)};
        ScaledSquares record;
        alone([&](int i) { rule(i, record); });
        return record.norm();
    }
    CUDA_OPT_HD void remove_infinite_slopes() const { alone(RemoveInfiniteSlope<Real, Values>{x(), g(), box_}); }
    CUDA_OPT_HD Variable variable(int64_t i) const {
        const auto k = static_cast<int>(i);
        return {static_cast<double>(x()[k]), box_.lower(i), box_.upper(i)};
    }
    // Returns the first index whose weight is not positive and finite, or n. Allowed only if there are weights.
    CUDA_OPT_HD int64_t first_bad_weight() const {
        FirstIndex first;
        alone([&](int i) { first.add(i, !is_weight(h()[i])); });
        return first.v;
    }
    CUDA_OPT_HD double largest_step() const {
        Min least;
        rows_together<loaded_together<ShapeOf>>(
            OneThread{}, shape_.n, [this](int i) { return base(i); },
            [&](int i, const Base &at) {
                if (i < shape_.n) least.add(largest_step_of_variable(at.x, at.d, at.l, at.u));
            });
        return least.v;
    }
    CUDA_OPT_HD CrossedWindow crossed(const PanelRequest &request, double lo, double hi) const {
        int count = 0;
        const int columns = panel::columns(pairs_of(request));
        CUDA_OPT_ROLLED
        for (int i = 0; i < shape_.n; i++) {
            const double t = breakpoints_[i];
            if (!(t > lo && t <= hi)) continue;
            const panel::Scaling by = scaling(request, i);
            const PathVariable at = on_path(row(i), weight(request, i), by);
            double *const entries = entries_ + count * columns;
            for (int column = 0; column < columns; column++)
                if (column != panel::gradient && column != panel::displacement)
                    entries[column] = by.of(column) * pairs(i)[column < panel::leading ? column : column - 2];
            // The breakpoints are sorted by t, and by index if t is equal.
            int place = count++;
            for (; place > 0 && crossed_[place - 1].t > t; place--) crossed_[place] = crossed_[place - 1];
            crossed_[place] = {t, i, at.g, at.z, entries};
        }
        return {crossed_, count, free_gram_};
    }
    CUDA_OPT_HD void form_free_gram(const PanelRequest &request) const; // defined in small_inner_products.hpp

  private:
    CUDA_OPT_HD int pairs_of(const PanelRequest &panel) const { return is_full(shape_) ? shape_.m : panel.pairs; }
    // True if a thread of a device forms all products in few traversals, because it waits for its loads in each.
    static constexpr bool bands = Team::width == 1 && on_device && panel::columns(ShapeOf::pairs) <= 12;
    static constexpr bool several = Team::width > 1; // whether a team has several lanes
    static constexpr int in_advance = bands ? loaded_in_advance<ShapeOf> : 1;
    CUDA_OPT_HD Values vector(int which) const { return vectors_ + which * padded(shape_.n); }
    // Returns y and d of variable i in all pairs, beginning with the newest pair.
    CUDA_OPT_HD PairValues pairs(int i) const {
        return pairs_from<History>(vector(vector_count(shape_))) + i * row_stride(shape_.m);
    }
    CUDA_OPT_HD History &d(int i) const { return pairs(i)[panel::s_new]; }
    CUDA_OPT_HD int64_t &front() const { return persistent_->front; }
    // The data that determines the trial points of a variable: x at the base point, d, and the bounds.
    struct Base {
        double x, d, l, u;
    };
    CUDA_OPT_HD Base base(int i) const {
        if constexpr (ShapeOf::bounds) return {vector(at_x_base)[i], d(i), box_.lower(i), box_.upper(i)};
        else return {vector(at_x_base)[i], d(i), -infinity, infinity};
    }
    template <bool bounded = true> CUDA_OPT_HD BoxedVariable row(int i) const {
        if constexpr (bounded) return {x()[i], g()[i], box_.lower(i), box_.upper(i)};
        else return {x()[i], g()[i], -infinity, infinity};
    }
    CUDA_OPT_HD WeightedRows<Values, PairValues> weighted_rows() const { return {h(), pairs(0), shape_.n, shape_.m}; }
    CUDA_OPT_HD_INLINE double weight(const PanelRequest &request, int i) const {
        if constexpr (ShapeOf::weights) return request.weighted ? static_cast<double>(h()[i]) : 1.0;
        else return 1;
    }
    CUDA_OPT_HD_INLINE panel::Scaling scaling(const PanelRequest &request, int i) const {
        if constexpr (ShapeOf::weights)
            if (request.weighted) return panel::scaling_of(h()[i]);
        return {1, 1};
    }

    template <class Rule> CUDA_OPT_HD void each_row(const Rule &rule) const {
        CUDA_OPT_ROLLED
        for (int i = team_.lane(); i < shape_.n; i += Team::width) rule(i);
    }
    template <class Record, class Rule> CUDA_OPT_HD Record over_rows(const Rule &rule) const {
        Record record;
        CUDA_OPT_ROLLED
        for (int i = team_.lane(); i < shape_.n; i += Team::width) rule(i, record);
        return team_.join(record);
    }
    // Calls rule(i) for all variables i. Only the first lane of the team may call this function.
    template <class Rule> CUDA_OPT_HD void alone(const Rule &rule) const {
        CUDA_OPT_ROLLED
        for (int i = 0; i < shape_.n; i++) rule(i);
    }

    // Moves the newest correction pair to the first position, where each direction sweep stores its d. This is needed
    // if the last direction has been discarded and has not become a pair. Positions without a pair become 0.
    CUDA_OPT_HD void bring_to_front(const PanelRequest &request) {
        if (request.pairs > 0 ? front() == request.newest_slot : !is_full(shape_)) return;
        const int slots = shape_.m + 1, ahead = static_cast<int>(front() - request.newest_slot + slots) % slots,
                  there = request.pairs > 0 ? 2 * (slots - ahead) : 0;
        each_row([=](int i) {
            const PairValues at = pairs(i);
            // All elements of a variable are loaded before the first is used, so that the thread waits only once.
            if constexpr (bands) {
                constexpr int all = row_stride(ShapeOf::pairs);
                History moved[all];
                for (int k = 0; k < all; k++) moved[k] = k < there ? at[k + 2 * ahead] : History(0);
                for (int k = 0; k < all; k++) at[k] = moved[k];
            } else {
                for (int k = 0; k < there; k++) at[k] = at[k + 2 * ahead];
                for (int k = there; k < 2 * slots; k++) at[k] = History(0);
            }
        });
        team_.sync();
        if (team_.lane() == 0) front() = request.newest_slot;
        team_.sync();
    }

    // small_inner_products.hpp defines the next functions.
    CUDA_OPT_HD void form_inner_products(const PanelRequest &request, bool bounded);
    template <class Panel> CUDA_OPT_HD void form_products(const PanelRequest &request, int free, const Panel &panel);
    template <class Panel> CUDA_OPT_HD void form_by_lanes(const Panel &panel, int columns);
    template <bool bounded> CUDA_OPT_HD int measure_rows(const PanelRequest &request);
    CUDA_OPT_HD void report(const RowFacts<ShapeOf::bounds> &facts, int free);
    CUDA_OPT_HD void sum_squares();

    // Returns component i of the step from x to the minimiser of the model in the subspace, before its projection on
    // the box. With the coefficients a of g, p_k of y_k and q_k of s_k it is h_i (a g_i + sum p_k y_ki) + sum q_k s_ki.
    template <class Size, class Coefficients, class Entries>
    CUDA_OPT_HD_INLINE static double subspace_move(Size pairs, double gradient_coefficient,
                                                   const Coefficients &coefficients, double g, double h,
                                                   const Entries &entries) {
        double from_y = gradient_coefficient * g, from_s = 0;
        CUDA_OPT_UNROLLED(dense::times_unrolled<Size>)
        for (int age = 0; age < pairs; age++) {
            const int column = panel::y_column(age);
            from_y += coefficients[column] * static_cast<double>(entries[2 * age]);
            from_s += coefficients[column + 1] * static_cast<double>(entries[2 * age + 1]);
        }
        return h * from_y + from_s;
    }

    // In one traversal, stores d and the trial point, copies x and g to x_base and g_base, and moves the stored
    // correction pairs by one position, so that d becomes the newest s. On a device, if m is a compile-time constant,
    // the data of the next variables is loaded while the current ones are processed.
    template <bool bounded, class Size>
    CUDA_OPT_HD_INLINE void form_direction(Size pairs, const DirectionRequest &request) {
        constexpr bool known = on_device && !std::is_same_v<Size, int>;
        using Own = RowOfPairs<History, known ? 2 * ShapeOf::pairs : 0, PairValues>;
        struct Loaded {
            BoxedVariable at;
            Own own;
        };
        const RowOfPairs<double, known ? panel::columns(ShapeOf::pairs) : 0> q(coefficients_);
        const double of_gradient = request.gradient_coefficient;
        DirectionRecord record;
        in_turn<in_advance>(
            (shape_.n + Team::width - 1) / Team::width,
            [&](int k) {
                const int i = k * Team::width + team_.lane();
                return i < shape_.n ? Loaded{this->template row<bounded>(i), Own(this->pairs(i))} : Loaded{};
            },
            [&](int k, const Loaded &here) {
                const int i = k * Team::width + team_.lane();
                if (i >= shape_.n) return;
                const BoxedVariable &at = here.at;
                const double move = subspace_move(pairs, of_gradient, q, at.g, weight(request.panel, i), here.own);
                const auto trial = take_trial<Real, History>(at, request, weight(request.panel, i), move, record);
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
    CUDA_OPT_HD_INLINE void sum_direction() {
        if (team_.lane() > 1) return;
        const bool first = team_.lane() == 0;
        const auto d = column_of_pairs<History, Real>(pairs(0) + panel::s_new, row_stride(shape_.m));
        const double sum = product(shape_.n, d, first ? column_of_vector<History, Real>(g()) : d);
        (first ? replies_->direction.slope : replies_->direction.d_squared) = sum;
    }

    Team team_;
    ShapeOf shape_;
    BoxArrays<Real> box_;
    Persistent<ShapeOf> *persistent_;
    Values vectors_;
    Replies *replies_;
    double *leading_, *coefficients_, *free_gram_ = nullptr, *older_steps_ = nullptr, *breakpoints_ = nullptr,
                                      *entries_ = nullptr;
    CrossedVariable *crossed_ = nullptr;
    int *free_ = nullptr;
};

} // namespace cudaopt::batch
