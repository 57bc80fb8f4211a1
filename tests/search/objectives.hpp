// Objectives of +, -, *, / and fma alone, so that host and CUDA have to agree to the last bit; some of them twice, by
// full evaluation and by what a change of one coordinate changes.
#pragma once

#include <cmath>
#include <limits>

#include "cuda_opt/search.cuh"

namespace search_test {

// sum (j + 1) (x_j - 1/3)^2, with a valley of its own for each coordinate.
struct Bowl {
    CUDA_OPT_SEARCH_HD static double term(double x_j, int j) { return (j + 1) * ((x_j - 1 / 3.0) * (x_j - 1 / 3.0)); }
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += term(x[j], j);
        return sum;
    }
};

struct BowlBySums : Bowl {
    static constexpr int sums = 1;
    CUDA_OPT_SEARCH_HD void terms(int j, double x_j, int, double (&t)[1]) const { t[0] = term(x_j, j); }
    CUDA_OPT_SEARCH_HD double combine(const double (&sum)[1], int) const { return sum[0]; }
};

// The chain 100 (x_{j+1} - x_j^2)^2 + (1 - x_j)^2.
struct Rosenbrock {
    template <class Point> CUDA_OPT_SEARCH_HD static double link(const Point &x, int j, int n) {
        if (j + 1 == n) return 0;
        const double a = x[j + 1] - x[j] * x[j], b = 1 - x[j];
        return 100 * (a * a) + b * b;
    }
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += link(x, j, n);
        return sum;
    }
};

struct RosenbrockByTerms : Rosenbrock {
    static constexpr int reach = 1;
    template <class Point> CUDA_OPT_SEARCH_HD double term(const Point &x, int j, int n) const { return link(x, j, n); }
};

// x rounded down to a multiple of 1/8: sums of products of such numbers have no rounding errors.
CUDA_OPT_SEARCH_HD inline double eighths(double x) { return std::floor(8 * x) / 8; }

// A terraced bowl and its product with another sum, all exact; plateaus, so that equal values are met all the time.
struct Terraces {
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double squares = 0, sum = 0;
        for (int j = 0; j < n; j++) {
            squares += eighths(x[j]) * eighths(x[j]);
            sum += eighths(x[j]);
        }
        return squares + sum * sum;
    }
};

struct TerracesBySums : Terraces {
    static constexpr int sums = 2;
    template <class Real> CUDA_OPT_SEARCH_HD void terms(int, Real x_j, int, Real (&t)[2]) const {
        t[0] = Real(eighths(x_j) * eighths(x_j));
        t[1] = Real(eighths(x_j));
    }
    template <class Real> CUDA_OPT_SEARCH_HD Real combine(const Real (&sum)[2], int) const {
        return sum[0] + sum[1] * sum[1];
    }
};

// A chain of reach 2, exact as well.
struct Stairs {
    template <class Point> CUDA_OPT_SEARCH_HD static double link(const Point &x, int j, int n) {
        const double a = eighths(x[j]) - 2 * (j >= 2 ? eighths(x[j - 2]) : 0), b = j + 2 < n ? eighths(x[j + 2]) : 1;
        return a * a + b * b - a * b;
    }
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += link(x, j, n);
        return sum;
    }
};

struct StairsByTerms : Stairs {
    static constexpr int reach = 2;
    template <class Point> CUDA_OPT_SEARCH_HD double term(const Point &x, int j, int n) const { return link(x, j, n); }
};

// Terraces with a hole: NaN where x_0 < 0, Inf where x_1 < -1, -Inf where x_1 > 3.
struct Holes {
    CUDA_OPT_SEARCH_HD static double hole(double x_j, int j) {
        const double inf = HUGE_VAL;
        if (j == 0 && x_j < 0) return inf - inf;
        if (j == 1 && x_j < -1) return inf;
        if (j == 1 && x_j > 3) return -inf;
        return eighths(x_j) * eighths(x_j);
    }
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += hole(x[j], j);
        return sum;
    }
};

struct HolesBySums : Holes {
    static constexpr int sums = 1;
    CUDA_OPT_SEARCH_HD void terms(int j, double x_j, int, double (&t)[1]) const { t[0] = hole(x_j, j); }
    CUDA_OPT_SEARCH_HD double combine(const double (&sum)[1], int) const { return sum[0]; }
};

struct HolesByTerms : Holes {
    static constexpr int reach = 0;
    template <class Point> CUDA_OPT_SEARCH_HD double term(const Point &x, int j, int) const { return hole(x[j], j); }
};

struct Nowhere {
    template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &, int) const {
        return HUGE_VAL - HUGE_VAL;
    }
};

} // namespace search_test
