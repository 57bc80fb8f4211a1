// The solves that run inside compiled XLA programs, and the store in which they wait between two calls.
//
// A solve is found by a number that the program itself hands on, and not by an address. It owns its arrays x, f, g and
// its bounds, so that it does not matter where XLA keeps the program's arrays, and whether it moves or reuses them.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda_opt.hpp"

namespace cudaopt::xla {

// The columns of the array `info`, which has one row for each problem.
enum Info { info_task, info_iterations, info_evaluations, info_stop_test, info_size };

// The properties of a solve that cannot be changed later. Solves with equal properties can use one handle in turn.
struct Kind {
    int64_t rows, n; // problems, and variables of each
    bool single;     // precision
    int32_t m;
    bool as_batch;      // solve several problems as one batch, not one by one
    int32_t kept_pairs; // the most correction pairs that read_pairs() writes; 0: none are kept
    std::vector<std::pair<int32_t, int64_t>> integers;
    std::vector<std::pair<int32_t, double>> reals;

    bool operator==(const Kind &o) const {
        return std::tie(rows, n, single, m, as_batch, kept_pairs, integers, reals) ==
               std::tie(o.rows, o.n, o.single, o.m, o.as_batch, o.kept_pairs, o.integers, o.reals);
    }
    double workspace_bytes() const { return static_cast<double>(rows * n) * (2 * m + 10) * (single ? 4 : 8); }
};

// The result of begin(). `ended`: the solve has already ended, for example because bounds cross. `moved`: the library
// has moved the start into the box, and f and g have to be evaluated there. `ready`: advance() can be called with f and
// g at the start.
enum class Begun { ended, moved, ready };

// One problem, or several with one row each.
class Solve {
  public:
    explicit Solve(Kind kind) : kind_(std::move(kind)) {}
    virtual ~Solve() = default;
    const Kind &kind() const { return kind_; }
    // Begins at x, an array of rows * n elements, as are the bounds. The former solve must have ended.
    virtual Begun begin(const void *x, const void *lower, const void *upper) = 0;
    // Continues with f and g at the last x. Returns whether a problem waits for another evaluation.
    virtual bool advance(const std::vector<double> &f, const void *g) = 0;
    virtual void read_x(void *x) const = 0;
    virtual void read_f_and_g(std::vector<double> &f, void *g) const = 0;
    virtual const std::vector<int32_t> &info() const = 0; // info_size numbers for each problem
    // Writes 2k + 1 rows of n elements for each problem, with k = kept_pairs: the differences s of its correction
    // pairs, oldest first, the differences y, and the diagonal of the initial inverse Hessian. With fewer than k pairs
    // the first rows of s and of y are 0. Of a batch no pairs are known, and the diagonal is 1.
    virtual void read_pairs(void *rows) const = 0;

  private:
    const Kind kind_;
};

// The steps s and the changes y of the gradient in the last iterations of one problem. They are those of the solver's
// history: the pairs that the solver skips are left out, and so are those from before it has cleared the history.
template <class Real> class Pairs {
  public:
    void begin(const Real *x, const Real *g, int64_t n) {
        pairs_.clear();
        skipped_ = refreshes_ = 0;
        x_.assign(x, x + n);
        g_.assign(g, g + n);
    }
    // Called at each iterate after the start.
    void add(const cudaopt::Handle &solver, const Real *x, const Real *g, int32_t most) {
        std::vector<Real> s(x, x + x_.size()), y(g, g + g_.size());
        double sy = 0;
        for (std::size_t i = 0; i < s.size(); i++) {
            s[i] -= std::exchange(x_[i], x[i]);
            y[i] -= std::exchange(g_[i], g[i]);
            sy += static_cast<double>(s[i]) * y[i];
        }
        const int64_t skipped = solver.get_int(CUDA_OPT_SKIPPED_UPDATES),
                      refreshes = solver.get_int(CUDA_OPT_REFRESHES);
        if (refreshes > std::exchange(refreshes_, refreshes)) pairs_.clear();
        if (skipped > std::exchange(skipped_, skipped) || !(sy > 0)) return;
        if (pairs_.size() == static_cast<std::size_t>(most)) pairs_.pop_front();
        pairs_.emplace_back(std::move(s), std::move(y));
    }
    void write(Real *rows, int32_t most) const {
        const auto n = static_cast<int64_t>(x_.size());
        int64_t row = most - static_cast<int64_t>(pairs_.size());
        for (const auto &[s, y] : pairs_) {
            std::copy(s.begin(), s.end(), rows + row * n);
            std::copy(y.begin(), y.end(), rows + (most + row++) * n);
        }
    }

  private:
    std::deque<std::pair<std::vector<Real>, std::vector<Real>>> pairs_;
    std::vector<Real> x_, g_; // of the last iterate
    int64_t skipped_ = 0, refreshes_ = 0;
};

template <class Real> class SolveOf : public Solve {
  public:
    explicit SolveOf(const Kind &kind)
        : Solve(kind), rows_(kind.rows), n_(kind.n), x_(size(rows_ * n_)), g_(x_.size()), lower_(x_.size()),
          upper_(x_.size()), f_(size(rows_)), info_(size(rows_ * info_size)) {
        const auto set = [&](cudaopt::Handle &handle) {
            for (const auto &[key, value] : kind.integers) handle.set_int(key, value);
            for (const auto &[key, value] : kind.reals) handle.set_real(key, value);
        };
        if (kind.as_batch) {
            batch_.emplace(n_, rows_, kind.m, CUDA_OPT_BACKEND_HOST);
            batch_->set_bounds_of_each(lower_.data(), upper_.data());
            set(*batch_);
            return;
        }
        for (int64_t row = 0; row < rows_; row++) {
            each_.emplace_back(n_, kind.m, CUDA_OPT_BACKEND_HOST);
            each_.back().set_bounds(lower_.data() + row * n_, upper_.data() + row * n_);
            set(each_.back());
            if (kind.kept_pairs > 0) each_.back().set_int(CUDA_OPT_REPORT_ITERATES, 1);
        }
    }

    Begun begin(const void *x, const void *lower, const void *upper) override {
        std::memcpy(x_.data(), x, bytes());
        std::memcpy(lower_.data(), lower, bytes());
        std::memcpy(upper_.data(), upper, bytes());
        if (batch_) batch_->reset();
        for (Minimiser<Real> &solver : each_) solver.reset();
        active_ = -1;
        pairs_.assign(kind().kept_pairs > 0 ? each_.size() : 0, {});
        has_pairs_ = false;
        std::fill(info_.begin(), info_.end(), 0);
        for (int64_t row = 0; row < rows_; row++) info_[row * info_size] = CUDA_OPT_EVALUATE_FG;
        if (!step()) return Begun::ended;
        return std::memcmp(x_.data(), x, bytes()) == 0 ? Begun::ready : Begun::moved;
    }

    bool advance(const std::vector<double> &f, const void *g) override {
        f_ = f;
        std::memcpy(g_.data(), g, bytes());
        if (!std::exchange(has_pairs_, true))
            for (std::size_t row = 0; row < pairs_.size(); row++)
                pairs_[row].begin(x_.data() + offset(row), g_.data() + offset(row), n_);
        return step();
    }

    void read_x(void *x) const override { std::memcpy(x, x_.data(), bytes()); }
    void read_f_and_g(std::vector<double> &f, void *g) const override {
        f = f_;
        std::memcpy(g, g_.data(), bytes());
    }
    const std::vector<int32_t> &info() const override { return info_; }
    void read_pairs(void *rows) const override {
        const int64_t m = kind().kept_pairs, size_of_each = (2 * m + 1) * n_;
        auto *to = static_cast<Real *>(rows);
        for (std::size_t row = 0; row < size(rows_); row++, to += size_of_each) {
            std::fill_n(to, size_of_each, Real(0));
            if (row < pairs_.size()) pairs_[row].write(to, kind().kept_pairs);
            const bool knows_diagonal = row < pairs_.size() && info_[row * info_size + info_evaluations] > 0;
            const std::vector<Real> diagonal =
                knows_diagonal ? each_[row].diagonal() : std::vector<Real>(size(n_), Real(1));
            std::copy(diagonal.begin(), diagonal.end(), to + 2 * m * n_);
        }
    }

  private:
    static std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }
    std::size_t bytes() const { return x_.size() * sizeof(Real); }
    std::size_t offset(std::size_t row) const { return row * size(n_); }

    // Calls the library until each problem waits for an evaluation or has ended. Returns whether one waits.
    bool step() {
        if (batch_) return step_batch();
        bool waits = false;
        for (int64_t row = 0; row < rows_; row++) {
            int32_t *const info = &info_[row * info_size];
            if (info[info_task] <= 0) continue;
            Minimiser<Real> &solver = each_[size(row)];
            while ((info[info_task] = solver.solve(&x_[row * n_], &f_[row], &g_[row * n_])) == CUDA_OPT_NEW_ITERATE)
                if (!pairs_.empty()) pairs_[size(row)].add(solver, &x_[row * n_], &g_[row * n_], kind().kept_pairs);
            if (info[info_task] > 0) waits = true;
            else note_end(info, solver);
        }
        return waits;
    }

    static void note_end(int32_t *info, const cudaopt::Handle &solver) {
        if (info[info_task] == CUDA_OPT_MISUSE) throw Error(CUDA_OPT_MISUSE, solver.message());
        info[info_iterations] = static_cast<int32_t>(solver.get_int(CUDA_OPT_ITERATIONS));
        info[info_evaluations] = static_cast<int32_t>(solver.get_int(CUDA_OPT_EVALUATIONS));
        info[info_stop_test] = static_cast<int32_t>(solver.get_int(CUDA_OPT_STOP_TEST));
    }

    bool step_batch() {
        const int task = batch_->solve(x_.data(), f_.data(), g_.data());
        if (task == CUDA_OPT_MISUSE) throw Error(task, batch_->message());
        const int64_t active = task > 0 ? batch_->active() : 0;
        if (active != active_) {
            constexpr int32_t keys[] = {CUDA_OPT_BATCH_CODE, CUDA_OPT_ITERATIONS, CUDA_OPT_EVALUATIONS,
                                        CUDA_OPT_STOP_TEST};
            for (int k = 0; k < info_size; k++) {
                const std::vector<int64_t> values = batch_->integers(keys[k]);
                for (std::size_t row = 0; row < values.size(); row++)
                    info_[row * info_size + static_cast<std::size_t>(k)] = static_cast<int32_t>(values[row]);
            }
        }
        active_ = active;
        return task > 0;
    }

    const int64_t rows_, n_;
    std::vector<Real> x_, g_, lower_, upper_;
    std::vector<double> f_;
    std::vector<int32_t> info_;
    std::vector<Minimiser<Real>> each_;
    std::optional<Batch<Real>> batch_;
    std::vector<Pairs<Real>> pairs_; // of each problem, if they are kept
    bool has_pairs_ = false;         // whether pairs_ have begun
    int64_t active_ = -1;
};

// The solves between two calls, by their numbers. If a program ends by an error, its solve remains in the store. The
// store therefore has a limit: when a solve is added to `most` others, the one whose last call is the oldest is
// deleted. If its program still runs, the next call of that program returns an error. The store also keeps a few small
// solves that have ended, because creating a handle takes longer than a short solve.
class Store {
  public:
    static constexpr std::size_t most = 256, most_ended = 8;
    static constexpr double largest_ended = 1e7; // bytes

    // Returns the number of a new solve, which has not begun.
    int64_t add() {
        const std::lock_guard<std::mutex> lock(mutex_);
        drop_oldest();
        waiting_[++last_].used = ++clock_;
        return last_;
    }
    // Takes a solve out of the store, so that it cannot be dropped during its call. `solve` is empty before it has
    // begun. Returns false if there is no such solve.
    bool take(int64_t number, std::unique_ptr<Solve> &solve) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = waiting_.find(number);
        if (found == waiting_.end()) return false;
        solve = std::move(found->second.solve);
        waiting_.erase(found);
        return true;
    }
    void put_back(int64_t number, std::unique_ptr<Solve> solve) {
        const std::lock_guard<std::mutex> lock(mutex_);
        drop_oldest();
        waiting_[number] = {std::move(solve), ++clock_};
    }
    void keep_ended(std::unique_ptr<Solve> solve) {
        if (solve->kind().workspace_bytes() > largest_ended) return;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (ended_.size() == most_ended) ended_.erase(ended_.begin());
        ended_.push_back(std::move(solve));
    }
    // Returns a solve of this kind that has ended, or nothing.
    std::unique_ptr<Solve> take_ended(const Kind &kind) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (auto one = ended_.begin(); one != ended_.end(); one++)
            if ((*one)->kind() == kind) {
                std::unique_ptr<Solve> solve = std::move(*one);
                ended_.erase(one);
                return solve;
            }
        return nullptr;
    }
    int64_t size() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return static_cast<int64_t>(waiting_.size());
    }

  private:
    struct Waiting {
        std::unique_ptr<Solve> solve;
        int64_t used = 0;
    };

    void drop_oldest() {
        if (waiting_.size() < most) return;
        auto oldest = waiting_.begin();
        for (auto one = waiting_.begin(); one != waiting_.end(); one++)
            if (one->second.used < oldest->second.used) oldest = one;
        waiting_.erase(oldest);
    }

    std::mutex mutex_;
    std::map<int64_t, Waiting> waiting_;
    std::vector<std::unique_ptr<Solve>> ended_;
    int64_t last_ = 0, clock_ = 0;
};

} // namespace cudaopt::xla
