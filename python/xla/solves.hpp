// The solves that run inside compiled XLA programs.
//
// XLA keeps the results of a call at the same address in all iterations of a loop, and leaves them unchanged there if
// the next call has them as its arguments. A solve therefore works on the program's arrays x, f and g, and it is an
// error if they have moved. The arrays of a solve of Python (Borrowed) receive x, f and g at the end.
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
    int32_t kept_pairs; // the largest number of correction pairs that pairs() returns; 0: none are kept
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

// One problem, or several with one row each.
class Solve {
  public:
    virtual ~Solve() = default;
    // One call of the program. Reads f (doubles) and g at x, and overwrites x with the next point to evaluate or, at
    // the end, x, f and g with those of the minimum. In the first call x is the start. x, g and the bounds have rows *
    // n elements. All arrays are in `memory`.
    void call(const Memory &memory, void *x, void *f, void *g, const void *lower, const void *upper) {
        if (!std::exchange(has_begun_, true)) {
            x_ = x, f_ = f, g_ = g;
            start(memory, lower, upper);
            if (!(waits_ = step())) return finish(memory);
        }
        if (x != x_ || f != f_ || g != g_)
            throw std::runtime_error("XLA has moved x, f or g between two calls of a solve");
        take();
        if (!(waits_ = step())) finish(memory);
    }
    // Returns whether no problem waits for an evaluation.
    bool has_ended() const { return has_begun_ && !waits_; }

    const int64_t rows, n;

  protected:
    Solve(int64_t rows, int64_t n) : rows(rows), n(n) {}
    // Before the first step of a solve.
    virtual void start(const Memory &memory, const void *lower, const void *upper) = 0;
    // Before each other step.
    virtual void take() = 0;
    // Calls the library until each problem waits for an evaluation or has ended. Returns whether one waits.
    virtual bool step() = 0;
    // After the last step of a solve.
    virtual void finish(const Memory &) {}
    bool has_begun_ = false;
    void *x_ = nullptr, *f_ = nullptr, *g_ = nullptr; // the program's arrays

  private:
    bool waits_ = false;
};

// Misuse, failures of CUDA and exhausted memory become errors of the program. All other codes are results.
inline bool is_failure(int task) {
    return task == CUDA_OPT_MISUSE || task == CUDA_OPT_CUDA_FAILURE || task == CUDA_OPT_OUT_OF_MEMORY;
}

// A solve with a handle of Python, and with Python's arrays for the result.
class Borrowed : public Solve {
  public:
    Borrowed(cuda_opt *handle, void *x, void *f, void *g, int64_t rows, int64_t n, bool single, bool is_batch)
        : Solve(rows, n), handle_(handle), x_to_(x), f_to_(f), g_to_(g), width_(single ? 4 : 8), is_batch_(is_batch) {}
    int task() const { return task_; }
    int64_t evaluations() const { return evaluations_; }
    void *stream() const { return stream_; }

  private:
    void start(const Memory &memory, const void *, const void *) override {
        stream_ = memory.stream();
        cudaopt::check(handle_, cuda_opt_set_stream(handle_, stream_));
    }
    void take() override { evaluations_++; }
    bool step() override {
        auto *const f = static_cast<double *>(f_);
        if (width_ == 4) {
            auto *const x = static_cast<float *>(x_), *const g = static_cast<float *>(g_);
            task_ = is_batch_ ? cuda_opt_batch_solve_f32(handle_, x, f, g) : cuda_opt_solve_f32(handle_, x, f, g);
        } else {
            auto *const x = static_cast<double *>(x_), *const g = static_cast<double *>(g_);
            task_ = is_batch_ ? cuda_opt_batch_solve(handle_, x, f, g) : cuda_opt_solve(handle_, x, f, g);
        }
        return task_ > 0;
    }
    void finish(const Memory &memory) override {
        const std::size_t bytes = static_cast<std::size_t>(rows * n) * width_;
        memory.copy(x_to_, x_, bytes);
        memory.copy(f_to_, f_, static_cast<std::size_t>(rows) * sizeof(double));
        memory.copy(g_to_, g_, bytes);
    }

    cuda_opt *const handle_;
    void *const x_to_, *const f_to_, *const g_to_, *stream_ = nullptr;
    const std::size_t width_; // of an element
    const bool is_batch_;
    int task_ = CUDA_OPT_EVALUATE_FG;
    int64_t evaluations_ = 0;
};

// A solve that works on the program's own arrays x, f and g.
class Owned : public Solve {
  public:
    explicit Owned(Kind kind) : Solve(kind.rows, kind.n), kind_(std::move(kind)) {}
    const Kind &kind() const { return kind_; }
    // Allows a further solve, once this one has ended.
    void renew() { has_begun_ = false; }
    // Returns info_size numbers for each problem, once all have ended.
    virtual std::vector<int32_t> info() const = 0;
    // Returns the bytes of 2k + 1 rows of n elements for each problem, with k = kept_pairs: the differences s of its
    // correction pairs, oldest first, the differences y, and the diagonal of the initial inverse Hessian. With fewer
    // than k pairs the first rows of s and of y are 0. For a batch no pairs are known, and the diagonal is 1. On CUDA
    // only the diagonal is known.
    virtual std::vector<char> pairs() const = 0;

  private:
    const Kind kind_;
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

template <class Real> class OwnedOf : public Owned {
  public:
    explicit OwnedOf(const Kind &kind) : Owned(kind), rows_(size(kind.rows)), n_(size(kind.n)), tasks_(rows_) {
        if (kind.as_batch) batch_.emplace(kind.n, kind.rows, kind.m, kind.backend());
        else
            for (std::size_t row = 0; row < rows_; row++) each_.emplace_back(kind.n, kind.m, kind.backend());
        for (Handle &solver : each_) solver.set_int(CUDA_OPT_TIMED, 0); // nothing reads the time
        for_each_handle([&](Handle &handle) {
            for (const auto &[key, value] : kind.integers) handle.set_int(key, value);
            // STPMAX is set before STPMIN, and must not be below it at any time.
            for (const auto &[key, value] : kind.reals)
                if (key == CUDA_OPT_STPMIN) handle.set_real(key, 0);
            for (const auto &[key, value] : kind.reals) handle.set_real(key, value);
            if (kind.bounded && !lower_) {
                lower_.emplace(handle, kind.rows * kind.n);
                upper_.emplace(handle, kind.rows * kind.n);
            }
        });
        if (kind.bounded && batch_) batch_->set_bounds_of_each(*lower_, *upper_);
        for (std::size_t row = 0; row < each_.size(); row++) {
            if (kind.bounded) each_[row].set_bounds(lower_->data() + row * n_, upper_->data() + row * n_);
            if (keeps_pairs()) each_[row].set_int(CUDA_OPT_REPORT_ITERATES, 1);
        }
    }

    std::vector<int32_t> info() const override {
        std::vector<int32_t> info(rows_ * info_size);
        constexpr int32_t keys[] = {CUDA_OPT_BATCH_CODE, CUDA_OPT_ITERATIONS, CUDA_OPT_EVALUATIONS, CUDA_OPT_STOP_TEST};
        for (std::size_t k = 0; k < info_size; k++) {
            const std::vector<int64_t> values = batch_ ? batch_->integers(keys[k]) : std::vector<int64_t>();
            for (std::size_t row = 0; row < rows_; row++)
                info[row * info_size + k] = batch_           ? static_cast<int32_t>(values[row])
                                            : k == info_task ? tasks_[row]
                                                             : static_cast<int32_t>(each_[row].get_int(keys[k]));
        }
        return info;
    }

    std::vector<char> pairs() const override {
        const std::size_t m = size(kind().kept_pairs), size_of_each = (2 * m + 1) * n_;
        std::vector<Real> rows(rows_ * size_of_each);
        for (std::size_t row = 0; row < rows_; row++) {
            Real *const first = rows.data() + row * size_of_each;
            if (row < pairs_.size()) pairs_[row].write(first, kind().kept_pairs);
            const bool knows_diagonal = !batch_ && each_[row].get_int(CUDA_OPT_EVALUATIONS) > 0;
            const std::vector<Real> diagonal = knows_diagonal ? each_[row].diagonal() : std::vector<Real>(n_, Real(1));
            std::copy(diagonal.begin(), diagonal.end(), first + 2 * m * n_);
        }
        const auto *const bytes = reinterpret_cast<const char *>(rows.data());
        return {bytes, bytes + rows.size() * sizeof(Real)};
    }

  private:
    static std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }
    Real *x(std::size_t row) const { return static_cast<Real *>(x_) + row * n_; }
    Real *g(std::size_t row) const { return static_cast<Real *>(g_) + row * n_; }
    double *f(std::size_t row) const { return static_cast<double *>(f_) + row; }
    bool keeps_pairs() const { return kind().kept_pairs > 0 && !kind().context; }
    template <class Action> void for_each_handle(const Action &action) {
        if (batch_) action(*batch_);
        for (Minimiser<Real> &solver : each_) action(solver);
    }

    void start(const Memory &memory, const void *lower, const void *upper) override {
        for_each_handle([&](Handle &handle) {
            handle.reset();
            handle.set_stream(memory.stream());
        });
        if (kind().bounded) {
            memory.copy(lower_->data(), lower, kind().array_bytes());
            memory.copy(upper_->data(), upper, kind().array_bytes());
        }
        pairs_.assign(keeps_pairs() ? each_.size() : 0, {});
        has_pairs_ = false;
        std::fill(tasks_.begin(), tasks_.end(), CUDA_OPT_EVALUATE_FG);
    }

    void take() override {
        if (std::exchange(has_pairs_, true)) return;
        for (std::size_t row = 0; row < pairs_.size(); row++) pairs_[row].begin(this->x(row), this->g(row), kind().n);
    }

    bool step() override {
        if (batch_) {
            const int task = batch_->solve(x(0), f(0), g(0));
            refuse_failure(task, *batch_);
            return task > 0;
        }
        bool waits = false;
        for (std::size_t row = 0; row < each_.size(); row++) {
            if (tasks_[row] <= 0) continue;
            Minimiser<Real> &solver = each_[row];
            while ((tasks_[row] = solver.solve(x(row), f(row), g(row))) == CUDA_OPT_NEW_ITERATE)
                if (!pairs_.empty()) pairs_[row].add(solver, x(row), g(row), kind().kept_pairs);
            refuse_failure(tasks_[row], solver);
            waits = waits || tasks_[row] > 0;
        }
        return waits;
    }

    static void refuse_failure(int task, const Handle &solver) {
        if (is_failure(task)) throw Error(task, solver.message());
    }

    const std::size_t rows_, n_;
    std::vector<Minimiser<Real>> each_;
    std::optional<Batch<Real>> batch_;
    std::optional<Array<Real>> lower_, upper_;
    std::vector<int32_t> tasks_;     // of each_
    std::vector<Pairs<Real>> pairs_; // of each_, if they are kept
    bool has_pairs_ = false;         // whether pairs_ have begun
};

} // namespace cudaopt::xla
