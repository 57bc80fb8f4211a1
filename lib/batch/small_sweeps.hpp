// The sweeps of one small problem, by a team: rows are shared out among its lanes, and so are the products. Sums are
// formed in the order of the rows, whatever the team. Written once for host and device, for one thread and for a warp.
#pragma once

#include <cmath>
#include <type_traits>

#include "batch/products.hpp"
#include "batch/row_facts.hpp"
#include "batch/team.hpp"
#include "batch/weighted_rows.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt::batch {

template <class Real, class Team, class ShapeOf = Shape> class SmallSweeps {
  public:
    using Values = Numbers<Real, ShapeOf>;
    using PairValues = Pairs<Real, ShapeOf>;
    using History = Stored<Real, ShapeOf>;

    // scratch: scratch_bytes(shape), aligned to 8; vectors: vectors_bytes(shape).
    CUDA_OPT_HD SmallSweeps(Team team, ShapeOf shape, Head *head, unsigned char *scratch, const Values &vectors,
                            const BoxArrays<Real> &box)
        : team_(team), shape_(shape), box_(box), head_(head), vectors_(vectors) {
        const int columns = panel::columns(shape.m), rows = padded(shape.n);
        told_ = reinterpret_cast<Told *>(scratch);
        double *next = reinterpret_cast<double *>(told_ + 1);
        const auto take = [&next](int count) {
            double *const taken = next;
            next += count;
            return taken;
        };
        leading_ = take(leading_count(shape));
        if constexpr (!has_bounds<ShapeOf>) return;
        free_gram_ = take(panel::gram_count(columns));
        older_steps_ = take(older_count(shape));
        breakpoints_ = take(rows);
        way_to_bound_ = take(rows);
        entries_ = take(rows * entries_stride(shape));
        crossed_ = reinterpret_cast<CrossedVariable *>(next);
        free_ = reinterpret_cast<int *>(crossed_ + shape.n);
    }

    CUDA_OPT_HD Values x() const { return vector(at_x); }
    CUDA_OPT_HD Values g() const { return vector(at_g); }
    CUDA_OPT_HD Values h() const { return vector(at_h); } // in a metric
    CUDA_OPT_HD double &f() const { return head_->f; }

    // What the state asks for. All lanes call it. The answer counts in lane 0 alone, which lets the state advance.
    CUDA_OPT_HD void perform(const StateOf<typename ShapeOf::Kind> &state, Answer &answer) {
        const Request &request = state.request();
        answer.direction = nullptr;
        switch (request.verb) {
        case Verb::check_start: answer.start = check_start(); break;
        case Verb::read_variable:
            answer.variable = {x()[request.index], box_.lower(request.index), box_.upper(request.index)};
            break;
        case Verb::inner_products:
            bring_to_front(state.panel_asked());
            if constexpr (serves_metrics<ShapeOf>)
                if (in_metric(shape_)) weighted_rows().learn(team_, front(), state.products_asked().update);
            inner_products(state.panel_asked(), state.bounded());
            answer.sums = &told_->products;
            answer.free_gram = free_gram_;
            break;
        case Verb::direction:
            take_direction(state.direction(), state.coefficients(), state.bounded());
            answer.direction = &told_->direction;
            break;
        case Verb::step: step(request.number); break;
        case Verb::restore:
            each_row(Restore<Real, Values>{x(), g(), vector(at_x_base), vector(at_g_base), &f(), request.number});
            break;
        case Verb::put_aside:
            each_row(CopyIterate<Real, Values>{vector(at_aside_x), vector(at_aside_g), vector(at_x_base),
                                               vector(at_g_base)});
            break;
        case Verb::bring_back:
            each_row(Restore<Real, Values>{x(), g(), vector(at_aside_x), vector(at_aside_g), &f(), request.number});
            break;
        case Verb::x_norm: answer.number = norm(MeasureX<Real, Values>{x()}); break;
        case Verb::projected_gradient_norm:
            answer.number = norm(MeasureProjectedGradient<Real, Values>{x(), g(), box_});
            break;
        case Verb::truncation:
        case Verb::crossed:
        case Verb::largest_step:
            if constexpr (has_bounds<ShapeOf>) answer_within_bounds(state, answer);
            break;
        case Verb::check_diagonal:
            if constexpr (serves_metrics<ShapeOf>) answer.index = over_rows<FirstIndex>(FindBadDiagonal<Real>{h()}).v;
            break;
        case Verb::finish_pair: // the inner products have formed its y
        case Verb::log_start:   // a batch has no log
        case Verb::log_iterate:
        case Verb::log_end:
        case Verb::task: break;
        }
        team_.sync();
    }

  private:
    CUDA_OPT_HD_INLINE void answer_within_bounds(const StateOf<typename ShapeOf::Kind> &state, Answer &answer) {
        const Request &asked = state.request();
        if (asked.verb == Verb::crossed) answer.crossed = crossed(state.panel_asked(), asked.lo, asked.hi);
        else if (asked.verb == Verb::largest_step) answer.number = largest_step();
        else answer.number = truncation(state.direction(), state.coefficients());
    }
    CUDA_OPT_HD int pairs_of(const PanelRequest &panel) const { return is_full(shape_) ? shape_.m : panel.pairs; }
    // Products formed by one thread in few passes, on a device, where it waits for memory.
    static constexpr bool bands = Team::width == 1 && on_device && panel::columns(known_pairs<ShapeOf>) <= 12;
    static constexpr int loaded_ahead = bands ? rows_ahead<ShapeOf> : 1;
    CUDA_OPT_HD Values vector(int which) const { return vectors_ + which * padded(shape_.n); }
    CUDA_OPT_HD PairValues pairs(int i) const { // a row
        return pairs_from<History>(vector(vector_count(shape_))) + i * row_stride(shape_.m);
    }
    CUDA_OPT_HD History &d(int i) const { return pairs(i)[panel::s_new]; }
    CUDA_OPT_HD int64_t &front() const { return head_->front; }
    template <bool bounded = true> CUDA_OPT_HD Row row(int i) const {
        if constexpr (bounded) return {x()[i], g()[i], box_.lower(i), box_.upper(i)};
        else return {x()[i], g()[i], -infinity, infinity};
    }
    CUDA_OPT_HD WeightedRows<Values, PairValues> weighted_rows() const { return {h(), pairs(0), shape_.n, shape_.m}; }
    CUDA_OPT_HD_INLINE double weight(const PanelRequest &request, int i) const {
        if constexpr (serves_metrics<ShapeOf>) return request.weighted ? static_cast<double>(h()[i]) : 1.0;
        else return 1;
    }
    CUDA_OPT_HD_INLINE panel::Scaling scaling(const PanelRequest &request, int i) const {
        if constexpr (serves_metrics<ShapeOf>)
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
    // Some rows at a time, so that a thread waits once for them: what load() has, then use(i, that), also beyond the
    // end.
    template <class Load, class Use> CUDA_OPT_HD_INLINE void rows_together(const Load &load, const Use &use) const {
        constexpr int together = Team::width == 1 && on_device ? 4 : 1;
        CUDA_OPT_ROLLED
        for (int first = 0; first < shape_.n; first += together * Team::width) {
            const auto row_of = [&](int r) { return first + r * Team::width + team_.lane(); };
            std::decay_t<decltype(load(0))> loaded[together];
            for (int r = 0; r < together; r++)
                if (row_of(r) < shape_.n) loaded[r] = load(row_of(r));
            for (int r = 0; r < together; r++)
                if (first + r * Team::width < shape_.n) use(row_of(r), loaded[r]);
        }
    }
    // Scaled sums, of which the order matters: by lane 0 alone. Rare.
    template <class Rule> CUDA_OPT_HD double norm(const Rule &rule) const {
        ScaledSquares record;
        CUDA_OPT_ROLLED
        for (int i = 0; team_.lane() == 0 && i < shape_.n; i++) rule(i, record);
        return record.norm();
    }

    CUDA_OPT_HD StartReport check_start() const {
        const StartReport report =
            report_of<Real>(over_rows<StartRecord>(CheckStart<Real, Values>{x(), box_}), shape_.n);
        if (report.usable(shape_.n)) each_row(MoveIntoBox<Real, Values>{x(), box_});
        return report;
    }

    CUDA_OPT_HD void step(double length) const {
        struct Base {
            double x, d, l, u;
        };
        rows_together(
            [this](int i) {
                if constexpr (!has_bounds<ShapeOf>) return Base{vector(at_x_base)[i], d(i), -infinity, infinity};
                else return Base{vector(at_x_base)[i], d(i), box_.lower(i), box_.upper(i)};
            },
            [=](int i, const Base &at) {
                if (i < shape_.n) x()[i] = stepped_row<Real>(at.x, at.d, length, at.l, at.u);
            });
    }
    CUDA_OPT_HD double largest_step() const {
        const auto rule = [=](int i, Min &least) {
            least.add(largest_step_of_row(vector(at_x_base)[i], d(i), box_.lower(i), box_.upper(i)));
        };
        return over_rows<Min>(rule).v;
    }

    // The newest pair of the panel comes to the front, where a direction that was given up may stand. A pair that is
    // not there is 0.
    CUDA_OPT_HD void bring_to_front(const PanelRequest &request) {
        if (request.pairs > 0 ? front() == request.newest_slot : !is_full(shape_)) return;
        const int slots = shape_.m + 1, ahead = static_cast<int>(front() - request.newest_slot + slots) % slots,
                  there = request.pairs > 0 ? 2 * (slots - ahead) : 0;
        each_row([=](int i) {
            const PairValues at = pairs(i);
            for (int k = 0; k < there; k++) at[k] = at[k + 2 * ahead];
            for (int k = there; k < 2 * slots; k++) at[k] = History(0);
        });
        team_.sync();
        if (team_.lane() == 0) front() = request.newest_slot;
        team_.sync();
    }

    CUDA_OPT_HD_INLINE void inner_products(const PanelRequest &request, bool bounded) {
        const int free = has_bounds<ShapeOf> && bounded ? measure_rows<true>(request) : measure_rows<false>(request);
        const PanelRows<PairValues, Values> panel{pairs(0), row_stride(shape_.m), g(),
                                                  has_bounds<ShapeOf> && request.threshold > 0 ? way_to_bound_
                                                                                               : nullptr};
        PanelProducts &products = told_->products;
        if constexpr (serves_metrics<ShapeOf>) {
            if (request.weighted)
                form_products(request, free, weighted_rows().scaled(team_, panel, request.pairs, entries_));
            else form_products(request, free, panel);
        } else {
            form_products(request, free, panel);
        }
        if (team_.lane() != 0) return;
        products.columns = panel::columns(pairs_of(request));
        products.free_gram = free_gram_;
        products.leading_products = leading_;
        products.older_steps = request.older_steps ? older_steps_ : nullptr;
        products.f = f();
    }

    template <class Panel>
    CUDA_OPT_HD_INLINE void form_products(const PanelRequest &request, int free, const Panel &panel) {
        const int columns = panel::columns(pairs_of(request));
        double *const gram = free_gram_, *const leading = leading_;
        const bool free_gram = has_bounds<ShapeOf> && request.free_gram, same_rows = free_gram && free == shape_.n;
        const auto store_leading = [=](int a, int b, double sum) { leading[a * columns + b] = sum; };
        const auto store_leading_twice = [=](int a, int b, double sum) { // where a <= b alone are formed
            store_leading(a, b, sum);
            if (a < b && b < panel::leading) store_leading(b, a, sum);
        };
        const auto store_free = [=](int a, int b, double sum) {
            gram[panel::gram_index(a, b, columns)] = sum;
            if (same_rows && a < panel::leading) store_leading_twice(a, b, sum);
        };
        const AllRows all{shape_.n};
        const ListedRows listed{free, free_};
        const bool with_z = has_bounds<ShapeOf> && request.threshold > 0; // else nobody asks for its products
        if constexpr (bands)
            if (!with_z) {
                constexpr int known = panel::columns(known_pairs<ShapeOf>);
                if (!same_rows) form_band<0, panel::leading, known, loaded_ahead>(panel, all, store_leading_twice);
                if (!free_gram) return;
                form_band<0, panel::leading, known, loaded_ahead>(panel, listed, store_free);
                form_band<panel::leading, known, known, loaded_ahead>(panel, listed, store_free);
                return;
            }
        const auto in_strips = [&](auto heads) {
            if (!same_rows) form_leading<heads>(team_, panel, columns, all, store_leading);
            if (free_gram) form_triangle<heads>(team_, panel, columns, listed, store_free);
        };
        if (bands || with_z) in_strips(dense::Known<panel::leading>{});
        else in_strips(dense::Known<panel::displacement>{});
        if constexpr (serves_metrics<ShapeOf>)
            if (request.older_steps) {
                const int older = panel::older(request.pairs);
                double *const steps = older_steps_;
                form_triangle<panel::leading>(
                    team_, OlderSteps<Panel>{panel, request.pairs}, older, all,
                    [=](int a, int b, double sum) { steps[panel::gram_index(a, b, older)] = sum; });
            }
    }

    // What is known of the rows besides their products, and y_new. Returns how many rows are free. Without bounds they
    // all are, and no row divides.
    template <bool bounded> CUDA_OPT_HD int measure_rows(const PanelRequest &request) {
        const bool fresh = request.fresh && request.pairs > 0;
        RowFacts facts;
        double pg_squared = 0, x_squares = 0;
        int free = 0;
        struct Seen {
            Row at;
            Real g, g_base;
        };
        const auto load = [=](int i) { return Seen{row<bounded>(i), g()[i], fresh ? vector(at_g_base)[i] : Real(0)}; };
        rows_together(load, [&](int i, const Seen &seen) {
            bool is_free = false;
            double pg = 0, x = 0;
            if (i < shape_.n) {
                const Row &at = seen.at;
                x = at.x;
                if constexpr (bounded) {
                    const double t = breakpoint(at.x, weight(request, i) * at.g, at.l, at.u);
                    pg = projected_gradient(at.x, at.g, at.l, at.u);
                    is_free = t > request.threshold;
                    if (request.free_gram) breakpoints_[i] = t;
                    facts.at_lower.add(at.x <= at.l);
                    facts.at_upper.add(at.x >= at.u && at.x > at.l);
                    if (is_free) facts.first_breakpoint.add(t);
                    if (request.threshold > 0)
                        way_to_bound_[i] = t > 0 && !is_free ? bound_ahead(at.g, at.l, at.u) - at.x : 0;
                } else {
                    pg = at.g;
                    is_free = true;
                }
                facts.largest.add(std::fabs(pg));
                facts.not_finite.add(at.g - at.g != 0);
                if (fresh) pairs(i)[panel::y_new] = gradient_change<History>(seen.g, seen.g_base);
            }
            team_.add_in_order(pg_squared, pg * pg, shape_.n - i + team_.lane());
            team_.add_in_order(x_squares, x * x, shape_.n - i + team_.lane());
            if (has_bounds<ShapeOf> && request.free_gram) free = team_.append(is_free, i, free_, free);
            else facts.free.add(is_free);
        });
        facts = team_.join(facts);
        if (!has_bounds<ShapeOf> || !request.free_gram) free = static_cast<int>(facts.free.v);
        if (team_.lane() == 0) tell(facts, pg_squared, x_squares, free);
        if constexpr (serves_metrics<ShapeOf>)
            if (request.in_metric()) weighted_rows().measure(team_, request, told_->products.row_sums);
        team_.sync();
        return free;
    }

    CUDA_OPT_HD void tell(const RowFacts &facts, double pg_squared, double x_squares, int free) {
        double *const sums = told_->products.row_sums;
        sums[projected_gradient_squared] = pg_squared;
        sums[x_squared] = x_squares;
        sums[at_lower] = static_cast<double>(facts.at_lower.v);
        sums[at_upper] = static_cast<double>(facts.at_upper.v);
        sums[free_variables] = free;
        sums[not_finite] = static_cast<double>(facts.not_finite.v);
        sums[bad_weights] = sums[newest_y_sum] = sums[newest_d_sum] = 0;
        told_->products.projected_gradient_max = facts.largest.v;
        told_->products.first_breakpoint = facts.first_breakpoint.v;
    }

    // a g + w'q: the way from x to the subspace minimiser, were there no bounds.
    template <class Size, class Entries>
    CUDA_OPT_HD_INLINE static double subspace_move(Size pairs, double gradient_coefficient, const double *coefficients,
                                                   double g, double h, const Entries &entries) {
        double from_y = gradient_coefficient * g, from_s = 0;
        CUDA_OPT_UNROLLED(dense::times_unrolled<Size>)
        for (int age = 0; age < pairs; age++) {
            const int column = panel::y_column(age);
            from_y += coefficients[column] * static_cast<double>(entries[2 * age]);
            from_s += coefficients[column + 1] * static_cast<double>(entries[2 * age + 1]);
        }
        return h * from_y + from_s;
    }

    CUDA_OPT_HD_INLINE void take_direction(const DirectionRequest &request, const double *coefficients, bool bounded) {
        bring_to_front(request.panel);
        dense::at_size<known_pairs<ShapeOf>>(pairs_of(request.panel), [&](auto pairs) {
            if (has_bounds<ShapeOf> && bounded) take_direction_of<true>(pairs, request, coefficients);
            else take_direction_of<false>(pairs, request, coefficients);
        });
    }

    // The rows of the pairs move on by one, and d takes the place of the newest. On a device, where the compiler knows
    // how many there are, rows are loaded while those before them are worked on.
    template <bool bounded, class Size>
    CUDA_OPT_HD_INLINE void take_direction_of(Size pairs, const DirectionRequest &request, const double *coefficients) {
        constexpr bool known = on_device && !std::is_same_v<Size, int>;
        using Own = RowOfPairs<History, known ? 2 * known_pairs<ShapeOf> : 0, PairValues>;
        struct Loaded {
            Row at;
            Own own;
        };
        const auto load = [&](int i) { return Loaded{this->template row<bounded>(i), Own(this->pairs(i))}; };
        Coefficients<known ? panel::columns(known_pairs<ShapeOf>) : 0> q(coefficients);
        const double of_gradient = request.gradient_coefficient;
        DirectionRecord record;
        double d_squared = 0, slope = 0;
        in_turn<loaded_ahead>(
            (shape_.n + Team::width - 1) / Team::width,
            [&](int k) {
                const int i = k * Team::width + team_.lane();
                return i < shape_.n ? load(i) : Loaded{};
            },
            [&](int k, const Loaded &here) {
                const int first = k * Team::width, i = first + team_.lane();
                double d_here = 0;
                if (i < shape_.n) {
                    const Row &at = here.at;
                    const double move =
                        subspace_move(pairs, of_gradient, q.values, at.g, weight(request.panel, i), here.own);
                    const auto trial = take_trial<Real, History>(at, request, weight(request.panel, i), move, record);
                    const PairValues own = this->pairs(i);
                    CUDA_OPT_HOST_UNROLLED(16)
                    for (int l = 2 * shape_.m - 1; l >= 0; l--) own[l + 2] = here.own[l];
                    own[panel::s_new] = trial.d;
                    vector(at_g_base)[i] = static_cast<Real>(at.g);
                    vector(at_x_base)[i] = static_cast<Real>(at.x);
                    x()[i] = trial.x;
                    d_here = trial.d;
                }
                const double g_here = i < shape_.n ? here.at.g : 0;
                team_.add_in_order(d_squared, d_here * d_here, shape_.n - first);
                team_.add_in_order(slope, g_here * d_here, shape_.n - first);
            });
        team_.sync(); // all have read what stands in front
        if (team_.lane() == 0) front() = request.spare_slot;
        const Count projected = team_.join(Count{static_cast<int64_t>(record.projected.v)});
        if (team_.lane() == 0) told_->direction = {slope, d_squared, static_cast<double>(projected.v)};
    }

    CUDA_OPT_HD double truncation(const DirectionRequest &request, const double *coefficients) {
        bring_to_front(request.panel);
        const auto rule = [=, &request](int i, Min &alpha) {
            const double h = weight(request.panel, i),
                         move = subspace_move(pairs_of(request.panel), request.gradient_coefficient, coefficients,
                                              static_cast<double>(g()[i]), h, pairs(i));
            alpha.add(truncation_of_row(row(i), request, h, move));
        };
        const double alpha = over_rows<Min>(rule).v;
        return alpha < 0 ? 0 : alpha < 1 ? alpha : 1;
    }

    // Of the panel of the last inner products. By lane 0 alone.
    CUDA_OPT_HD CrossedWindow crossed(const PanelRequest &request, double lo, double hi) const {
        int count = 0;
        const int columns = panel::columns(pairs_of(request));
        CUDA_OPT_ROLLED
        for (int i = 0; team_.lane() == 0 && i < shape_.n; i++) {
            const double t = breakpoints_[i];
            if (!(t > lo && t <= hi)) continue;
            const panel::Scaling by = scaling(request, i);
            const PathVariable at = on_path(row(i), weight(request, i), by);
            double *const entries = entries_ + count * columns;
            for (int column = 0; column < columns; column++)
                if (column != panel::gradient && column != panel::displacement)
                    entries[column] = by.of(column) * pairs(i)[column < panel::leading ? column : column - 2];
            int place = count++; // into the order of t; equal ones stay in that of the indices
            for (; place > 0 && crossed_[place - 1].t > t; place--) crossed_[place] = crossed_[place - 1];
            crossed_[place] = {t, i, at.g, at.z, entries};
        }
        return {crossed_, count};
    }

    Team team_;
    ShapeOf shape_;
    BoxArrays<Real> box_;
    Head *head_;
    Values vectors_;
    Told *told_;
    double *leading_, *free_gram_ = nullptr, *older_steps_ = nullptr, *breakpoints_ = nullptr, *way_to_bound_ = nullptr,
                      *entries_ = nullptr;
    CrossedVariable *crossed_ = nullptr;
    int *free_ = nullptr;
};

} // namespace cudaopt::batch
