// Functions for the fuzzers: regular functions with their gradients, and errors that a caller may introduce into both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"

namespace fuzz {

// A copy of a Function continues as the original would.
class Function {
  public:
    // Draws a function of n variables from random. calm: without errors
    Function(Random &random, int64_t n, bool calm = false);
    double evaluate(const double *x, double *g);
    double evaluate(const float *x, float *g);
    // Returns a start, which is not always valid.
    std::vector<double> start(Random &random) const;
    std::string words() const;
    int64_t size() const { return n_; }
    // Returns whether f and g are functions of x alone.
    bool honest() const { return mischief_ == none; }

  private:
    enum Shape { quadratic, indefinite, rosenbrock, exponentials, linear, kinks, constant, barrier, waves, quartic };
    enum Mischief { none, at_one_trial, now_and_then, noise, unrelated };

    double shape(const std::vector<double> &x, std::vector<double> &g) const;
    void spoil(double &f, std::vector<double> &g);

    int64_t n_;
    Shape shape_;
    Mischief mischief_;
    Random random_;
    std::vector<double> place_, weight_, x_, g_;
    double scale_ = 1, noise_ = 0;
    int64_t evaluations_ = 0, trial_ = 0;
    int prank_ = 0;
};

// Bounds of all kinds, including invalid ones.
struct Box {
    std::vector<double> lower, upper; // empty: no bounds on that side
    Box(Random &random, int64_t n, double largest);
    const char *words = "no bounds";
    bool sound = true; // otherwise a bound is NaN or l > u
};

} // namespace fuzz
