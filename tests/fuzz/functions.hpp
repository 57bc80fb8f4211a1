// Functions for the fuzzers: well-behaved ones and their gradients, and the mischief that a caller may do to both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"

namespace fuzz {

// f and g as a value: a copy continues as the original would.
class Function {
  public:
    // n variables, drawn from random. calm: without mischief.
    Function(Random &random, int64_t n, bool calm = false);
    double evaluate(const double *x, double *g);
    double evaluate(const float *x, float *g);
    // A point to start from, not always a good one.
    std::vector<double> start(Random &random) const;
    std::string words() const;
    int64_t size() const { return n_; }
    // Whether f and g are functions of x alone.
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

// Bounds of all kinds, some of which no solve accepts.
struct Box {
    std::vector<double> lower, upper; // empty: none on that side
    Box(Random &random, int64_t n, double largest);
    const char *words = "no bounds";
    bool sound = true; // else a bound is NaN or they cross
};

} // namespace fuzz
