// This file implements the host backend. Several threads execute each sweep over tiles of variables. Each sum has a
// fixed division into tiles and a fixed summation tree. The result is therefore bitwise independent of the number of
// threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

#include "sweeps/backend.hpp"
#include "sweeps/found_variables.hpp"
#include "sweeps/host/variable_tiles.hpp"
#include "sweeps/host/segment_sums.hpp"
#include "sweeps/host/tile_products.hpp"
#include "cuda_opt.h"
#include "sweeps/work_vectors.hpp"

namespace cudaopt {

namespace {

constexpr int64_t least_variables_for_threads = 8192;
static_assert(tile_height == variables_of_tile);

template <class Real, class History> class HostSweeps final : public Sweeps {
  public:
    explicit HostSweeps(int64_t n) : n_(n), segments_(n) {}

    SubtreeSums *subtree_sums() override { return &segments_; }

    void bind(const UserArrays &a) override {
        user_ = a;
        segments_.bind(a.f);
        x_ = static_cast<Real *>(a.x);
        g_ = static_cast<Real *>(a.g);
        box_ = box_of<Real>(a);
        diagonal_ = own_diagonal_ ? own_diagonal_.get() : static_cast<const Real *>(a.diagonal);
    }

    void allocate(int m, const BackendOptions &options) override {
        check_size<Real>(m, n_);
        if (options.aside && !aside_memory_) {
            aside_memory_ = HostArray<Real>(2 * n_, fill_huge_pages<Real>(n_));
            aside_ = {aside_memory_.get(), aside_memory_.get() + n_};
        }
        if (options.metric != Metric::learned) own_diagonal_.release();
        else if (!own_diagonal_) own_diagonal_ = HostArray<Real>(n_, fill_huge_pages<Real>(n_));
        const int columns = panel::columns(m);
        const ProductsLayout layout(columns, true);
        int64_t scratch_size = 2 * static_cast<int64_t>(padded_columns(columns)) * tile_height +
                               static_cast<int64_t>(segments_.cascade_levels()) * layout.size;
        // The scratch memory of each thread must be aligned to 64 bytes, so its size is rounded up.
        scratch_size = (scratch_size + 7) / 8 * 8;
        const int64_t most_threads = 3 * n_ * static_cast<int64_t>(sizeof(Real)) / (scratch_size * 8);
        const HostThreads threads = HostThreads(options.threads)
                                        .for_variables(n_)
                                        .for_work(n_ * m)
                                        .at_most(n_ < least_variables_for_threads ? 1 : most_threads);
        if (vectors_ && threads.most == threads_.most) {
            threads_ = threads;
            return;
        }
        // If an allocation fails, the memory that a solve uses is unchanged.
        HostArray<double> scratch(scratch_size * threads.most);
        // The following arrays depend on n and m alone, so they are allocated only once.
        if (!vectors_) {
            segments_.allocate_products(layout);
            crossed_entries_ = HostArray<double>(int64_t{crossed_capacity} * columns);
            found_.allocate();
            vectors_ = HostArray<unsigned char>(Vectors::bytes(m, n_), fill_huge_pages<Real>(n_));
            work_ = {reinterpret_cast<Real *>(vectors_.get()), n_, m};
        }
        scratch_ = std::move(scratch);
        scratch_size_ = scratch_size;
        threads_ = threads;
    }

    int64_t workspace_bytes() const override {
        return vectors_.bytes() + aside_memory_.bytes() + own_diagonal_.bytes() + scratch_.bytes() +
               crossed_entries_.bytes() + segments_.bytes();
    }

    HistoryVectors history() override { return {work_.first, work_.pitch, work_.m}; }

    StartReport check_start() override {
        return report_of<Real>(map_reduce_host<StartRecord>(n_, CheckStart<Real>{x_, box_}, threads_), n_);
    }
    void move_into_box() override { map_host(n_, MoveIntoBox<Real>{x_, box_}, threads_); }

    const PanelProducts &inner_products(const ProductsRequest &request) override {
        const ProductsLayout layout(panel::columns(request.pairs), request.older_steps);
        const OwnSegments &cut = segments_.segments();
        const int free_products = free_products_of_tile(request, layout);
        segments_.begin_products(layout, free_products);
        const int padded = padded_variables(variables_from(0));
        const auto add_segment = [&](int64_t segment, int place) {
            // Both tiles are padded, because the columns of either are multiplied in blocks of four.
            const int tile_size = padded_columns(layout.columns) * tile_height,
                      columns_size = layout.columns * tile_height;
            double *const tile = scratch_.get() + place * scratch_size_, *const free_tile = tile + tile_size,
                          *const levels = free_tile + tile_size;
            for (double *const padding : {tile + columns_size, free_tile + columns_size})
                for (int c = 0; c < padded_columns(0); c++) std::fill_n(padding + c * tile_height, padded, 0.0);
            Cascade cascade(segments_.products_of(segment), levels, layout, free_products);
            ChangedVariables changed(free_tile, layout.columns);
            const auto add_changes = [&] { changed.add_products(segments_.room_for_changes(segment)); };
            for (int64_t k = cut.tile(segment); k < cut.tile(segment + 1); k++) {
                double *const out = cascade.next();
                clear_tile(layout, free_products, out);
                add_tile(request, layout, k * tile_height, tile, free_tile, out);
                if (request.free_changes) collect_changes(request, k * tile_height, tile, changed, add_changes);
                cascade.push();
            }
            if (!changed.empty()) add_changes();
            cascade.finish();
        };
        share_host(segments_.count(), add_segment, threads_);
        segments_.join_products();
        sums_ = segments_.products(0);
        sums_.f = *user_.f;
        return sums_;
    }

    bool forms_free_changes() const override { return true; }

    // Computes the direction and the trial point tile by tile, so that each column is read once and in the order of
    // memory.
    void direction(const DirectionRequest &request) override {
        const auto of_tile = [&](int64_t tile, DirectionRecord &record) {
            direction_tile(request, tile * tile_height, record);
        };
        segments_.reduce_direction(of_tile, threads_);
    }

    DirectionSums direction_sums() override { return segments_.direction(0); }
    bool direction_sums_at_hand() const override { return true; }

    double truncation(const DirectionRequest &request) override {
        const auto of_tile = [&](int64_t tile, Min &least) {
            alignas(64) double move[tile_height];
            const int64_t begin = tile * tile_height;
            const int variables = variables_from(begin);
            subspace_move(request, begin, variables, move);
            for (int r = 0; r < variables; r++)
                least.add(
                    truncation_of_variable(variable(begin + r), request, weight(request.panel, begin + r), move[r]));
        };
        const Min alpha = map_reduce_host<Min, 1>(segments_.tiles(), of_tile, threads_);
        return std::max(0.0, std::min(1.0, alpha.v));
    }

    CrossedWindow crossed(const PanelRequest &request, double lo, double hi) override {
        const int columns = panel::columns(request.pairs);
        int64_t count = 0;
        found_.clear();
        const auto collect = [&](int64_t i) {
            const BoxedVariable of = variable(i);
            const double h = weight(request, i);
            if (breakpoint_exceeds(hi, of.x, h * of.g, of.l, of.u)) return;
            const panel::Scaling by = panel::scaling_of(h);
            const PathVariable at = on_path(of, h, by);
            if (!(at.t > lo && at.t <= hi)) return;
            const std::lock_guard lock(crossed_mutex_);
            if (count++ < crossed_capacity) {
                double *w = crossed_entries_.get() + (count - 1) * columns;
                for (int age = 0; age < request.pairs; age++) {
                    const int j = panel::y_column(age);
                    const double y = age == 0 && request.fresh ? fresh_y(request, i) : column_y(request, age)[i];
                    w[j] = by.of(j) * y;
                    w[j + 1] = by.of(j + 1) * column_s(request, age)[i];
                }
                found_.add({at.t, i, at.g, at.z, w});
            }
        };
        const auto collect_tile = [&](int64_t tile, int) {
            const int64_t begin = tile * tile_height;
            const int variables = variables_from(begin);
            TileVariables own;
            load_variables(request, begin, variables, own);
            if (!may_have_breakpoint_within(own, variables, hi)) return;
            for (int r = 0; r < variables; r++) collect(begin + r);
        };
        share_host((n_ + tile_height - 1) / tile_height, collect_tile, threads_);
        return found_.window(count);
    }

    void step(int slot, double step) override {
        map_host(n_, TakeStep<Real, History>{x_, work_.x_base(), work_.s(slot), box_, step}, threads_);
    }

    double largest_step(int slot) override {
        return map_reduce_host<Min>(n_, FindLargestStep<Real, History>{work_.x_base(), work_.s(slot), box_}, threads_)
            .v;
    }

    void restore(int slot, double f) override {
        map_host(n_, Restore<Real>{x_, g_, work_.x_base(), work_.g_base(slot), user_.f, f}, threads_);
    }

    void save_best(int slot) override {
        map_host(n_, Restore<Real>{aside_.x, aside_.g, work_.x_base(), work_.g_base(slot)}, threads_);
    }

    void save_trial() override { map_host(n_, Restore<Real>{aside_.x, aside_.g, x_, g_}, threads_); }

    void restore_best(double f) override {
        map_host(n_, Restore<Real>{x_, g_, aside_.x, aside_.g, user_.f, f}, threads_);
    }

    void finish_pair(int slot) override {
        map_host(n_, FinishPair<Real, History>{work_.y(slot), g_, work_.g_base(slot)}, threads_);
    }

    void fetch(const HeldVector &which, void *to_host) override {
        std::memcpy(to_host, place(which).at, static_cast<std::size_t>(bytes_of(which)));
    }
    void store(const HeldVector &which, const void *from_host) override {
        std::memcpy(place(which).at, from_host, static_cast<std::size_t>(bytes_of(which)));
    }
    int64_t bytes_of(const HeldVector &which) const override { return place(which).bytes; }

    double norm(const NormRequest &request) override {
        const MeasureNorm<Real, const History *> measure{
            request, x_, g_, box_, work_.y(request.slot), work_.g_base(request.slot)};
        const auto of_tile = [&](int64_t tile, ScaledSquares &record) {
            const int64_t begin = tile * tile_height;
            for (int64_t i = begin; i < begin + variables_from(begin); i++) measure(i, record);
        };
        return segments_.reduce_squares(of_tile, threads_).norm();
    }

    void remove_infinite_slopes() override { map_host(n_, RemoveInfiniteSlope<Real>{x_, g_, box_}, threads_); }

    int64_t bad_diagonal() override {
        return std::min(n_, map_reduce_host<FirstIndex>(n_, FindBadDiagonal<Real>{diagonal_}, threads_).v);
    }

    void read(const void *vector, int64_t begin, int count, double *to) override {
        for (int i = 0; i < count; i++) to[i] = static_cast<const Real *>(vector)[begin + i];
    }

  private:
    using Vectors = WorkVectors<Real, History>;
    using Trials = TrialArrays<Real, History>;

    HeldPlace place(const HeldVector &which) const {
        return place_of(which, n_, user_, work_, aside_, const_cast<Real *>(diagonal_));
    }
    int variables_from(int64_t begin) const { return static_cast<int>(std::min<int64_t>(tile_height, n_ - begin)); }
    double weight(const PanelRequest &request, int64_t i) const { return request.weighted ? diagonal_[i] : 1.0; }
    BoxedVariable variable(int64_t i) const { return {x_[i], g_[i], box_.lower(i), box_.upper(i)}; }

    const History *column_s(const PanelRequest &request, int age) const {
        return work_.s(work_.slot_of(request.newest_slot, age));
    }
    const History *column_y(const PanelRequest &request, int age) const {
        return work_.y(work_.slot_of(request.newest_slot, age));
    }
    // Returns y_i = g_i - g_base_i in the precision in which y will be stored.
    double fresh_y(const PanelRequest &request, int64_t i) const {
        return gradient_change<History>(g_[i], work_.g_base(request.newest_slot)[i]);
    }

    // Prefetches the variables of the tile after the next one to the second-level cache. A tile is too short for the
    // hardware prefetcher to recognise the access pattern, and is processed faster than memory can be read.
    // The function is always inlined, because GCC 12 removes calls of a function whose only effect is a prefetch.
    template <class T> __attribute__((always_inline)) void prefetch(const T *vector, int64_t begin) const {
        constexpr int64_t ahead = 2 * tile_height;
        const int64_t end = std::min(begin + ahead + tile_height, n_);
        for (int64_t i = begin + ahead; i < end; i += 64 / sizeof(T)) __builtin_prefetch(vector + i, 0, 2);
    }
    template <class T> void load_and_prefetch(const T *vector, int64_t begin, int variables, double *to) const {
        prefetch(vector, begin);
        load_column(vector + begin, variables, to);
    }

    // Loads x, g, the bounds and the weights of a tile as doubles. Elements past the last variable get x = g = 0 and
    // the weight 1. The functions that use the tile exclude these elements.
    void load_variables(const PanelRequest &request, int64_t begin, int variables, TileVariables &tile) const {
        load_and_prefetch(x_, begin, variables, tile.x);
        load_and_prefetch(g_, begin, variables, tile.g);
        if (box_.l) load_and_prefetch(box_.l, begin, variables, tile.l);
        else std::fill(tile.l, tile.l + tile_height, box_.lower_all);
        if (box_.u) load_and_prefetch(box_.u, begin, variables, tile.u);
        else std::fill(tile.u, tile.u + tile_height, box_.upper_all);
        if (request.weighted) load_and_prefetch(diagonal_, begin, variables, tile.h);
        std::fill(tile.h + (request.weighted ? variables : 0), tile.h + tile_height, 1.0);
    }

    // Updates the learned diagonal of a tile.
    void learn(const DiagonalUpdate &update, int64_t begin, int variables) const {
        alignas(64) double h[tile_height], d[tile_height], y[tile_height];
        load_column(update.anew ? x_ + begin : own_diagonal_.get() + begin, variables, h);
        if (update.anew) std::transform(h, h + tile_height, h, [&](double x) { return update.first_weight(x); });
        for (int k = 0; k < update.count; k++) {
            load_column(work_.s(update.pairs[k].slot) + begin, variables, d);
            load_column(work_.y(update.pairs[k].slot) + begin, variables, y);
            learn_tile(d, y, variables, update.pairs[k], h);
        }
        for (int r = 0; r < variables; r++) own_diagonal_[begin + r] = static_cast<Real>(h[r]);
    }

    // Loads a tile of the columns y and s of the newest pair, or zeros if there is none.
    void load_newest_pair(const PanelRequest &request, int64_t begin, int variables, double *tile) const {
        if (request.pairs == 0) {
            std::fill(tile, tile + panel::gradient * tile_height, 0.0);
            return;
        }
        double *const y = tile + panel::y_new * tile_height;
        if (request.fresh) {
            prefetch(work_.g_base(request.newest_slot), begin);
            for (int r = 0; r < variables; r++) y[r] = fresh_y(request, begin + r);
            std::fill(y + variables, y + tile_height, 0.0);
        } else load_and_prefetch(column_y(request, 0), begin, variables, y);
        load_and_prefetch(column_s(request, 0), begin, variables, tile + panel::s_new * tile_height);
    }

    // Returns column c of the panel, which belongs to an older pair.
    const History *older_column(const PanelRequest &request, int c) const {
        return panel::inverse(c) ? column_s(request, panel::age(c)) : column_y(request, panel::age(c));
    }
    // Returns whether the columns of older pairs are read in place: they are only multiplied with the leading columns
    // and neither converted nor scaled. `any_free` is whether a variable of the tile is free.
    bool reads_in_place(const ProductsRequest &request, int variables, bool any_free) const {
        const bool once = (request.free_changes || !request.free_gram || !any_free) && !request.only_yy;
        return std::is_same_v<History, double> && once && !request.older_steps && !request.weighted &&
               variables == tile_height;
    }
    // Returns the address of a tile's variables in such a column, which is in the tile or in the column itself.
    const double *address_of_older(const PanelRequest &request, int c, int64_t begin, bool in_place,
                                   const double *tile) const {
        if constexpr (std::is_same_v<History, double>)
            if (in_place) return older_column(request, c) + begin;
        return tile + c * tile_height;
    }
    // Returns four columns from column c on, after loading older ones into the tile if they are not read in place.
    FourColumns load_four(const PanelRequest &request, int columns, int c, int64_t begin, int variables, bool in_place,
                          double *tile) const {
        FourColumns four;
        for (int j = 0; j < 4; j++) {
            double *const to = tile + (c + j) * tile_height;
            four.at[j] = to;
            if (c < panel::leading || c + j >= columns) continue;
            four.at[j] = address_of_older(request, c + j, begin, in_place, tile);
            prefetch(older_column(request, c + j), begin);
            if (!in_place)
                load_column(older_column(request, c + j) + begin, variables, to, padded_variables(variables));
        }
        return four;
    }

    // Processes one tile: loads its part of the columns y, s, g and z, and stores the sums and inner products of the
    // tile in `out`.
    void add_tile(const ProductsRequest &request, const ProductsLayout &layout, int64_t begin, double *tile,
                  double *free_tile, double *out) const {
        const int variables = variables_from(begin), columns = layout.columns;
        TileVariables own;
        alignas(64) double free[tile_height];
        double *const z = tile + panel::displacement * tile_height;
        if (!request.update.is_empty()) learn(request.update, begin, variables);
        load_variables(request, begin, variables, own);
        measure_tile(own, variables, request.threshold, free, z, out, out[layout.maximum], out[layout.minimum]);
        const double free_count = out[free_variables];
        std::copy(own.g, own.g + tile_height, tile + panel::gradient * tile_height);
        load_newest_pair(request, begin, variables, tile);
        if (request.in_metric()) add_weighted_sums(request, begin, variables, tile, out);
        TileScaling scaling;
        if (request.weighted) {
            scaling_of_tile(own.h, variables, scaling);
            scale_columns(scaling, variables, panel::leading, tile);
        }

        // The products of y_new, s_new and g over the free variables are those over all variables, if all are free.
        const bool of_free = (request.free_gram || request.free_changes) && !request.only_yy && free_count > 0;
        const bool all_are_free = free_count == variables;
        const VariableGroups all = first_groups(variables),
                             groups = of_free && !all_are_free ? groups_with_weights(free, variables) : all;
        if (of_free && !all_are_free) weigh_variables(tile, panel::displacement, free, groups, free_tile);
        const bool in_place = reads_in_place(request, variables, free_count > 0);
        for (int c = 0; c < columns; c += 4) {
            const int count = std::min(4, columns - c);
            const FourColumns four = load_four(request, columns, c, begin, variables, in_place, tile);
            if (request.weighted && c >= panel::leading)
                scale_columns(scaling, variables, count, tile + c * tile_height);
            // z = 0 if the threshold is 0.
            add_leading_products(tile, all, request.threshold > 0 ? 4 : 3, four, count, columns,
                                 out + layout.leading_products + c);
            if (of_free && !all_are_free)
                add_first_rows(free_tile, groups, c, four, count, columns, out + layout.free_gram);
        }
        if (request.older_steps)
            add_products_of_every_second(tile + panel::s_column(1) * tile_height, all, panel::older(request.pairs),
                                         {0, 1, panel::older(request.pairs)}, out + layout.older_steps);
        if (request.only_yy) add_yy(tile, all, layout, out);
        if (of_free && all_are_free) copy_first_rows(layout, out);
        if (of_free && !request.free_changes)
            add_older_free_products(tile, layout, all_are_free, free, groups, free_tile, out);
    }

    // Appends the variables of a tile whose freedom differs between x_base and x, and calls add_changes() when there
    // are enough of them. The tile contains the columns of the panel.
    template <class AddChanges>
    void collect_changes(const ProductsRequest &request, int64_t begin, const double *tile, ChangedVariables &changed,
                         const AddChanges &add_changes) const {
        const int variables = variables_from(begin);
        TileVariables now, base;
        alignas(64) double sign[tile_height];
        load_variables(request, begin, variables, now);
        base = now;
        load_and_prefetch(work_.x_base(), begin, variables, base.x);
        load_column(work_.g_base(request.newest_slot) + begin, variables, base.g);
        if (!changes_of_tile(now, base, variables, sign)) return;
        const bool in_place = reads_in_place(request, variables, true);
        const auto column = [&](int c) { return address_of_older(request, c, begin, in_place, tile); };
        int found[tile_height], count = 0;
        for (int r = 0; r < variables; r++)
            if (sign[r] != 0) found[count++] = r;
        for (int next = 0; next < count;) {
            const int part = std::min(count - next, changed.left());
            changed.append(column, found + next, part, sign);
            next += part;
            if (changed.left() == 0) add_changes();
        }
    }

    void add_weighted_sums(const PanelRequest &request, int64_t begin, int variables, const double *tile,
                           double *out) const {
        alignas(64) double h[tile_height];
        load_column(diagonal_ + begin, variables, h);
        measure_weights(h, tile + panel::y_new * tile_height, tile + panel::s_new * tile_height, variables,
                        request.weighted, out);
    }

    // Computes the displacement from x to the subspace minimiser without bounds, for the variables of a tile. For
    // variable i it is h_i (a g_i + sum_j q_j y_ij) + sum_j q'_j s_ij, where y_ij and s_ij are elements of the columns
    // of Y and S. The request contains the coefficients a, q and q'. h is the diagonal of the initial inverse Hessian,
    // or 1.
    void subspace_move(const DirectionRequest &request, int64_t begin, int variables, double *move) const {
        const PanelRequest &p = request.panel;
        alignas(64) double from_s[tile_height] = {};
        for (int r = 0; r < variables; r++) move[r] = request.gradient_coefficient * g_[begin + r];
        if (p.fresh && p.pairs > 0) {
            const double q = request.coefficients[panel::y_new];
            prefetch(work_.g_base(p.newest_slot), begin);
            for (int r = 0; r < variables; r++) move[r] += q * fresh_y(p, begin + r);
        }
        constexpr int at_once = 4;
        for (int age = 0; age < p.pairs; age += at_once) {
            double of_y[at_once], of_s[at_once];
            const History *y[at_once], *s[at_once];
            int ys = 0, ss = 0;
            for (int a = age; a < std::min(age + at_once, p.pairs); a++) {
                s[ss] = column_s(p, a), of_s[ss] = request.coefficients[panel::s_column(a)];
                prefetch(s[ss++], begin);
                if (a == 0 && p.fresh) continue;
                y[ys] = column_y(p, a), of_y[ys] = request.coefficients[panel::y_column(a)];
                prefetch(y[ys++], begin);
            }
            add_columns(of_y, y, ys, begin, variables, move);
            add_columns(of_s, s, ss, begin, variables, from_s);
        }
        if (p.weighted)
            for (int r = 0; r < variables; r++) move[r] = move[r] * diagonal_[begin + r] + from_s[r];
        else
            for (int r = 0; r < variables; r++) move[r] += from_s[r];
    }

    void direction_tile(const DirectionRequest &request, int64_t begin, DirectionRecord &record) const {
        alignas(64) double move[tile_height] = {};
        const int variables = variables_from(begin), slot = request.spare_slot;
        subspace_move(request, begin, variables, move);
        const bool fresh = request.panel.fresh && request.panel.pairs > 0;
        const Trials to{x_, work_.g_base(slot), work_.x_base(), work_.s(slot),
                        fresh ? work_.y(request.panel.newest_slot) : nullptr};
        prefetch(to.g_base, begin);
        prefetch(to.x_base, begin);
        prefetch(to.d, begin);
        TileVariables own;
        load_variables(request.panel, begin, variables, own);
        const double threshold = request.panel.threshold;
        const bool passes_none =
            threshold == 0 || (threshold > 0 && !may_have_breakpoint_within(own, variables, threshold));
        if (passes_none && !request.truncate) take_tile(to, begin, variables, request, own, move, record);
        else
            for (int r = 0; r < variables; r++) take_variable(to, begin + r, request, move[r], record);
    }

    // Computes the direction and the trial point of a tile in the usual case: the Cauchy search has passed no
    // breakpoint of its variables, and the step to the subspace minimiser is not truncated. The function processes four
    // variables at a time. `own` contains x, g and the bounds of the tile.
    void take_tile(const Trials &to, int64_t begin, int variables, const DirectionRequest &request,
                   const TileVariables &own, const double *move, DirectionRecord &record) const {
        alignas(64) double trial[tile_height], d[tile_height] = {};
        record.projected.add(trial_of_tile(own, variables, move, largest_number<Real>, trial));
        if constexpr (Vectors::apart) {
            if (!round_direction(own, trial, variables, to.d + begin, d))
                for (int r = 0; r < variables; r++)
                    d[r] = to.d[begin + r] = stored_direction<Real, History>(own.x[r], trial[r], own.l[r], own.u[r]);
        } else
            for (int r = 0; r < variables; r++) d[r] = to.d[begin + r] = static_cast<History>(trial[r] - own.x[r]);
        record.slope.add(dot_of_tile(own.g, d, variables));
        record.d_squared.add(dot_of_tile(d, d, variables));
        if (to.y_fresh) store_fresh_y(to, request.panel, begin, variables);
        std::copy(g_ + begin, g_ + begin + variables, to.g_base + begin);
        std::copy(x_ + begin, x_ + begin + variables, to.x_base + begin);
        if constexpr (Vectors::apart) step_tile(own, d, request.step, variables, to.x + begin);
        else if (request.step == 1)
            for (int r = 0; r < variables; r++) to.x[begin + r] = static_cast<Real>(trial[r]);
        else
            for (int r = 0; r < variables; r++)
                to.x[begin + r] = stepped_variable<Real>(own.x[r], d[r], request.step, own.l[r], own.u[r]);
    }

    void store_fresh_y(const Trials &to, const PanelRequest &request, int64_t begin, int variables) const {
        const Real *before;
        if constexpr (Vectors::apart) before = work_.g_base(request.newest_slot);
        // If y has the same type as g, y_fresh and the array of g_base are the same memory. The assignment shows that
        // to the compiler, which can then vectorise the loop.
        else before = to.y_fresh;
        for (int64_t i = begin; i < begin + variables; i++) to.y_fresh[i] = gradient_change<History>(g_[i], before[i]);
    }

    void take_variable(const Trials &to, int64_t i, const DirectionRequest &request, double move,
                       DirectionRecord &record) const {
        const BoxedVariable at = variable(i);
        const auto trial = take_trial<Real, History>(at, request, weight(request.panel, i), move, record);
        if (to.y_fresh) store_fresh_y(to, request.panel, i, 1);
        to.d[i] = trial.d;
        to.g_base[i] = g_[i];
        to.x_base[i] = x_[i];
        to.x[i] = trial.x;
    }

    const int64_t n_;
    SegmentSums segments_;
    HostThreads threads_ = 1;
    Real *x_ = nullptr, *g_ = nullptr;
    BoxArrays<Real> box_{};
    const Real *diagonal_ = nullptr;
    UserArrays user_{};
    Vectors work_{};
    AsideVectors<Real> aside_{};
    HostArray<unsigned char> vectors_;
    HostArray<Real> aside_memory_, own_diagonal_;
    HostArray<double> scratch_, crossed_entries_;
    int64_t scratch_size_ = 0;
    std::mutex crossed_mutex_;
    FoundVariables found_;
    PanelProducts sums_{};
};

} // namespace

template <class Real, class History> std::unique_ptr<Sweeps> make_host_sweeps(int64_t n) {
    return std::make_unique<HostSweeps<Real, History>>(n);
}
template std::unique_ptr<Sweeps> make_host_sweeps<double, double>(int64_t);
template std::unique_ptr<Sweeps> make_host_sweeps<double, float>(int64_t);
template std::unique_ptr<Sweeps> make_host_sweeps<double, bfloat16>(int64_t);
template std::unique_ptr<Sweeps> make_host_sweeps<float, float>(int64_t);
template std::unique_ptr<Sweeps> make_host_sweeps<float, bfloat16>(int64_t);

} // namespace cudaopt
