// The harness runs the reverse communication loop for a function that is evaluated on the host. It works with both
// backends and both precisions, so that one test body serves all four. It throws instead of asserting, so that it can
// also be used in threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "configurations.hpp"
#include "cuda_opt.hpp"
#include "problems.hpp"
#include "stopping.hpp"

namespace cudaopt_test {

// An iterate as the library reports it.
struct Iterate {
    int64_t iteration, evaluations;
    double f, pg_norm2, pg_norm_inf, step;
};

struct Outcome {
    int task;
    std::string message;
    Vector x, g;
    double f;
    int64_t iterations, evaluations;
    int64_t outside;              // number of components outside the box or not finite, over all evaluations
    std::vector<Iterate> history; // the iterates after the start
};

using Checkpoint = std::vector<unsigned char>;

// Memory in the memory space of a handle. The tests read and write it as doubles.
template <class T> class Array {
  public:
    Array(const cudaopt::Handle &handle, int64_t size) : memory_(handle, size) {}

    T *data() { return memory_.data(); }
    void write(const Vector &values) {
        const std::vector<T> converted(values.begin(), values.end());
        memory_.write(0, converted.data(), static_cast<int64_t>(converted.size()));
    }
    Vector read() const {
        const std::vector<T> values = memory_.to_host();
        return Vector(values.begin(), values.end());
    }

  private:
    cudaopt::Array<T> memory_;
};

template <class Configuration> class Handle : public cudaopt::Minimiser<typename Configuration::Real> {
  public:
    Handle(int64_t n, int m) : cudaopt::Minimiser<typename Configuration::Real>(n, m, Configuration::backend) {
        this->set_int(CUDA_OPT_HISTORY_BITS, Configuration::history_bits);
    }
};

template <class Configuration> class Harness {
  public:
    using Real = typename Configuration::Real;
    using Diagonal = std::function<void(const Vector &x, const Vector &g, Vector &diagonal)>;
    // Sets out = H0 v. is_free: 1 or 0 for each variable.
    using Operator = std::function<void(const Vector &v, const Vector &is_free, Vector &out)>;
    using Evaluation = std::function<void(const Real *x, double *f, Real *g)>;

    Harness(Problem problem, int m)
        : problem_(std::move(problem)), lower_(rounded(problem_.lower)), upper_(rounded(problem_.upper)),
          handle_(problem_.size(), m), x_(handle_, n()), g_(handle_, n()), f_(handle_, 1), lower_memory_(handle_, n()),
          upper_memory_(handle_, n()), diagonal_memory_(handle_, n()) {
        set_int(CUDA_OPT_REPORT_ITERATES, 1);
        stop_by_eps(handle_);
        if (!lower_.empty()) lower_memory_.write(lower_);
        if (!upper_.empty()) upper_memory_.write(upper_);
        if (!lower_.empty() || !upper_.empty())
            handle_.set_bounds(lower_.empty() ? nullptr : lower_memory_.data(),
                               upper_.empty() ? nullptr : upper_memory_.data());
        x_.write(problem_.start);
    }

    cuda_opt *handle() { return handle_; }
    int64_t n() const { return problem_.size(); }

    Harness &set_int(int32_t key, int64_t value) {
        handle_.set_int(key, value);
        return *this;
    }
    Harness &set_real(int32_t key, double value) {
        handle_.set_real(key, value);
        return *this;
    }
    int64_t get_int(int32_t key) const { return handle_.get_int(key); }
    double get_real(int32_t key) const { return handle_.get_real(key); }
    // Evaluates f and g by this function on the handle's own arrays, in its memory space, instead of by the problem's
    // function on the host.
    Harness &with_evaluation(Evaluation evaluation) {
        evaluate_in_place_ = std::move(evaluation);
        return *this;
    }
    // Supplies a diagonal by this function and sets CUDA_OPT_DIAGCO.
    Harness &with_diagonal(Diagonal diagonal) {
        diagonal_ = std::move(diagonal);
        handle_.set_diagonal(diagonal_memory_.data());
        return set_int(CUDA_OPT_DIAGCO, 1);
    }
    // Selects an operator as initial Hessian.
    Harness &with_operator(Operator apply) {
        operator_ = std::move(apply);
        for (std::unique_ptr<Array<Real>> &memory : operator_memory_)
            memory = std::make_unique<Array<Real>>(handle_, n());
        handle_.set_operator(operator_memory_[0]->data(), operator_memory_[1]->data(), operator_memory_[2]->data());
        return set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR);
    }
    // Copies the diagonal from another harness.
    void share_diagonal(const Harness &other) {
        if (other.diagonal_) diagonal_memory_.write(other.diagonal_memory_.read());
    }
    // Overwrites the array that the library uses.
    void write_g(const Vector &g) { g_.write(g); }
    void write_x(const Vector &x) { x_.write(x); }
    int64_t diagonals_asked_for() const { return diagonals_asked_for_; }
    bool diagonal_kept() const { return diagonal_kept_; }

    // Calls the solver once and does what it requests. Returns the task.
    int step() {
        call();
        work();
        return task_;
    }
    int call() {
        if (++calls_ > most_calls) throw std::runtime_error("the solve has not ended after 100,000 calls");
        return task_ = handle_.solve(x_.data(), f_.data(), g_.data());
    }
    void work() {
        if (task_ == CUDA_OPT_EVALUATE_FG) evaluate();
        if (task_ == CUDA_OPT_SUPPLY_DIAGONAL) supply_diagonal();
        if (task_ == CUDA_OPT_APPLY_OPERATOR) apply_operator();
        if (task_ == CUDA_OPT_NEW_ITERATE) record();
    }
    Outcome run() {
        while (step() > 0) {
        }
        return outcome();
    }
    // Returns the present state. It may be called after any call.
    Outcome outcome() {
        return {task_,
                handle_.message(),
                x_.read(),
                g_.read(),
                f_.read()[0],
                get_int(CUDA_OPT_ITERATIONS),
                get_int(CUDA_OPT_EVALUATIONS),
                outside_,
                history_};
    }
    Checkpoint save() const { return handle_.save(); }
    // Replaces the first call.
    void load(const Checkpoint &checkpoint) { handle_.load(checkpoint, x_.data(), f_.data(), g_.data()); }
    // Resets the solve to the start of the problem. The settings do not change.
    void restart() {
        handle_.reset();
        x_.write(problem_.start);
        history_.clear();
        outside_ = calls_ = diagonals_asked_for_ = 0;
    }
    // Starts a new solve at the present x with the correction pairs of the last one.
    void warm_start() {
        handle_.warm_start();
        history_.clear();
    }

  private:
    static constexpr int64_t most_calls = 100000;

    static Vector rounded(const Vector &values) {
        const std::vector<Real> real(values.begin(), values.end());
        return Vector(real.begin(), real.end());
    }

    void evaluate() {
        const Vector x = x_.read();
        for (std::size_t i = 0; i < x.size(); i++) {
            const bool inside =
                std::isfinite(x[i]) && (lower_.empty() || lower_[i] <= x[i]) && (upper_.empty() || x[i] <= upper_[i]);
            outside_ += !inside;
        }
        if (evaluate_in_place_) return evaluate_in_place_(x_.data(), f_.data(), g_.data());
        Vector g(x.size());
        f_.write({problem_.evaluate(x, g)});
        g_.write(g);
    }
    void supply_diagonal() {
        const Vector before = rounded(diagonal_values_);
        if (diagonals_asked_for_++ > 0 && diagonal_memory_.read() != before) diagonal_kept_ = false;
        diagonal_values_.resize(problem_.start.size());
        diagonal_(x_.read(), g_.read(), diagonal_values_);
        diagonal_memory_.write(diagonal_values_);
    }
    void apply_operator() {
        Vector out(problem_.start.size());
        operator_(operator_memory_[0]->read(), operator_memory_[2]->read(), out);
        operator_memory_[1]->write(out);
    }
    void record() {
        history_.push_back({get_int(CUDA_OPT_ITERATIONS), get_int(CUDA_OPT_EVALUATIONS), get_real(CUDA_OPT_F),
                            get_real(CUDA_OPT_PG_NORM2), get_real(CUDA_OPT_PG_NORM_INF), get_real(CUDA_OPT_STEP)});
    }

    Problem problem_;
    Vector lower_, upper_; // rounded to the precision of the library
    Handle<Configuration> handle_;
    Array<Real> x_, g_;
    Array<double> f_;
    Array<Real> lower_memory_, upper_memory_, diagonal_memory_;
    Evaluation evaluate_in_place_;
    Diagonal diagonal_;
    Operator operator_;
    std::unique_ptr<Array<Real>> operator_memory_[3]; // v, H0 v, the mask
    Vector diagonal_values_;
    bool diagonal_kept_ = true;
    int task_ = 0;
    int64_t calls_ = 0, outside_ = 0, diagonals_asked_for_ = 0;
    std::vector<Iterate> history_;
};

// Checks the guarantees that the header gives for every end of a solve: x is in the box at every evaluation, and f and
// g are those of the best iterate. After an end by EPS or PGTOL they are those of the iterate that satisfies the test.
// Its f may then exceed the lowest one by rounding errors.
template <class Configuration> void check_promises(const Problem &problem, const Outcome &outcome) {
    using Real = typename Configuration::Real;
    CHECK(outcome.outside == 0);
    Vector g(outcome.x.size());
    const double f = problem.evaluate(outcome.x, g);
    CHECK(outcome.f == f);
    const std::vector<Real> rounded(g.begin(), g.end());
    CHECK(std::equal(rounded.begin(), rounded.end(), outcome.g.begin()));
    const auto says = [&](const char *words) { return outcome.message.find(words) != std::string::npos; };
    const double errors = says("at or below pgtol") || says("is below eps *") ? 2.3e-11 * std::fabs(f) : 0;
    for (const Iterate &iterate : outcome.history)
        if (!(outcome.f <= iterate.f + errors))
            FAIL_CHECK("f = " << iterate.f << " was lower than the final " << outcome.f);
}

// Returns how many iterates of two solves whose starts differ by rounding errors have the same f, to 1e-10, and the
// same number of evaluations. Rounding errors decide what follows.
inline std::size_t certain_iterates(const Outcome &one, const Outcome &moved) {
    std::size_t k = 0;
    while (k < std::min(one.history.size(), moved.history.size()) &&
           std::fabs(one.history[k].f - moved.history[k].f) <= 1e-10 * std::fabs(one.history[k].f) &&
           one.history[k].evaluations == moved.history[k].evaluations)
        k++;
    return k;
}

// Compares the iterates of a solve with those of another as far as these are certain, and at most this number.
inline void check_same_iterates(const Outcome &ours, const Outcome &other, const Outcome &other_moved, double tolerance,
                                std::size_t most) {
    const std::size_t certain = std::min(certain_iterates(other, other_moved), most);
    REQUIRE(ours.history.size() >= certain);
    for (std::size_t k = 0; k < certain; k++) {
        INFO("iteration " << k + 1 << " of " << certain);
        CHECK(std::fabs(ours.history[k].f - other.history[k].f) <= tolerance * std::fabs(other.history[k].f));
        CHECK(ours.history[k].evaluations == other.history[k].evaluations);
    }
}

// Runs a solve and checks these guarantees.
template <class Configuration> Outcome solve(const Problem &problem, int m = 5) {
    Harness<Configuration> harness(problem, m);
    const Outcome outcome = harness.run();
    check_promises<Configuration>(problem, outcome);
    return outcome;
}

} // namespace cudaopt_test
