// The model and its minimisers, computed from the formulas of the papers with dense matrices in extended precision. The
// Cauchy search visits each segment of the path.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

using Number = long double;
using Vector = std::vector<Number>;

constexpr double infinity = std::numeric_limits<double>::infinity();

class Matrix { // stored by rows
  public:
    Matrix(int rows, int columns) : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows) * columns) {}
    int rows() const { return rows_; }
    int columns() const { return columns_; }
    Number &operator()(int i, int j) { return values_[static_cast<std::size_t>(i) * columns_ + j]; }
    Number operator()(int i, int j) const { return values_[static_cast<std::size_t>(i) * columns_ + j]; }

  private:
    int rows_, columns_;
    Vector values_;
};

Number dot(const Vector &a, const Vector &b);
Number norm(const Vector &a);
Vector operator*(const Matrix &a, const Vector &b);
// Solves a x = b by Gaussian elimination with partial pivoting.
Vector solve(Matrix a, Vector b);

// The condition of E^-1 A E^-1 with E = diag(scale). The scaling makes it independent of the units of the variables.
struct Conditioning {
    Number condition, inverse_norm; // in the maximum norm
};
Conditioning conditioning(const Matrix &a, const Vector &scale);

struct Pair {
    Vector s, y;
};
using Pairs = std::vector<Pair>; // oldest first

// y'y / s'y of the newest pair (Byrd, Lu, Nocedal, Zhu 1995, eq. 3.10).
Number scale_of(const Pairs &pairs);
// W = [Y, theta S] and M^-1 = [-D, L'; L, theta S'S] (eqs. 3.3 and 3.4).
Matrix basis(const Pairs &pairs, Number theta, int n);
Matrix inverse_middle(const Pairs &pairs, Number theta);
// The square roots of the absolute values of the diagonal of M^-1.
Vector middle_scale(const Pairs &pairs, Number theta);
// K = M^-1 - W_F'W_F / theta (eq. 5.11).
Matrix subspace_matrix(const Pairs &pairs, Number theta, const std::vector<bool> &free);
// B = theta I - W M W' (Byrd, Nocedal, Schnabel 1994, eq. 3.5).
Matrix compact_hessian(const Pairs &pairs, Number theta, int n);
// The same matrix, formed by BFGS updates of theta I.
Matrix recursive_hessian(const Pairs &pairs, Number theta, int n);

// The projected gradient path. The breakpoints are rounded like those of a machine, because their order depends on
// rounding.
struct Path {
    Vector g;
    std::vector<double> breakpoints; // 0 if the variable is active
    Vector way;                      // displacement to the bound
};

struct CauchyPoint {
    Vector z;               // x_c - x
    Number t = 0;           // path parameter of the first local minimiser
    Number t_first = 0;     // the minimiser of the first segment, at most the first breakpoint
    double threshold = 0;   // the last breakpoint that was crossed
    std::vector<bool> free; // breakpoint > threshold
    int64_t free_variables = 0, passed = 0, segments = 1;
    int64_t moving_at_start = 0, moving = 0; // number of variables whose d is not 0
    // uncertainty is the change of t by a relative error of 1 in slopes and curvatures. margin is the smallest relative
    // error in them that reverses a decision of the search.
    Number uncertainty = 0, margin = 1;
};

// Algorithm CP of Byrd, Lu, Nocedal and Zhu (1995) with phi' = g'd + d'B z and phi'' = d'B d. If one_segment is set,
// the search stops at the first breakpoint. All breakpoints up to `beyond` are crossed without regard to the slopes,
// which gives local minimisers other than the first.
CauchyPoint cauchy_point(const Matrix &hessian, Number theta, const Path &path, bool one_segment, double beyond = 0);

// Returns x_c - x + d_u on the free variables, where d_u is the solution of the dense reduced system, and x_c - x on
// the other variables.
Vector subspace_minimiser(const Matrix &hessian, const Vector &g, const CauchyPoint &point);

} // namespace reference
