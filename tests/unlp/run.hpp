// Runs solves through the manual's interface on either backend, with a function that is evaluated on the host. Both
// forms are available: the function is called back, or the solve uses reverse communication.
#pragma once

#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "../support/harness.hpp"
#include "cuda_opt_unlp.h"

namespace cudaopt_test {

// A value of istate that the library never returns.
constexpr int untouched = 4711;

// An int in the memory space of the handle.
template <class Configuration> class State {
  public:
    explicit State(int value = 0) : handle_(1, 1), memory_(handle_, 1) { *this = value; }
    State &operator=(int value) {
        memory_.write({static_cast<double>(value)});
        return *this;
    }
    operator int() const { return static_cast<int>(memory_.read()[0]); }
    int *data() { return memory_.data(); }

  private:
    Handle<Configuration> handle_;
    Array<int> memory_;
};

// A solve by cuda_opt.h with the convergence test of the manual, independent of the library's defaults.
template <class Configuration> class ManualHarness : public Harness<Configuration> {
  public:
    ManualHarness(const Problem &problem, int m) : Harness<Configuration>(problem, m) {
        this->set_real(CUDA_OPT_EPS, 1e-5).set_real(CUDA_OPT_PGTOL, 0).set_real(CUDA_OPT_FACTR, 0);
    }
};

template <class Configuration> class Run {
  public:
    using Diagonal = std::function<void(const Vector &x, Vector &diagonal)>;

    explicit Run(Problem problem)
        : problem_(std::move(problem)), memory_(1, 1), x_(memory_, problem_.size()), f_(memory_, 1),
          g_(memory_, problem_.size()), hess_(memory_, problem_.size()) {
        x_.write(problem_.start);
    }

    int n() const { return static_cast<int>(problem_.size()); }
    Vector x() const { return x_.read(); }
    double f() const { return f_.read()[0]; }
    Vector g() const { return g_.read(); }
    int evaluations() const { return evaluations_; }
    int diagonals() const { return diagonals_; }
    const cudaopt::Handle &memory() const { return memory_; }
    double *dev_x() { return x_.data(); }

    bool manual = false; // whether the form with the manual's order of arguments is used
    double *workvec = nullptr;
    double eps = 1e-5;
    State<Configuration> istate;
    std::function<void()> at_evaluation = [] {};
    Diagonal diagonal;

    // Solves with callbacks to the function and returns the code.
    int called_back(int m = 5) {
        Run *const outer = current_;
        if (diagonal) fill_diagonal();
        current_ = this;
        const int code = step(m, evaluate_current);
        current_ = outer;
        return code;
    }
    // Executes one step by reverse communication and then evaluates what the step requests.
    int reversed_step(int m = 5) {
        const int code = step(m, nullptr);
        if (code == 1) evaluate();
        if (code == 2) fill_diagonal();
        return code;
    }
    int reversed(int m = 5) {
        int code;
        while ((code = reversed_step(m)) > 0) {
        }
        return code;
    }
    void evaluate_all() {
        evaluate();
        if (diagonal) fill_diagonal();
    }
    int step(int m, cuda_opt_unlp_function eval_fg) {
        if (manual)
            return cuda_opt_unlp_manual_solve(n(), m, eval_fg ? evaluate_current_manual : nullptr, x_.data(), f_.data(),
                                              g_.data(), hess_.data(), workvec, eps, istate.data());
        return cuda_opt_unlp_solve(n(), m, eval_fg, x_.data(), f_.data(), g_.data(), hess_.data(), workvec, eps,
                                   istate.data());
    }

  private:
    static void evaluate_current(int n, double *x, double *f, double *g) {
        Run &run = *current_;
        if (n != run.n() || x != run.x_.data() || f != run.f_.data() || g != run.g_.data())
            throw std::runtime_error("the function receives other arguments than the solve");
        run.evaluate_all();
        run.at_evaluation();
    }
    static void evaluate_current_manual(double *x, double *f, double *g, int n) { evaluate_current(n, x, f, g); }
    void evaluate() {
        evaluations_++;
        Vector g(problem_.start.size());
        f_.write({problem_.evaluate(x_.read(), g)});
        g_.write(g);
    }
    void fill_diagonal() {
        diagonals_++;
        Vector values(problem_.start.size());
        diagonal(x_.read(), values);
        hess_.write(values);
    }

    static thread_local Run *current_;

    Problem problem_;
    Handle<Configuration> memory_;
    Array<double> x_, f_, g_, hess_;
    int evaluations_ = 0, diagonals_ = 0;
};

template <class Configuration> thread_local Run<Configuration> *Run<Configuration>::current_ = nullptr;

// Returns the lines that an action prints on standard output.
template <class Action> std::vector<std::string> printed(const Action &action) {
    std::FILE *const file = std::tmpfile();
    if (!file) throw std::runtime_error("no temporary file");
    std::fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    action();
    std::fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    std::rewind(file);
    std::vector<std::string> lines(1);
    for (int c; (c = std::fgetc(file)) != EOF;)
        if (c == '\n') lines.emplace_back();
        else lines.back() += static_cast<char>(c);
    std::fclose(file);
    lines.pop_back();
    return lines;
}

inline bool has_line(const std::vector<std::string> &lines, const std::string &beginning) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string &line) { return line.compare(0, beginning.size(), beginning) == 0; });
}

// Restores the default settings of the thread at the beginning and the end of a test.
struct Defaults {
    Defaults() { cuda_opt_unlp_default_settings(); }
    ~Defaults() { cuda_opt_unlp_default_settings(); }
};

} // namespace cudaopt_test
