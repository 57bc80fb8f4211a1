// A backend in which each sweep is a simple loop of one thread over a small problem. It forms sums in the order of the
// indices in double precision, and allocates nothing. All its data are in one block of doubles that the caller
// supplies.
#pragma once

#include <cmath>

#include "lbfgsb/state_machine.hpp"
#include "operator/rules.hpp"
#include "sweeps/rules.hpp"

namespace block_test {

using cudaopt::CrossedVariable;
using cudaopt::DirectionRequest;
using cudaopt::PanelRequest;
using cudaopt::Reply;
using cudaopt::Request;
using cudaopt::StateMachine;
using cudaopt::Verb;
namespace panel = cudaopt::panel;

struct Machine {
    int n, m;
    bool bounds, diagonal; // diagonal: there is one, either the caller's or a learned one
    int capacity;          // variables that can be fetched at once; a larger window is reported as too large
    bool late_sums;        // the sums of a direction come with the next inner products, as on a GPU
};

class PlainSweeps {
  public:
    static int64_t doubles(const Machine &of) {
        Count count;
        PlainSweeps none;
        none.place(of, count);
        return count.doubles;
    }

    PlainSweeps() = default;
    PlainSweeps(const Machine &of, double *block) : of_(of) {
        Carve carve{block};
        place(of, carve);
    }
    PlainSweeps(const PlainSweeps &) = delete; // the replies contain pointers to its data
    PlainSweeps &operator=(const PlainSweeps &) = delete;

    // The caller's arrays. Without bounds or a diagonal, their pointers are null.
    double *x = nullptr, *g = nullptr, *f = nullptr, *l = nullptr, *u = nullptr, *diagonal = nullptr;
    // The arrays of an operator: its argument, its result and the mask of the free variables.
    double *in = nullptr, *out = nullptr, *is_free = nullptr;

    void perform(const StateMachine &state, const Request &request, Reply &reply) {
        reply.direction = nullptr;
        prepare(request);
        switch (request.verb) {
        case Verb::check_start: reply.start = check_start(); break;
        case Verb::read_variable:
            reply.variable = {x[request.index], box().lower(request.index), box().upper(request.index)};
            break;
        case Verb::inner_products:
            gather(state.products_requested());
            reply.sums = &sums_;
            reply.direction = &direction_;
            break;
        case Verb::direction:
            take_direction(state.direction_requested());
            if (!of_.late_sums) reply.direction = &direction_;
            break;
        case Verb::truncation: reply.number = truncation(state.direction_requested()); break;
        case Verb::crossed: reply.crossed = crossed(state.panel_requested(), request.lo, request.hi); break;
        case Verb::step:
            each_variable(cudaopt::TakeStep<double, double>{x, x_base_, s(request.slot), box(), request.number});
            break;
        case Verb::largest_step:
            reply.number =
                over_variables<cudaopt::Min>(cudaopt::FindLargestStep<double, double>{x_base_, s(request.slot), box()})
                    .v;
            break;
        case Verb::restore:
            each_variable(cudaopt::Restore<double>{x, g, x_base_, y(request.slot), f, request.number});
            break;
        case Verb::restore_best:
            each_variable(cudaopt::Restore<double>{x, g, best_x_, best_g_, f, request.number});
            break;
        case Verb::finish_pair:
            each_variable(cudaopt::FinishPair<double, double>{y(request.slot), g, y(request.slot)});
            break;
        case Verb::norm:
            reply.number = over_variables<cudaopt::ScaledSquares>(
                               cudaopt::MeasureNorm<double, const double *>{request.norm, x, g, box(),
                                                                            y(request.norm.slot), y(request.norm.slot)})
                               .norm();
            break;
        case Verb::check_diagonal:
            reply.index = index_or_n(over_variables<cudaopt::FirstIndex>(cudaopt::FindBadDiagonal<double>{diagonal}));
            break;
        case Verb::operator_input: form_input(state.operator_model().request()); break;
        case Verb::operator_products:
            multiply_output(state.operator_model().request());
            reply.of_operator = &of_operator_;
            break;
        case Verb::operator_direction:
            take_operator_direction(state.operator_model().request(), state.direction_requested());
            reply.direction = &direction_;
            break;
        case Verb::log_start:
        case Verb::log_iterate:
        case Verb::log_end:
        case Verb::task: break;
        }
    }

    void prepare(const Request &request) {
        const cudaopt::Preparation preparation = request.preparation;
        using cudaopt::Preparation;
        using cudaopt::Restore;
        if (preparation == Preparation::save_trial) each_variable(Restore<double>{best_x_, best_g_, x, g});
        if (preparation == Preparation::save_base)
            each_variable(Restore<double>{best_x_, best_g_, x_base_, y(request.base_slot)});
        if (preparation == Preparation::remove_infinite_slopes)
            each_variable(cudaopt::RemoveInfiniteSlope<double>{x, g, box()});
    }
    const cudaopt::DirectionSums &direction_sums() const { return direction_; }
    // Simulates the load of a checkpoint, after which the vectors exist, but the sums do not.
    void forget_sums() {
        const double nothing = std::sqrt(-1.0);
        for (int k = 0; k < panel::gram_count(panel::columns(of_.m)); k++) masked_[k] = nothing;
        for (int k = 0; k < panel::leading * panel::columns(of_.m); k++) full_[k] = nothing;
        for (int k = 0; k < panel::older_count(of_.m); k++) older_[k] = nothing;
        for (double &sum : sums_.variable_sums) sum = nothing;
        sums_.projected_gradient_max = sums_.first_breakpoint = sums_.f = nothing;
        direction_ = {nothing, nothing, nothing};
    }

  private:
    template <class Real, class History> friend struct cudaopt::LearnDiagonal; // needs s() and y()

    struct Count {
        int64_t doubles = 0;
        template <class T> void operator()(T *&, int64_t count) {
            doubles += count * static_cast<int64_t>(sizeof(T) / sizeof(double));
        }
    };
    struct Carve {
        double *next;
        template <class T> void operator()(T *&where, int64_t count) {
            where = reinterpret_cast<T *>(next);
            next += count * static_cast<int64_t>(sizeof(T) / sizeof(double));
        }
    };
    static_assert(sizeof(CrossedVariable) % sizeof(double) == 0 && alignof(CrossedVariable) <= alignof(double));

    template <class Visit> void place(const Machine &of, Visit &visit) {
        const int64_t n = of.n, m = of.m, columns = panel::columns(of.m);
        visit(x, n), visit(g, n), visit(f, 1);
        if (of.bounds) visit(l, n), visit(u, n);
        if (of.diagonal) visit(diagonal, n);
        visit(s_, (m + 1) * n), visit(y_, (m + 1) * n), visit(x_base_, n);
        visit(best_x_, n), visit(best_g_, n);
        visit(in, n), visit(out, n), visit(is_free, n), visit(with_y_, m);
        visit(masked_, panel::gram_count(panel::columns(of.m))), visit(full_, panel::leading * columns);
        visit(older_, panel::older_count(of.m));
        visit(row_, columns);
        visit(rows_, of.capacity), visit(entries_, of.capacity * columns);
    }

    cudaopt::BoxArrays<double> box() const { return {l, u}; }
    double *s(int slot) const { return s_ + static_cast<int64_t>(slot) * of_.n; }
    double *y(int slot) const { return y_ + static_cast<int64_t>(slot) * of_.n; }
    int slot_of(const PanelRequest &request, int age) const {
        return (request.newest_slot + of_.m + 1 - age) % (of_.m + 1);
    }
    double weight(const PanelRequest &request, int i) const { return request.weighted ? diagonal[i] : 1; }
    cudaopt::BoxedVariable row(int i) const { return {x[i], g[i], box().lower(i), box().upper(i)}; }
    int64_t index_or_n(const cudaopt::FirstIndex &first) const { return first.v < of_.n ? first.v : of_.n; }
    // y_i of a pair. For a fresh pair this is the value that will be stored.
    double y_entry(const PanelRequest &request, int age, int i) const {
        const double stored = y(slot_of(request, age))[i];
        return age == 0 && request.fresh ? g[i] - stored : stored;
    }
    double s_entry(const PanelRequest &request, int age, int i) const { return s(slot_of(request, age))[i]; }

    template <class Rule> void each_variable(const Rule &rule) const {
        for (int i = 0; i < of_.n; i++) rule(i);
    }
    template <class Record, class Rule> Record over_variables(const Rule &rule) const {
        Record record;
        for (int i = 0; i < of_.n; i++) rule(i, record);
        return record;
    }

    cudaopt::StartReport check_start() const {
        const auto r = over_variables<cudaopt::StartRecord>(cudaopt::CheckStart<double>{x, box()});
        const cudaopt::StartReport report = cudaopt::report_of<double>(r, of_.n);
        if (report.usable(of_.n)) each_variable(cudaopt::MoveIntoBox<double>{x, box()});
        return report;
    }

    // Writes the entries of the pairs for variable i, with the weights that are requested.
    void load_pairs(const PanelRequest &request, int i, double *to) const {
        const double root = std::sqrt(weight(request, i));
        for (int age = 0; age < request.pairs; age++) {
            to[panel::y_column(age)] = root * y_entry(request, age, i);
            to[panel::s_column(age)] = s_entry(request, age, i) / root;
        }
    }

    void gather(const cudaopt::ProductsRequest &request) {
        if (!request.update.is_empty())
            each_variable(cudaopt::LearnDiagonal<double, double>(diagonal, x, request.update, *this));
        const int columns = panel::columns(request.pairs), products = panel::gram_count(columns);
        sums_ = {};
        sums_.columns = columns;
        sums_.free_gram = masked_;
        sums_.leading_products = full_;
        sums_.older_steps = request.older_steps ? older_ : nullptr;
        sums_.first_breakpoint = cudaopt::infinity;
        sums_.f = *f;
        for (int k = 0; k < products; k++) masked_[k] = 0;
        for (int k = 0; k < panel::leading * columns; k++) full_[k] = 0;
        for (int k = 0; k < columns; k++) row_[k] = 0;
        for (int k = 0; k < panel::older_count(request.pairs); k++) older_[k] = 0;
        cudaopt::Max largest{0};
        for (int i = 0; i < of_.n; i++) {
            const cudaopt::BoxedVariable at = row(i);
            const double h = weight(request, i), root = std::sqrt(h);
            const double t = cudaopt::breakpoint(at.x, h * at.g, at.l, at.u);
            const double pg = cudaopt::projected_gradient(at.x, at.g, at.l, at.u);
            const bool free = t > request.threshold, passed = t > 0 && t <= request.threshold;
            sums_.variable_sums[cudaopt::projected_gradient_squared] += pg * pg;
            sums_.variable_sums[cudaopt::x_squared] += at.x * at.x;
            sums_.variable_sums[cudaopt::at_lower] += at.x <= at.l;
            sums_.variable_sums[cudaopt::at_upper] += at.x >= at.u && at.x > at.l;
            sums_.variable_sums[cudaopt::free_variables] += free;
            sums_.variable_sums[cudaopt::not_finite] += at.g - at.g != 0;
            largest.add(std::fabs(pg));
            if (free && t < sums_.first_breakpoint) sums_.first_breakpoint = t;

            load_pairs(request, i, row_);
            row_[panel::gradient] = root * at.g;
            row_[panel::displacement] = passed ? (cudaopt::bound_ahead(at.g, at.l, at.u) - at.x) / root : 0;
            for (int a = 0; a < panel::leading; a++)
                for (int b = 0; b < columns; b++) full_[a * columns + b] += row_[a] * row_[b];
            if (request.in_metric()) add_weighted_sums(request, i);
            if (!request.free_gram || !free) continue;
            for (int a = 0; a < columns; a++)
                for (int b = a; b < columns; b++) masked_[panel::gram_index(a, b, columns)] += row_[a] * row_[b];
        }
        sums_.projected_gradient_max = largest.v;
    }

    void add_weighted_sums(const PanelRequest &request, int i) {
        const double h = diagonal[i], other = request.weighted ? 1 : h;
        sums_.variable_sums[cudaopt::bad_weights] += !cudaopt::is_weight(h);
        if (request.pairs == 0) return;
        const double y = y_entry(request, 0, i), d = s_entry(request, 0, i);
        sums_.variable_sums[cudaopt::newest_y_sum] += y * y * other;
        sums_.variable_sums[cudaopt::newest_d_sum] += d * d / other;
        for (int a = 1; request.older_steps && a < request.pairs; a++)
            for (int b = a; b < request.pairs; b++)
                older_[panel::older_index(a, b, request.pairs)] += row_[panel::s_column(a)] * row_[panel::s_column(b)];
    }

    // a g + w'q: the displacement from x to the subspace minimiser without bounds.
    double subspace_move(const DirectionRequest &request, int i) const {
        const PanelRequest &p = request.panel;
        double from_y = request.gradient_coefficient * g[i], from_s = 0;
        for (int age = 0; age < p.pairs; age++) {
            from_y += request.coefficients[panel::y_column(age)] * y_entry(p, age, i);
            from_s += request.coefficients[panel::s_column(age)] * s_entry(p, age, i);
        }
        return from_y * weight(p, i) + from_s;
    }

    void take_direction(const DirectionRequest &request) {
        take_direction(request, [&](int i) { return subspace_move(request, i); });
    }
    template <class Move> void take_direction(const DirectionRequest &request, const Move &move) {
        cudaopt::DirectionRecord record;
        double *const d = s(request.spare_slot), *const g_base = y(request.spare_slot);
        const bool forms_y = request.panel.fresh && request.panel.pairs > 0;
        for (int i = 0; i < of_.n; i++) {
            const cudaopt::BoxedVariable at = row(i);
            const auto trial =
                cudaopt::take_trial<double, double>(at, request, weight(request.panel, i), move(i), record);
            if (forms_y) y(slot_of(request.panel, 0))[i] = y_entry(request.panel, 0, i);
            d[i] = trial.d;
            g_base[i] = at.g;
            x_base_[i] = at.x;
            x[i] = trial.x;
        }
        direction_ = {record.slope.v, record.d_squared.v, record.projected.v};
    }

    void form_input(const cudaopt::OperatorRequest &request) {
        for (int i = 0; i < of_.n; i++) {
            const cudaopt::BoxedVariable at = row(i);
            is_free[i] = cudaopt::breakpoint(at.x, at.g, at.l, at.u) > request.panel.threshold;
            in[i] = is_free[i] * request.scale * at.g;
            for (int age = 0; age < request.panel.pairs; age++)
                in[i] += is_free[i] * request.coefficients[age] * y_entry(request.panel, age, i);
        }
    }

    void multiply_output(const cudaopt::OperatorRequest &request) {
        const auto product = [&](const auto &entry) {
            double sum = 0;
            for (int i = 0; i < of_.n; i++) sum += is_free[i] * entry(i) * out[i];
            return sum;
        };
        for (int age = 0; age < request.panel.pairs; age++)
            with_y_[age] = product([&](int i) { return y_entry(request.panel, age, i); });
        double in_in = 0;
        for (int i = 0; i < of_.n; i++) in_in += in[i] * in[i];
        of_operator_ = {in_in,
                        product([&](int i) { return in[i]; }),
                        product([&](int i) { return out[i]; }),
                        product([&](int i) { return g[i]; }),
                        0,
                        with_y_};
    }

    void take_operator_direction(const cudaopt::OperatorRequest &move, const DirectionRequest &request) {
        for (int i = 0; i < of_.n; i++) {
            out[i] *= is_free[i] * move.scale;
            for (int age = 0; age < move.panel.pairs; age++)
                out[i] += is_free[i] * move.coefficients[age] * s_entry(move.panel, age, i);
        }
        take_direction(request, [&](int i) { return out[i]; });
    }

    double truncation(const DirectionRequest &request) const {
        cudaopt::Min alpha;
        for (int i = 0; i < of_.n; i++)
            alpha.add(
                cudaopt::truncation_of_variable(row(i), request, weight(request.panel, i), subspace_move(request, i)));
        return alpha.v < 0 ? 0 : alpha.v < 1 ? alpha.v : 1;
    }

    cudaopt::CrossedWindow crossed(const PanelRequest &request, double lo, double hi) {
        const int columns = panel::columns(request.pairs);
        int count = 0;
        for (int i = 0; i < of_.n; i++) {
            const cudaopt::BoxedVariable at = row(i);
            const double h = weight(request, i), root = std::sqrt(h);
            const double t = cudaopt::breakpoint(at.x, h * at.g, at.l, at.u);
            if (!(t > lo && t <= hi)) continue;
            if (count == of_.capacity) return {nullptr, int64_t{cudaopt::crossed_capacity} + 1};
            double *const w = entries_ + static_cast<int64_t>(count) * columns;
            load_pairs(request, i, w);
            w[panel::gradient] = w[panel::displacement] = 0;
            int place = count++; // sorted by t, and by the index if t is equal
            for (; place > 0 && rows_[place - 1].t > t; place--) rows_[place] = rows_[place - 1];
            rows_[place] = {t, i, root * at.g, (cudaopt::bound_ahead(at.g, at.l, at.u) - at.x) / root, w};
        }
        return {rows_, count};
    }

    Machine of_{};
    double *s_ = nullptr, *y_ = nullptr, *x_base_ = nullptr, *best_x_ = nullptr, *best_g_ = nullptr;
    double *masked_ = nullptr, *full_ = nullptr, *older_ = nullptr, *row_ = nullptr, *entries_ = nullptr,
           *with_y_ = nullptr;
    CrossedVariable *rows_ = nullptr;
    cudaopt::PanelProducts sums_{};
    cudaopt::DirectionSums direction_{};
    cudaopt::OperatorProducts of_operator_{};
};

} // namespace block_test
