// The model and its minimisers by the formulas of the papers: dense, in extended precision, segment by segment.
#pragma once

#include <cstdint>
#include <vector>

namespace reference {

using Number = long double;
using Vector = std::vector<Number>;

class Matrix { // by rows
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
// Gaussian elimination with partial pivoting.
Vector solve(Matrix a, Vector b);

// Of E^-1 A E^-1 with E = diag(scale): how far rounding can be magnified, whatever the units.
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
// sqrt of the sizes of M^-1's diagonal.
Vector middle_scale(const Pairs &pairs, Number theta);
// K = M^-1 - W_F'W_F / theta (eq. 5.11).
Matrix subspace_matrix(const Pairs &pairs, Number theta, const std::vector<bool> &free);
// B = theta I - W M W' (Byrd, Nocedal, Schnabel 1994, eq. 3.5).
Matrix compact_hessian(const Pairs &pairs, Number theta, int n);
// The same by BFGS updates of theta I.
Matrix recursive_hessian(const Pairs &pairs, Number theta, int n);

// The projected path of steepest descent. Breakpoints are as a machine has them, for their order decides.
struct Path {
    Vector g;
    std::vector<double> breakpoints; // 0: held
    Vector way;                      // to the bound
};

struct CauchyPoint {
    Vector z;               // x_c - x
    Number t = 0;           // where the path has its first local minimiser
    Number t_first = 0;     // the segment's minimiser before the first breakpoint, or that breakpoint
    double threshold = 0;   // the last breakpoint passed
    std::vector<bool> free; // breakpoint > threshold
    int64_t free_variables = 0, passed = 0, segments = 1;
    int64_t moving_at_start = 0, moving = 0; // those whose d is not 0
    // How far a relative error of 1 in slopes and curvatures would move t; and the least distance of a decision from
    // its reverse, in such units.
    Number uncertainty = 0, margin = 1;
};

// Algorithm CP with phi' = g'd + d'B z and phi'' = d'B d. One segment alone: stop at the first breakpoint. Beyond:
// pass the breakpoints up to there whatever the slopes are, for local minimisers that are not the first.
CauchyPoint cauchy_point(const Matrix &hessian, Number theta, const Path &path, bool one_segment, double beyond = 0);

// x_c - x + d_u on the free variables by the dense reduced system, x_c - x on the others.
Vector subspace_minimiser(const Matrix &hessian, const Vector &g, const CauchyPoint &point);

} // namespace reference
