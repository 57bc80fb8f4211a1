#include "lbfgsb/cauchy_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lbfgsb/box.hpp"

namespace cudaopt {

namespace {

// The window of breakpoints that is fetched reaches a little beyond the segment's minimiser: passing breakpoints moves
// the minimiser on, on elastic-plastic torsion by less than 5 %.
constexpr double window = 1.0625;
constexpr double largest_finite = std::numeric_limits<double>::max();
// Beyond this many rows a gather is cheaper than taking their products off one by one; on an H200 about.
int64_t subtract_at_most(double free_rows) { return 512 + static_cast<int64_t>(free_rows / 2000); }

double bits_midpoint(double lo, double hi) {
    int64_t a, b;
    std::memcpy(&a, &lo, sizeof a);
    std::memcpy(&b, &hi, sizeof b);
    const int64_t middle = a + (b - a) / 2;
    double result;
    std::memcpy(&result, &middle, sizeof result);
    return result;
}

} // namespace

CauchySearch::CauchySearch(int m) : w_(2 * m), w_reduced_(2 * m), entries_(panel::columns(m)) {
    for (CauchyPoint *point : {&point_, &saved_point_})
        for (dense::Vector *v : {&point->c, &point->p, &point->c_reduced, &point->p_reduced}) v->reserve(2 * m);
    products_.reserve(panel::masked_count(panel::columns(m)));
    for (auto *rows : {&rows_, &unsorted_}) rows->reserve(crossed_capacity);
    bucket_ends_.reserve(crossed_capacity);
}

// What the sums at a threshold tau say of the path there, whatever the model. With z the way gone so far, z = -tau g on
// the rows that move and bound - x on those that have stopped: p = W'd, c = W'z.
void CauchySearch::take_sums(const PanelSums &sums, double threshold) {
    const int size = 2 * memory_->pairs();
    const double *with_g = sums.full.data() + panel::gradient * sums.columns;
    if (panel_.masked) {
        for (int j = 0; j < sums.columns; j++) entries_[j] = sums.over_free(panel::gradient, j);
        with_g = entries_.data();
    }
    at_.t = point_.threshold = threshold;
    at_.d_squared = with_g[panel::gradient];
    point_.free_rows = sums.row_sums[free_rows];
    point_.over_free = sums.masked.data();
    point_.ready = true;
    point_.p.resize(size);
    point_.c.assign(size, 0);
    if (size == 0) return;
    memory_->to_basis(with_g, point_.p.data());
    for (double &value : point_.p) value = -value;
    if (threshold > 0) {
        memory_->to_basis(sums.full.data() + panel::displacement * sums.columns, point_.c.data());
        for (int i = 0; i < size; i++) point_.c[i] += threshold * point_.p[i];
    }
}

// The path just beyond a threshold tau:
//     phi'(tau+) = d'g + theta d'z - p'M c = -(1 - theta tau) d'd - p'M c,    phi'' = theta d'd - p'M p.
void CauchySearch::stand_at(const PanelSums &sums, double threshold) {
    take_sums(sums, threshold);
    const double theta = memory_->theta();
    std::vector<double> &p = point_.p_reduced, &c = point_.c_reduced;
    p = point_.p;
    c = point_.c;
    memory_->reduce_by_middle(p.data());
    if (threshold > 0) memory_->reduce_by_middle(c.data());
    at_.slope = -(1 - theta * threshold) * at_.d_squared - memory_->middle_form(p.data(), c.data());
    at_.curvature = theta * at_.d_squared - memory_->middle_form(p.data(), p.data());
    if (threshold == 0) least_curvature_ = std::numeric_limits<double>::epsilon() * theta * at_.d_squared;
    at_.curvature = std::max(at_.curvature, least_curvature_);
}

// The next gather overwrites the products, and crossed rows are taken off them: keep them here.
void CauchySearch::own_products() {
    products_.assign(point_.over_free, point_.over_free + panel::masked_count(panel::columns(memory_->pairs())));
    point_.over_free = products_.data();
}

// A row that is crossed is no longer free.
void CauchySearch::take_off(const CrossedRow &row) {
    const int columns = panel::columns(memory_->pairs());
    std::copy(row.w, row.w + columns, entries_.begin());
    entries_[panel::gradient] = entries_[panel::displacement] = 0; // not set in the row, and not asked for again
    for (int i = 0; i < columns; i++)
        dense::subtract(&products_[panel::masked_index(i, i, columns)], entries_[i], &entries_[i], columns - i);
}

bool CauchySearch::find(const LimitedMemory &memory, Sweeps &sweeps, const GatherRequest &panel, const PanelSums &sums,
                        bool bounded, bool approximate) {
    memory_ = &memory;
    sweeps_ = &sweeps;
    panel_ = panel;
    point_.segments = 1;
    point_.breakpoints_crossed = 0;
    point_.crossed = false;
    if (!bounded) { // z = 0: the subspace minimisation alone decides, as in the Fortran code
        take_sums(sums, 0);
        point_.t = point_.t_first = 0;
        return true;
    }
    if (memory.pairs() == 0) {
        // B = theta I: the model is separable and x_c = P(x - g / theta), whatever is crossed.
        take_sums(sums, 0);
        point_.t_first = std::min(1 / memory.theta(), sums.first_breakpoint);
        point_.t = approximate ? point_.t_first : 1 / memory.theta();
        point_.crossed = point_.t > sums.first_breakpoint;
        return true;
    }
    stand_at(sums, 0);
    if (!finite()) return false;
    const double first = minimiser();
    point_.t_first = std::min(first, sums.first_breakpoint);
    if (first <= sums.first_breakpoint || approximate) {
        point_.t = point_.t_first;
        for (std::size_t i = 0; i < point_.c.size(); i++) point_.c[i] = point_.t * point_.p[i];
        return true;
    }
    point_.crossed = true;
    return search_beyond_first_breakpoint(sums);
}

// Windows follow one another without a gap, each reaching beyond the minimiser as seen from the one before. It ends:
// the reach doubles from window to window, so that after 2,100 of them, the binary exponents that there are, a window
// holds all finite breakpoints; a bisection at least halves what lies between its ends. Nearly always there is one
// window.
bool CauchySearch::search_beyond_first_breakpoint(const PanelSums &sums) {
    own_products();
    double searched = 0; // all breakpoints up to here have been passed
    double reach = window - 1;
    bracket_ = largest_finite;
    const double moving_at_start = sums.row_sums[free_rows];
    for (bool found = false; !found; reach *= 2) {
        const double hi = std::min(at_.t + (1 + reach) * (minimiser() - at_.t), bracket_);
        if (hi <= searched) break;
        if (fetch(searched, hi)) {
            found = pass_breakpoints(hi);
            searched = hi;
        } else {
            found = bisect(hi);
            searched = at_.t;
        }
        if (!finite()) return false;
    }
    const double t = point_.t = std::max(minimiser(), at_.t);
    for (std::size_t i = 0; i < point_.c.size(); i++) point_.c[i] += (t - at_.t) * point_.p[i];

    if (!point_.ready && point_.free_rows > 0) {
        panel_.threshold = point_.threshold;
        point_.over_free = sweeps_->gather(panel_).masked.data();
    }
    point_.breakpoints_crossed = static_cast<int64_t>(moving_at_start - point_.free_rows);
    return true;
}

// Fetch the rows with breakpoints in (lo, hi], in order. False: there are too many.
bool CauchySearch::fetch(double lo, double hi) {
    if (sweeps_->crossed(panel_, lo, hi, unsorted_) > crossed_capacity) return false;
    sort_rows();
    return true;
}

// By t, equal ones by index: into as many buckets of t as there are rows, then each bucket. Rows lie evenly enough for
// that to take a third of the time of a sort.
void CauchySearch::sort_rows() {
    const auto before = [](const CrossedRow &a, const CrossedRow &b) {
        return a.t < b.t || (a.t == b.t && a.index < b.index);
    };
    const std::vector<CrossedRow> &from = unsorted_;
    rows_.resize(from.size());
    if (from.empty()) return;
    const auto [least, largest] = std::minmax_element(from.begin(), from.end(), before);
    const double buckets = static_cast<double>(from.size()) - 1, width = largest->t - least->t;
    const auto bucket = [&, origin = least->t](const CrossedRow &row) {
        return width > 0 && std::isfinite(width) ? static_cast<std::size_t>((row.t - origin) / width * buckets) : 0;
    };
    bucket_ends_.assign(from.size(), 0);
    for (const CrossedRow &row : from) bucket_ends_[bucket(row)]++;
    int sum = 0;
    for (int &end : bucket_ends_) sum += std::exchange(end, sum); // now where each begins
    for (const CrossedRow &row : from) rows_[bucket_ends_[bucket(row)]++] = row;
    for (std::size_t k = 0, begin = 0; k < from.size(); begin = bucket_ends_[k++])
        std::sort(rows_.begin() + begin, rows_.begin() + bucket_ends_[k], before);
}

// Pass the fetched rows' breakpoints until a segment holds its own minimiser (algorithm CP). True: found.
bool CauchySearch::pass_breakpoints(double no_breakpoint_before) {
    const int size = 2 * memory_->pairs();
    const double theta = memory_->theta();
    std::vector<double> &p = point_.p, &c = point_.c, &p_reduced = point_.p_reduced, &c_reduced = point_.c_reduced;
    const bool subtract = point_.ready && static_cast<int64_t>(rows_.size()) <= subtract_at_most(point_.free_rows);
    for (std::size_t at = 0; at < rows_.size();) {
        const double t = rows_[at].t;
        if (minimiser() < t || at_.d_squared <= 0) return true;
        const double dt = t - at_.t;
        for (int i = 0; i < size; i++) {
            c[i] += dt * p[i];
            c_reduced[i] += dt * p_reduced[i];
        }
        at_.slope += dt * at_.curvature;
        for (; at < rows_.size() && rows_[at].t == t; at++) { // rows that stop at the same t end the same segment
            const CrossedRow &row = rows_[at];
            memory_->to_basis(row.w, w_.data());
            w_reduced_ = w_;
            memory_->reduce_by_middle(w_reduced_.data());
            const auto form_with_w = [&](const dense::Vector &v) {
                return memory_->middle_form(w_reduced_.data(), v.data());
            };
            const double g = row.g;
            at_.slope += g * g + theta * g * row.z - g * form_with_w(c_reduced);
            at_.curvature -= theta * g * g + 2 * g * form_with_w(p_reduced) + g * g * form_with_w(w_reduced_);
            for (int i = 0; i < size; i++) {
                p[i] += g * w_[i];
                p_reduced[i] += g * w_reduced_[i];
            }
            at_.d_squared -= g * g;
            if (subtract) take_off(row);
            point_.free_rows--;
        }
        at_.curvature = std::max(at_.curvature, least_curvature_);
        point_.ready = subtract;
        point_.threshold = at_.t = t;
        point_.segments++;
        if (point_.free_rows <= 0) return true;
    }
    return minimiser() <= no_breakpoint_before;
}

// More breakpoints in (at_.t, hi] than can be fetched. Move at_.t on, or find that it is the minimiser (true), by
// gathers at trial thresholds; midpoints alternate between the values and their bits, so that 128 steps reach adjacent
// numbers and end it.
bool CauchySearch::bisect(double hi) {
    double lo = at_.t;
    bool all_tied = false;
    for (int step = 0; !all_tied; step++) {
        double middle = step % 2 == 0 ? lo + 0.5 * (hi - lo) : bits_midpoint(std::max(lo, 0.0), hi);
        if (!(middle > lo && middle < hi)) middle = bits_midpoint(lo, hi);
        all_tied = !(middle > lo && middle < hi); // hi is the number next to lo: its rows end one segment together
        if (all_tied) middle = hi;

        panel_.threshold = middle;
        saved_point_ = point_;
        const PathState saved = at_;
        stand_at(sweeps_->gather(panel_), middle);
        point_.segments++;
        const bool past_minimum = at_.slope >= 0 || point_.free_rows <= 0;
        if (all_tied || !past_minimum) { // on to a new window from here, if need be
            own_products();
            return past_minimum;
        }
        // The minimiser is before `middle`: go back, and look whether the rest can be fetched.
        point_ = saved_point_;
        at_ = saved;
        point_.segments++;
        hi = bracket_ = middle;
        if (fetch(lo, hi)) return pass_breakpoints(hi);
    }
    return true;
}

} // namespace cudaopt
