// The verbs of a machine, row by row and sum by sum in extended precision: what lib/sweeps/sweeps.hpp says, as text.
#pragma once

#include <limits>

#include "dense.hpp"
#include "lbfgsb/requests.hpp"

namespace reference {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The inner products of a sweep and the sums of their terms' sizes, which rounding errors are relative to.
struct Products {
    cudaopt::PanelProducts sums;
    std::vector<double> leading_products, free_gram, leading_sizes, free_gram_sizes, older_steps, older_sizes;
};

struct Window {
    std::vector<cudaopt::CrossedVariable> rows;
    std::vector<std::vector<double>> entries; // of the rows
    cudaopt::CrossedWindow answer(int64_t capacity = cudaopt::crossed_capacity) const {
        const auto count = static_cast<int64_t>(rows.size());
        if (count > capacity) return {nullptr, cudaopt::crossed_capacity + count - capacity};
        return {rows.data(), count};
    }
};

// A direction's rows as they are stored, and what a relative rounding error of 1 would do to each.
struct Trial {
    std::vector<double> d, x, sizes;
    std::vector<bool> at_bound; // whether P(x + d) is a bound
    Number slope = 0, d_squared = 0, slope_size = 0;
    int64_t projected = 0;
};

struct Share {
    Number alpha, uncertainty;
};

// Numbers of so many bits: double, float or bfloat16.
struct Precision {
    explicit Precision(int bits);
    double stored(Number v) const;              // the nearest, of two the even one
    double next_away_from_zero(double v) const; // of float and bfloat16

    int bits, digits; // digits: of the significand
    double epsilon, largest;

  private:
    Number unit_of(Number v) const;
};

class Machine {
  public:
    // bits: of the caller's vectors, and of the pairs' columns
    Machine(int64_t n, int m, int bits, int history_bits);

    Precision caller, history;
    // What the caller's precision makes of a number.
    double stored(Number v) const { return caller.stored(v); }
    double epsilon() const { return caller.epsilon; }
    double largest() const { return caller.largest; }
    // Whether the columns have fewer bits than the caller's vectors: the gradient at x_base then has a vector of its
    // own.
    bool apart() const { return history.bits != caller.bits; }

    int64_t n;
    int m;
    std::vector<double> x, g, lower, upper, diagonal; // bounds and diagonal: none if empty
    std::vector<std::vector<double>> s, y;            // slots; y of a fresh pair is the gradient at x_base still
    std::vector<double> x_base;
    double f = 0;
    bool uniform = false; // a side whose bounds are all the same is given to a backend as one number

    double lower_of(int64_t i) const { return lower.empty() ? -infinity : lower[i]; }
    double upper_of(int64_t i) const { return upper.empty() ? infinity : upper[i]; }
    bool is_active(int64_t i) const;
    double weight(const cudaopt::PanelRequest &panel, int64_t i) const { return panel.weighted ? diagonal[i] : 1; }
    // As a machine has it, in double: its order decides.
    double breakpoint(const cudaopt::PanelRequest &panel, int64_t i) const;
    Number projected_gradient(int64_t i) const; // x - P(x - g)
    int slot(const cudaopt::PanelRequest &panel, int age) const { return (panel.newest_slot + m + 1 - age) % (m + 1); }
    // A panel column, weights and the fresh pair's y included.
    Vector column(const cudaopt::PanelRequest &panel, int j) const;
    // What the columns of a panel are to the model, g and the breakpoints.
    Pairs pairs(const cudaopt::PanelRequest &panel, const std::vector<double> &steps) const;
    Path path(const cudaopt::PanelRequest &panel) const;

    cudaopt::StartReport start();
    Products inner_products(const cudaopt::PanelRequest &panel) const;
    // The update of the diagonal, which is that of H_0.
    void learn(const cudaopt::DiagonalUpdate &update);
    Window crossed(const cudaopt::PanelRequest &panel, double lo, double hi) const;
    Vector move(const cudaopt::DirectionRequest &request, Vector *sizes) const; // a g + w'q
    Trial direction(const cudaopt::DirectionRequest &request) const;
    Share truncation(const cudaopt::DirectionRequest &request) const;
    double stepped(double x, double d, double step, int64_t i) const;
    double largest_step(int slot) const;

  private:
    double direction_of(int64_t i, Number to) const;
};

} // namespace reference
