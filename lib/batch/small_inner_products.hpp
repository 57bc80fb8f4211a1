// The inner products of one small problem, which are computed at each iterate and trial point. The products of the
// leading columns y, s and g with all columns of the panel (lbfgsb/panel.hpp) are summed over all variables, and those
// of all columns with each other over the free variables. The same sweep computes y = g - g_base of the newest pair,
// the norms of the projected gradient P g and of x, the numbers of variables at bounds, and the least breakpoint.
#pragma once

#include "batch/small_sweeps.hpp"

namespace cudaopt::batch {

template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_inner_products(const PanelRequest &request,
                                                                              bool bounded) {
    int free = shape_.n;
    if constexpr (ShapeOf::bounds) free = bounded ? measure_rows<true>(request) : measure_rows<false>(request);
    else measure_rows<false>(request);
    const PanelRows<PairValues, Values> panel{pairs(0), row_stride(shape_.m), g()};
    PanelProducts &products = replies_->products;
    if constexpr (ShapeOf::weights) {
        if (request.weighted)
            form_products(request, free, weighted_rows().scaled(team_, panel, pairs_of(request), entries_));
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

template <class Real, class Team, class ShapeOf>
template <class Panel>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_products(const PanelRequest &request, int free,
                                                                        const Panel &panel) {
    const int columns = panel::columns(pairs_of(request));
    if constexpr (several && !ShapeOf::bounds) return form_by_lanes(panel, columns);
    double *const gram = free_gram_, *const leading = leading_;
    const bool free_gram = ShapeOf::bounds && request.free_gram, same_rows = free_gram && free == shape_.n;
    const auto store_leading = [=](int a, int b, double sum) { leading[a * columns + b] = sum; };
    // Stores the product of columns a < b twice, as (a, b) and (b, a), if only products with a <= b are computed.
    const auto store_leading_twice = [=](int a, int b, double sum) {
        store_leading(a, b, sum);
        if (a < b && b < panel::displacement) store_leading(b, a, sum);
    };
    const auto store_free = [=](int a, int b, double sum) {
        gram[panel::gram_index(a, b, columns)] = sum;
        if (same_rows && a < panel::displacement) store_leading_twice(a, b, sum);
    };
    const AllRows all{shape_.n};
    const ListedRows listed{free, free_};
    if constexpr (bands) {
        constexpr int known = panel::columns(ShapeOf::pairs);
        if (!same_rows) form_band<0, panel::leading, known, in_advance>(panel, all, store_leading_twice);
        if (!free_gram) return;
        form_band<0, panel::leading, known, in_advance>(panel, listed, store_free);
        return form_band<panel::leading, known, known, in_advance>(panel, listed, store_free);
    }
    if (!same_rows) form_leading(team_, panel, columns, all, store_leading);
    if (free_gram) form_triangle<panel::displacement>(team_, panel, columns, listed, store_free);
    if constexpr (ShapeOf::weights)
        if (request.older_steps) {
            const int pairs = pairs_of(request), older = panel::older(pairs);
            double *const steps = older_steps_;
            form_triangle<panel::leading>(
                team_, OlderSteps<Panel>{panel, pairs}, older, all,
                [=](int a, int b, double sum) { steps[panel::gram_index(a, b, older)] = sum; });
        }
}

// Recomputes the products by one thread, in the rare case that the Cauchy path has crossed too many breakpoints to
// subtract the products of their variables. The arguments are passed by value: an object whose address is taken would
// be in memory, and the compiler could no longer determine the address space of its pointers.
template <class Panel>
CUDA_OPT_HD_CALL inline void form_gram_alone(const Panel &panel, int columns, ListedRows rows, double *gram) {
    form_triangle<panel::displacement>(OneThread{}, panel, columns, rows,
                                       [=](int a, int b, double sum) { gram[panel::gram_index(a, b, columns)] = sum; });
}

template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_free_gram(const PanelRequest &request) const {
    int free = 0;
    CUDA_OPT_ROLLED
    for (int i = 0; i < shape_.n; i++)
        if (breakpoints_[i] > request.threshold) free_[free++] = i;
    const PanelRows<PairValues, Values> panel{pairs(0), row_stride(shape_.m), g()};
    const int columns = cudaopt::panel::columns(pairs_of(request));
    if constexpr (ShapeOf::weights)
        // The scaled panel overwrites the panel's rows of the crossed variables, which are no longer needed.
        if (request.weighted)
            return form_gram_alone(weighted_rows().scaled(OneThread{}, panel, pairs_of(request), entries_), columns,
                                   ListedRows{free, free_}, free_gram_);
    form_gram_alone(panel, columns, ListedRows{free, free_}, free_gram_);
}

// Computes the products without bounds if the team has several lanes (threads). Each lane forms one product, and two
// lanes form the squares of ||g|| and ||x||. With m = 5 these are 32 sums, one for each lane of a warp.
template <class Real, class Team, class ShapeOf>
template <class Panel>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::form_by_lanes(const Panel &panel, int columns) {
    const int products = leading_product_count(columns);
    CUDA_OPT_ROLLED
    for (int k = team_.lane(); k < products + 2; k += Team::width) {
        const bool squares = k >= products;
        const auto [a, b] = squares ? ColumnPair{} : leading_product(k, columns);
        const auto squared = column_of_vector<History, Real>(k == products ? g() : x());
        const double sum = product(shape_.n, squares ? squared : panel.template column<History, Real>(a),
                                   squares ? squared : panel.template column<History, Real>(b));
        if (squares) {
            replies_->products.variable_sums[k == products ? projected_gradient_squared : x_squared] = sum;
        } else {
            leading_[a * columns + b] = sum;
            if (b < panel::leading) leading_[b * columns + a] = sum;
        }
    }
}

// Computes y_new and those sums of the sweep that are not inner products of columns, and returns the number of free
// variables. Without bounds all variables are free, and the breakpoints, which need a division, are not computed.
template <class Real, class Team, class ShapeOf>
template <bool bounded>
CUDA_OPT_HD_INLINE int SmallSweeps<Real, Team, ShapeOf>::measure_rows(const PanelRequest &request) {
    const bool fresh = request.fresh && request.pairs > 0;
    RowFacts<ShapeOf::bounds> facts;
    double pg_squared = 0, x_squares = 0;
    int free = shape_.n, listed = 0;
    struct Seen {
        BoxedVariable at;
        Real g, g_base;
    };
    const auto load = [=](int i) { return Seen{row<bounded>(i), g()[i], fresh ? vector(at_g_base)[i] : Real(0)}; };
    rows_together<loaded_together<ShapeOf>>(team_, shape_.n, load, [&](int i, const Seen &seen) {
        bool is_free = false;
        if (i < shape_.n) {
            const BoxedVariable &at = seen.at;
            double pg = at.g;
            is_free = true;
            if constexpr (bounded) {
                const double t = breakpoint(at.x, weight(request, i) * at.g, at.l, at.u);
                pg = projected_gradient(at.x, at.g, at.l, at.u);
                is_free = t > request.threshold;
                if (request.free_gram) breakpoints_[i] = t;
                facts.at_lower.add(at.x <= at.l);
                facts.at_upper.add(at.x >= at.u && at.x > at.l);
                if (is_free) facts.first_breakpoint.add(t);
            }
            facts.largest.add(std::fabs(pg));
            facts.not_finite.add(at.g - at.g != 0);
            if (fresh) pairs(i)[panel::y_new] = gradient_change<History>(seen.g, seen.g_base);
            if constexpr (!several) pg_squared += pg * pg, x_squares += at.x * at.x;
            else if constexpr (ShapeOf::bounds) entries_[i] = pg;
        }
        if constexpr (ShapeOf::bounds) {
            if (request.free_gram) listed = team_.append(is_free, i, free_, listed);
            else facts.free.add(is_free);
        }
    });
    facts = team_.join(facts);
    if constexpr (ShapeOf::bounds) free = request.free_gram ? listed : static_cast<int>(facts.free.v);
    if (team_.lane() == 0) report(facts, free);
    if constexpr (!several) {
        replies_->products.variable_sums[projected_gradient_squared] = pg_squared;
        replies_->products.variable_sums[x_squared] = x_squares;
    }
    team_.sync();
    if constexpr (several && ShapeOf::bounds) sum_squares();
    if constexpr (ShapeOf::weights)
        if (request.in_metric()) weighted_rows().measure(team_, request, replies_->products.variable_sums);
    team_.sync();
    return free;
}

template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::report(const RowFacts<ShapeOf::bounds> &facts, int free) {
    PanelProducts &products = replies_->products;
    double *const sums = products.variable_sums;
    sums[at_lower] = sums[at_upper] = 0;
    products.first_breakpoint = infinity;
    if constexpr (ShapeOf::bounds) {
        sums[at_lower] = static_cast<double>(facts.at_lower.v);
        sums[at_upper] = static_cast<double>(facts.at_upper.v);
        products.first_breakpoint = facts.first_breakpoint.v;
    }
    sums[free_variables] = free;
    sums[not_finite] = static_cast<double>(facts.not_finite.v);
    sums[bad_weights] = sums[newest_y_sum] = sums[newest_d_sum] = 0;
    products.projected_gradient_max = facts.largest.v;
}

// Computes the squares of ||P g|| and ||x||, each by one lane. With bounds, entries_ temporarily contains P g.
template <class Real, class Team, class ShapeOf>
CUDA_OPT_HD_INLINE void SmallSweeps<Real, Team, ShapeOf>::sum_squares() {
    if (team_.lane() > 1) return;
    const bool first = team_.lane() == 0;
    const auto of = first ? column_of_pairs<double, Real>(entries_, 1) : column_of_vector<double, Real>(x());
    replies_->products.variable_sums[first ? projected_gradient_squared : x_squared] = product(shape_.n, of, of);
}

} // namespace cudaopt::batch
