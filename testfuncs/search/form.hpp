// The interface of a test function for the pattern search, and definitions that these functions share.
//
// A function is an empty struct, whose code is used on host and CUDA, in double and single precision:
//     static Facts facts();
//     Real operator()(x, n) const;         f; x[j], 0 <= j < n, is a coordinate of type Real
//     void gradient(x, n, g) const;        if there is a gradient that shows in which direction f decreases
// If a change of one coordinate costs less than evaluating f, the function inherits from one of
//     OfSums          f is a function of sums over the coordinates; a change of x_j changes one term of each sum
//     OfNeighbours    f is a sum whose term j depends on x_{j-R}, ..., x_{j+R} alone
// The base class then defines operator() from the members of the function, so that no formula is written twice. A
// product is not treated as a sum: dividing a factor near zero out of it, or adding its logarithm, would lose the
// digits of all other factors.
#pragma once

#include "testfuncs/function.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace cudaopt::testfuncs::search {

struct Facts {
    // The name of the function on the command line.
    std::string name;
    std::string title; // the title in a log
    // The formula of f as one line of plain text, where i begins at 1.
    std::string formula;
    // The lower and upper bound of every coordinate.
    double lower, upper;
    // The value of every coordinate of a minimiser, at which f = 0.
    double minimiser;
};

using testfuncs::square;
CUDA_OPT_HD constexpr float square(float a) { return a * a; }

// RealOf<Point> is the type of the coordinates of a point.
template <class Point> using RealOf = std::decay_t<decltype(std::declval<const Point &>()[0])>;

// gradient_of<F> is true if F has a member function gradient().
template <class F, class = void> constexpr bool gradient_of = false;
template <class F>
constexpr bool gradient_of<
    F, std::void_t<decltype(std::declval<F>().gradient(std::declval<const double *>(), 0, std::declval<double *>()))>> =
    true;

// The base class of a function F that depends only on S sums over the coordinates. F defines
//     void terms(j, x_j, n, t)    the terms that coordinate j adds to each of the S sums
//     Real combine(sum, n)        f, given the sums
template <class F, int S> struct OfSums {
    static constexpr int sums = S;

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        const F &f = static_cast<const F &>(*this);
        RealOf<Point> sum[S] = {}, t[S];
        for (int j = 0; j < n; j++) {
            f.terms(j, x[j], n, t);
            for (int s = 0; s < S; s++) sum[s] += t[s];
        }
        return f.combine(sum, n);
    }
};

// The base class of a function F that is a sum of terms of neighbouring coordinates. F defines
//     Real term(x, j, n)          term j, which depends on x_{j-R}, ..., x_{j+R} alone
template <class F, int R> struct OfNeighbours {
    static constexpr int reach = R;

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        RealOf<Point> sum = 0;
        for (int j = 0; j < n; j++) sum += static_cast<const F &>(*this).term(x, j, n);
        return sum;
    }
};

} // namespace cudaopt::testfuncs::search
