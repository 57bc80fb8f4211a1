// The sweeps of one small problem, by a team: rows are shared out among its lanes, and so are the products. Sums are
// formed in the order of the rows, whatever the team. Written once for host and device, for one thread and for a warp.
#pragma once

#include <cmath>

#include "batch/products.hpp"
#include "batch/team.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt::batch {

// The largest magnitude, and the least breakpoint; counts of rows.
struct RowFacts {
    Max largest{0};
    Min first_breakpoint;
    Count at_lower, at_upper, not_finite;
    CUDA_OPT_HD void join(const RowFacts &o) {
        largest.join(o.largest), first_breakpoint.join(o.first_breakpoint);
        at_lower.join(o.at_lower), at_upper.join(o.at_upper), not_finite.join(o.not_finite);
    }
};

template <class Real, class Team> class SmallSweeps {
  public:
    // block: block_bytes<Real>(shape), scratch: scratch_bytes(shape), both aligned to 16 bytes.
    CUDA_OPT_HD SmallSweeps(Team team, Shape shape, unsigned char *block, unsigned char *scratch,
                            const BoxArrays<Real> &box)
        : team_(team), shape_(shape), box_(box), f_(reinterpret_cast<double *>(block + state_bytes(shape.m))),
          vectors_(reinterpret_cast<Real *>(block + vectors_offset<Real>(shape))) {
        const int columns = panel::columns(shape.m), rows = padded(shape.n);
        double *next = reinterpret_cast<double *>(scratch);
        const auto take = [&next](int count) {
            double *const taken = next;
            next += count;
            return taken;
        };
        sums_ = take(sum_count);
        panel_ = take(rows * panel_stride(shape.m));
        free_gram_ = take(panel::gram_count(columns));
        leading_ = take(panel::leading * columns);
        breakpoints_ = take(rows);
        projected_ = take(rows);
        crossed_ = reinterpret_cast<CrossedVariable *>(next);
        free_ = reinterpret_cast<int *>(crossed_ + shape.n);
    }
    SmallSweeps(const SmallSweeps &) = delete; // the answers point into it
    SmallSweeps &operator=(const SmallSweeps &) = delete;

    CUDA_OPT_HD Real *x() const { return vector(at_x); }
    CUDA_OPT_HD Real *g() const { return vector(at_g); }
    CUDA_OPT_HD double *f() const { return f_; }

    // All lanes call it. The answer counts in lane 0 alone, which lets the state advance.
    CUDA_OPT_HD void perform(const State &state, Answer &answer) {
        const Request &request = state.request();
        answer.direction = nullptr;
        switch (request.verb) {
        case Verb::check_start: answer.start = check_start(); break;
        case Verb::read_variable:
            answer.variable = {x()[request.index], box_.lower(request.index), box_.upper(request.index)};
            break;
        case Verb::inner_products:
            inner_products(state.panel_asked());
            answer.sums = &products_;
            break;
        case Verb::direction:
            take_direction(state.direction(), state.coefficients());
            answer.direction = &direction_;
            break;
        case Verb::truncation: answer.number = truncation(state.direction(), state.coefficients()); break;
        case Verb::crossed: answer.crossed = crossed(request.lo, request.hi); break;
        case Verb::step:
            each_row(TakeStep<Real, Real>{x(), vector(at_x_base), s(request.slot), box_, request.number});
            break;
        case Verb::largest_step:
            answer.number = over_rows<Min>(FindLargestStep<Real, Real>{vector(at_x_base), s(request.slot), box_}).v;
            break;
        case Verb::restore:
            each_row(Restore<Real>{x(), g(), vector(at_x_base), y(request.slot), f_, request.number});
            break;
        case Verb::put_aside:
            each_row(CopyIterate<Real>{vector(at_aside_x), vector(at_aside_g), vector(at_x_base), y(request.slot)});
            break;
        case Verb::bring_back:
            each_row(Restore<Real>{x(), g(), vector(at_aside_x), vector(at_aside_g), f_, request.number});
            break;
        case Verb::finish_pair: each_row(FinishPair<Real, Real>{y(request.slot), g(), y(request.slot)}); break;
        case Verb::x_norm: answer.number = norm(MeasureX<Real>{x()}); break;
        case Verb::projected_gradient_norm: answer.number = norm(MeasureProjectedGradient<Real>{x(), g(), box_}); break;
        case Verb::check_diagonal: // asked for in a metric alone, and logs, which a batch has not
        case Verb::log_start:
        case Verb::log_iterate:
        case Verb::log_end:
        case Verb::task: break;
        }
        team_.sync();
    }

  private:
    // Rows that a lane works on together.
    static constexpr int together = Team::width == 1 ? granule : 1;

    CUDA_OPT_HD Real *vector(int which) const { return vectors_ + which * padded(shape_.n); }
    CUDA_OPT_HD Real *s(int slot) const { return vector(at_slots + slot); }
    CUDA_OPT_HD Real *y(int slot) const { return vector(at_slots + shape_.m + 1 + slot); }
    CUDA_OPT_HD int slot_of(const PanelRequest &request, int age) const {
        const int slot = request.newest_slot - age;
        return slot < 0 ? slot + shape_.m + 1 : slot;
    }
    CUDA_OPT_HD Row row(int i) const { return {x()[i], g()[i], box_.lower(i), box_.upper(i)}; }

    template <class Rule> CUDA_OPT_HD void each_row(const Rule &rule) const {
        for (int i = team_.lane(); i < shape_.n; i += Team::width) rule(i);
    }
    template <class Record, class Rule> CUDA_OPT_HD Record over_rows(const Rule &rule) const {
        Record record;
        for (int i = team_.lane(); i < shape_.n; i += Team::width) rule(i, record);
        return team_.join(record);
    }
    // Scaled sums, of which the order matters: by lane 0 alone. Rare.
    template <class Rule> CUDA_OPT_HD double norm(const Rule &rule) const {
        ScaledSquares record;
        for (int i = 0; team_.lane() == 0 && i < shape_.n; i++) rule(i, record);
        return record.norm();
    }
    // sums_[k] = a'b and sums_[k + 1] = c'd, by a lane each.
    template <class A, class C, class D>
    CUDA_OPT_HD void two_products(const A *a, const A *b, const C *c, const D *d, int k) {
        for (int which = team_.lane(); which < 2; which += Team::width) {
            double sum = 0;
            if (which == 0)
                for (int i = 0; i < shape_.n; i++) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
            else
                for (int i = 0; i < shape_.n; i++) sum += static_cast<double>(c[i]) * static_cast<double>(d[i]);
            sums_[k + which] = sum;
        }
    }

    CUDA_OPT_HD StartReport check_start() const {
        const auto r = over_rows<StartRecord>(CheckStart<Real>{x(), box_});
        const int64_t n = shape_.n;
        const StartReport report{
            least(r.x_nan.v, n), least(r.bound_nan.v, n), least(r.crossed.v, n), r.projected.v, r.boxed.v, r.bounded.v};
        if (report.usable(n)) each_row(MoveIntoBox<Real>{x(), box_});
        return report;
    }

    CUDA_OPT_HD_CALL void inner_products(const PanelRequest &request) {
        const int columns = panel::columns(request.pairs), stride = padded(columns);
        const int free = load_panel(request, stride);
        two_products(projected_, projected_, x(), x(), 0);
        team_.sync();

        double *const gram = free_gram_, *const leading = leading_;
        const bool same_rows = request.free_gram && free == shape_.n;
        const auto store_leading = [=](int a, int b, double sum) { leading[a * columns + b] = sum; };
        const auto store_free = [=](int a, int b, double sum) {
            gram[panel::gram_index(a, b, columns)] = sum;
            if (!same_rows || a >= panel::leading) return;
            leading[a * columns + b] = sum;
            if (b < panel::leading) leading[b * columns + a] = sum;
        };
        if (!same_rows) form_leading(team_, panel_, stride, columns, AllRows{shape_.n}, store_leading);
        if (request.free_gram) form_triangle(team_, panel_, stride, columns, ListedRows{free, free_}, store_free);
        team_.sync();

        products_.columns = columns;
        products_.free_gram = free_gram_;
        products_.leading_products = leading_;
        products_.older_steps = nullptr;
        products_.f = *f_;
        products_.row_sums[projected_gradient_squared] = sums_[0];
        products_.row_sums[x_squared] = sums_[1];
    }

    // The panel by rows, and what is known of the rows besides their products. Returns how many are free.
    CUDA_OPT_HD int load_panel(const PanelRequest &request, int stride) {
        RowFacts facts;
        int free = 0;
        for (int first = 0; first < shape_.n; first += Team::width) {
            const int i = first + team_.lane();
            bool is_free = false;
            if (i < shape_.n) {
                const Row at = row(i);
                const double t = breakpoint(at.x, at.g, at.l, at.u), pg = projected_gradient(at.x, at.g, at.l, at.u);
                is_free = t > request.threshold;
                breakpoints_[i] = t;
                projected_[i] = pg;
                facts.largest.add(std::fabs(pg));
                facts.at_lower.add(at.x <= at.l);
                facts.at_upper.add(at.x >= at.u && at.x > at.l);
                facts.not_finite.add(at.g - at.g != 0);
                if (is_free) facts.first_breakpoint.add(t);
                load_row(request, i, stride, at, t > 0 && !is_free);
            }
            free = team_.append(is_free, i, free_, free);
        }
        facts = team_.join(facts);
        double *const sums = products_.row_sums;
        sums[at_lower] = static_cast<double>(facts.at_lower.v);
        sums[at_upper] = static_cast<double>(facts.at_upper.v);
        sums[free_variables] = free;
        sums[not_finite] = static_cast<double>(facts.not_finite.v);
        sums[bad_weights] = sums[newest_y_sum] = sums[newest_d_sum] = 0;
        products_.projected_gradient_max = facts.largest.v;
        products_.first_breakpoint = facts.first_breakpoint.v;
        team_.sync();
        return free;
    }

    CUDA_OPT_HD void load_row(const PanelRequest &request, int i, int stride, const Row &at, bool passed) {
        double *const to = panel_ + i * stride;
        to[panel::y_new] = to[panel::s_new] = 0;
        for (int age = 0; age < request.pairs; age++) {
            const int slot = slot_of(request, age), column = panel::y_column(age);
            to[column] = y(slot)[i];
            to[column + 1] = s(slot)[i];
        }
        if (request.fresh && request.pairs > 0)
            to[panel::y_new] = gradient_change<Real>(g()[i], y(request.newest_slot)[i]);
        to[panel::gradient] = at.g;
        to[panel::displacement] = passed ? bound_ahead(at.g, at.l, at.u) - at.x : 0;
        for (int column = panel::columns(request.pairs); column < stride; column++) to[column] = 0;
    }

    // a g + w'q of `together` rows from i on: the way from x to the subspace minimiser, were there no bounds.
    CUDA_OPT_HD_INLINE void subspace_moves(const DirectionRequest &request, const double *coefficients, int i,
                                           double *moves) const {
        const PanelRequest &p = request.panel;
        double from_y[together], from_s[together];
        const Real *const at_g = g() + i;
        for (int r = 0; r < together; r++) {
            from_y[r] = request.gradient_coefficient * static_cast<double>(at_g[r]);
            from_s[r] = 0;
        }
        for (int age = 0; age < p.pairs; age++) {
            const int slot = slot_of(p, age), column = panel::y_column(age);
            const double of_y = coefficients[column], of_s = coefficients[column + 1];
            const Real *const at_y = y(slot) + i, *const at_s = s(slot) + i;
            const bool forms_y = age == 0 && p.fresh;
            for (int r = 0; r < together; r++) {
                const double entry = forms_y ? gradient_change<Real>(at_g[r], at_y[r]) : at_y[r];
                from_y[r] += of_y * entry;
                from_s[r] += of_s * static_cast<double>(at_s[r]);
            }
        }
        for (int r = 0; r < together; r++) moves[r] = from_y[r] + from_s[r];
    }

    CUDA_OPT_HD_CALL void take_direction(const DirectionRequest &request, const double *coefficients) {
        DirectionRecord record;
        Real *const d = s(request.spare_slot), *const g_base = y(request.spare_slot);
        const bool forms_y = request.panel.fresh && request.panel.pairs > 0;
        Real *const y_fresh = y(slot_of(request.panel, 0));
        for (int first = team_.lane() * together; first < shape_.n; first += Team::width * together) {
            double moves[together];
            subspace_moves(request, coefficients, first, moves);
            for (int r = 0; r < together && first + r < shape_.n; r++) {
                const int i = first + r;
                const Row at = row(i);
                const auto trial = take_trial<Real, Real>(at, request, 1, moves[r], record);
                if (forms_y) y_fresh[i] = gradient_change<Real>(g()[i], y_fresh[i]);
                d[i] = trial.d;
                g_base[i] = g()[i];
                vector(at_x_base)[i] = x()[i];
                x()[i] = trial.x;
            }
        }
        team_.sync();
        two_products(d, d, g(), d, 2);
        Count projected;
        projected.v = static_cast<int64_t>(record.projected.v);
        projected = team_.join(projected);
        team_.sync();
        direction_ = {sums_[3], sums_[2], static_cast<double>(projected.v)};
    }

    CUDA_OPT_HD double truncation(const DirectionRequest &request, const double *coefficients) const {
        Min alpha;
        for (int first = team_.lane() * together; first < shape_.n; first += Team::width * together) {
            double moves[together];
            subspace_moves(request, coefficients, first, moves);
            for (int r = 0; r < together && first + r < shape_.n; r++)
                alpha.add(truncation_of_row(row(first + r), request, 1, moves[r]));
        }
        alpha = team_.join(alpha);
        return alpha.v < 0 ? 0 : alpha.v < 1 ? alpha.v : 1;
    }

    // Their entries are those of the panel, which is that of the last inner products. By lane 0 alone.
    CUDA_OPT_HD CrossedWindow crossed(double lo, double hi) const {
        int count = 0;
        for (int i = 0; team_.lane() == 0 && i < shape_.n; i++) {
            const double t = breakpoints_[i];
            if (!(t > lo && t <= hi)) continue;
            const Row at = row(i);
            int place = count++; // into the order of t; equal ones stay in that of the indices
            for (; place > 0 && crossed_[place - 1].t > t; place--) crossed_[place] = crossed_[place - 1];
            crossed_[place] = {t, i, at.g, bound_ahead(at.g, at.l, at.u) - at.x,
                               panel_ + i * padded(products_.columns)};
        }
        return {crossed_, count};
    }

    Team team_;
    Shape shape_;
    BoxArrays<Real> box_;
    double *f_;
    Real *vectors_;
    double *sums_, *panel_, *free_gram_, *leading_, *breakpoints_, *projected_;
    CrossedVariable *crossed_;
    int *free_;
    PanelProducts products_{};
    DirectionSums direction_{};
};

} // namespace cudaopt::batch
