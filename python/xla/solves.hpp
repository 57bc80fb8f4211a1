// The solves that run inside compiled XLA programs.
//
// A solve owns its arrays x, f, g and its bounds, so that it does not matter where XLA keeps the program's arrays, and
// whether it moves or reuses them.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda_opt.hpp"
#include "memory.hpp"

namespace cudaopt::xla {

// The columns of the array `info`, which has one row for each problem.
enum Info { info_task, info_iterations, info_evaluations, info_stop_test, info_size };

// The properties of a solve that cannot be changed later. Solves with equal properties can use one handle in turn.
struct Kind {
    void *context;   // of CUDA; NULL: the solve is on the host
    int64_t rows, n; // problems, and variables of each
    bool single;     // precision
    int32_t m;
    bool bounded;
    bool as_batch;      // solve several problems as one batch, not one by one
    int32_t kept_pairs; // the most correction pairs that read_pairs() writes; 0: none are kept
    std::vector<std::pair<int32_t, int64_t>> integers;
    std::vector<std::pair<int32_t, double>> reals;

    bool operator==(const Kind &o) const {
        return std::tie(context, rows, n, single, m, bounded, as_batch, kept_pairs, integers, reals) ==
               std::tie(o.context, o.rows, o.n, o.single, o.m, o.bounded, o.as_batch, o.kept_pairs, o.integers,
                        o.reals);
    }
    int32_t backend() const { return context ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST; }
    std::size_t array_bytes() const { return static_cast<std::size_t>(rows * n) * (single ? 4 : 8); }
    double workspace_bytes() const { return static_cast<double>(array_bytes()) * (2 * m + 10); }
};

// One problem, or several with one row each. All arrays of the arguments are in `memory`, which has the kind's context.
class Solve {
  public:
    explicit Solve(Kind kind) : kind_(std::move(kind)) {
        if (kind_.context) seen_.emplace();
    }
    virtual ~Solve() = default;
    const Kind &kind() const { return kind_; }
    // On CUDA the number of this solve, as the device reads it from the program's array.
    HostNumber &seen() { return *seen_; }

    // Begins at x, an array of rows * n elements, as are the bounds. Returns how many problems wait for an evaluation.
    // The former solve must have ended.
    virtual int32_t begin(const Memory &memory, const void *x, const void *lower, const void *upper) = 0;
    // Continues with f (doubles) and g at the last x. Returns how many problems wait for another evaluation.
    virtual int32_t advance(const Memory &memory, const void *f, const void *g) = 0;
    virtual void read_x(const Memory &memory, void *x) const = 0;
    virtual void read_g(const Memory &memory, void *g) const = 0;
    // Returns info_size numbers for each problem, once all have ended.
    virtual std::vector<int32_t> info() const = 0;
    // Writes 2k + 1 rows of n elements for each problem, with k = kept_pairs: the differences s of its correction
    // pairs, oldest first, the differences y, and the diagonal of the initial inverse Hessian. With fewer than k pairs
    // the first rows of s and of y are 0. Of a batch no pairs are known, and the diagonal is 1. On CUDA only the
    // diagonal is known.
    virtual void read_pairs(const Memory &memory, void *rows) const = 0;

  private:
    const Kind kind_;
    std::optional<HostNumber> seen_;
};

// The steps s and the changes y of the gradient in the last iterations of one problem on the host. They are those of
// the solver's history: the pairs that the solver skips are left out, and so are those from before it has cleared the
// history.
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
    explicit SolveOf(const Kind &kind) : Solve(kind), rows_(kind.rows), n_(kind.n), tasks_(size(rows_)) {
        if (kind.as_batch) batch_.emplace(n_, rows_, kind.m, kind.backend());
        else
            for (int64_t row = 0; row < rows_; row++) each_.emplace_back(n_, kind.m, kind.backend());
        const Handle &owner = batch_ ? static_cast<const Handle &>(*batch_) : each_.at(0);
        for (std::optional<Array<Real>> *array : {&x_, &g_, &lower_, &upper_})
            if (kind.bounded || array == &x_ || array == &g_) array->emplace(owner, rows_ * n_);
        f_.emplace(owner, rows_);
        for_each_handle([&](Handle &handle) {
            for (const auto &[key, value] : kind.integers) handle.set_int(key, value);
            for (const auto &[key, value] : kind.reals) handle.set_real(key, value);
        });
        if (kind.bounded && batch_) batch_->set_bounds_of_each(*lower_, *upper_);
        for (int64_t row = 0; row < static_cast<int64_t>(each_.size()); row++) {
            Minimiser<Real> &solver = each_[size(row)];
            if (kind.bounded) solver.set_bounds(lower_->data() + row * n_, upper_->data() + row * n_);
            if (keeps_pairs()) solver.set_int(CUDA_OPT_REPORT_ITERATES, 1);
        }
    }

    int32_t begin(const Memory &memory, const void *x, const void *lower, const void *upper) override {
        for_each_handle([&](Handle &handle) {
            handle.reset();
            handle.set_stream(memory.stream());
        });
        memory.copy(x_->data(), x, kind().array_bytes());
        if (kind().bounded) {
            memory.copy(lower_->data(), lower, kind().array_bytes());
            memory.copy(upper_->data(), upper, kind().array_bytes());
        }
        pairs_.assign(keeps_pairs() ? each_.size() : 0, {});
        has_pairs_ = false;
        std::fill(tasks_.begin(), tasks_.end(), CUDA_OPT_EVALUATE_FG);
        return step();
    }

    int32_t advance(const Memory &memory, const void *f, const void *g) override {
        memory.copy(f_->data(), f, size(rows_) * sizeof(double));
        memory.copy(g_->data(), g, kind().array_bytes());
        if (!std::exchange(has_pairs_, true))
            for (std::size_t row = 0; row < pairs_.size(); row++)
                pairs_[row].begin(x_->data() + offset(row), g_->data() + offset(row), n_);
        return step();
    }

    void read_x(const Memory &memory, void *x) const override { memory.copy(x, x_->data(), kind().array_bytes()); }
    void read_g(const Memory &memory, void *g) const override { memory.copy(g, g_->data(), kind().array_bytes()); }

    std::vector<int32_t> info() const override {
        std::vector<int32_t> info(size(rows_ * info_size));
        constexpr int32_t keys[] = {CUDA_OPT_BATCH_CODE, CUDA_OPT_ITERATIONS, CUDA_OPT_EVALUATIONS, CUDA_OPT_STOP_TEST};
        for (std::size_t k = 0; k < info_size; k++) {
            const std::vector<int64_t> values = batch_ ? batch_->integers(keys[k]) : std::vector<int64_t>();
            for (std::size_t row = 0; row < size(rows_); row++)
                info[row * info_size + k] = batch_           ? static_cast<int32_t>(values[row])
                                            : k == info_task ? tasks_[row]
                                                             : static_cast<int32_t>(each_[row].get_int(keys[k]));
        }
        return info;
    }

    void read_pairs(const Memory &memory, void *to) const override {
        const std::size_t m = size(kind().kept_pairs), size_of_each = (2 * m + 1) * size(n_);
        std::vector<Real> rows(size(rows_) * size_of_each);
        for (std::size_t row = 0; row < size(rows_); row++) {
            Real *const first = rows.data() + row * size_of_each;
            if (row < pairs_.size()) pairs_[row].write(first, kind().kept_pairs);
            const bool knows_diagonal = !batch_ && each_[row].get_int(CUDA_OPT_EVALUATIONS) > 0;
            const std::vector<Real> diagonal =
                knows_diagonal ? each_[row].diagonal() : std::vector<Real>(size(n_), Real(1));
            std::copy(diagonal.begin(), diagonal.end(), first + 2 * m * size(n_));
        }
        memory.copy(to, rows.data(), rows.size() * sizeof(Real));
        memory.wait(); // `rows` must outlive the copy
    }

  private:
    static std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }
    std::size_t offset(std::size_t row) const { return row * size(n_); }
    bool keeps_pairs() const { return kind().kept_pairs > 0 && !kind().context; }
    template <class Action> void for_each_handle(const Action &action) {
        if (batch_) action(*batch_);
        for (Minimiser<Real> &solver : each_) action(solver);
    }

    // Calls the library until each problem waits for an evaluation or has ended. Returns how many wait.
    int32_t step() {
        if (batch_) return step_batch();
        int32_t waiting = 0;
        for (std::size_t row = 0; row < each_.size(); row++) {
            if (tasks_[row] <= 0) continue;
            Minimiser<Real> &solver = each_[row];
            Real *const x = x_->data() + offset(row), *const g = g_->data() + offset(row);
            while ((tasks_[row] = solver.solve(x, f_->data() + row, g)) == CUDA_OPT_NEW_ITERATE)
                if (!pairs_.empty()) pairs_[row].add(solver, x, g, kind().kept_pairs);
            refuse_failure(tasks_[row], solver);
            waiting += tasks_[row] > 0;
        }
        return waiting;
    }

    int32_t step_batch() {
        const int task = batch_->solve(*x_, *f_, *g_);
        refuse_failure(task, *batch_);
        return task > 0 ? static_cast<int32_t>(batch_->active()) : 0;
    }

    // Codes that do not describe the user's problem are errors of the program.
    static void refuse_failure(int task, const Handle &solver) {
        if (task == CUDA_OPT_MISUSE || task == CUDA_OPT_CUDA_FAILURE || task == CUDA_OPT_OUT_OF_MEMORY)
            throw Error(task, solver.message());
    }

    const int64_t rows_, n_;
    std::vector<Minimiser<Real>> each_;
    std::optional<Batch<Real>> batch_;
    std::optional<Array<Real>> x_, g_, lower_, upper_;
    std::optional<Array<double>> f_;
    std::vector<int32_t> tasks_;     // of each_
    std::vector<Pairs<Real>> pairs_; // of each_, if they are kept
    bool has_pairs_ = false;         // whether pairs_ have begun
};

} // namespace cudaopt::xla
