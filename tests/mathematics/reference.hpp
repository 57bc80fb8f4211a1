// A reference for the sweeps that lib/sweeps/sweeps.hpp declares. It computes each variable and each sum separately, in
// extended precision.
#pragma once

#include "dense.hpp"
#include "lbfgsb/requests.hpp"

namespace reference {

// The inner products of a sweep and the sums of the absolute values of their terms, to which rounding errors are
// relative.
struct Products {
    cudaopt::PanelProducts sums;
    std::vector<double> leading_products, free_gram, leading_sizes, free_gram_sizes, older_steps, older_sizes;
};

struct Window {
    std::vector<cudaopt::CrossedVariable> rows;
    std::vector<std::vector<double>> entries; // the panel's entries of each variable
    cudaopt::CrossedWindow answer(int64_t capacity = cudaopt::crossed_capacity) const {
        const auto count = static_cast<int64_t>(rows.size());
        if (count > capacity) return {nullptr, cudaopt::crossed_capacity + count - capacity};
        return {rows.data(), count};
    }
};

// The components of a direction as they are stored, and the change of each by a relative rounding error of 1.
struct Trial {
    std::vector<double> d, x, sizes;
    std::vector<bool> at_bound; // whether P(x + d) is a bound
    Number slope = 0, d_squared = 0, slope_size = 0;
    int64_t projected = 0;
};

struct Share {
    Number alpha, uncertainty;
};

// A floating-point format with this number of bits: double, float or bfloat16.
struct Precision {
    explicit Precision(int bits);
    double stored(Number v) const;              // rounds to the nearest number, ties to even
    double next_away_from_zero(double v) const; // only for float and bfloat16

    int bits, digits; // digits: of the significand
    double epsilon, largest;

  private:
    Number unit_of(Number v) const;
};

class Machine {
  public:
    // The numbers of bits are those of the caller's vectors and of the columns of the history.
    Machine(int64_t n, int m, int bits, int history_bits);

    Precision caller, history;
    // Rounds a number to the caller's precision.
    double stored(Number v) const { return caller.stored(v); }
    double epsilon() const { return caller.epsilon; }
    double largest() const { return caller.largest; }
    // Returns whether the columns have fewer bits than the caller's vectors. The gradient at x_base then has its own
    // vector.
    bool apart() const { return history.bits != caller.bits; }

    int64_t n;
    int m;
    std::vector<double> x, g, lower, upper, diagonal; // bounds and diagonal are empty if there are none
    std::vector<std::vector<double>> s, y;            // by slot; y of a fresh pair is still the gradient at x_base
    std::vector<double> x_base;
    double f = 0;
    bool uniform = false; // if all lower or all upper bounds are equal, the backend gets them as one number

    double lower_of(int64_t i) const { return lower.empty() ? -infinity : lower[i]; }
    double upper_of(int64_t i) const { return upper.empty() ? infinity : upper[i]; }
    bool is_active(int64_t i) const;
    double weight(const cudaopt::PanelRequest &panel, int64_t i) const { return panel.weighted ? diagonal[i] : 1; }
    // Computed in double precision like that of a backend, because the order of the breakpoints depends on rounding.
    double breakpoint(const cudaopt::PanelRequest &panel, int64_t i) const;
    Number projected_gradient(int64_t i) const; // x - P(x - g)
    int slot(const cudaopt::PanelRequest &panel, int age) const { return (panel.newest_slot + m + 1 - age) % (m + 1); }
    // Returns a column of the panel, with its weights. y of the fresh pair is formed.
    Vector column(const cudaopt::PanelRequest &panel, int j) const;
    // Return the correction pairs of a panel, and its projected gradient path.
    Pairs pairs(const cudaopt::PanelRequest &panel, const std::vector<double> &steps) const;
    Path path(const cudaopt::PanelRequest &panel) const;

    cudaopt::StartReport start();
    Products inner_products(const cudaopt::PanelRequest &panel) const;
    // Updates the diagonal of H_0 by the pairs of the request.
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
