// Compares the block factorisation with Gaussian elimination of the assembled matrix in extended precision.
#include "dense/quasi_definite.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "../mathematics/dense.hpp"
#include "../support/problems.hpp"

using cudaopt::dense::QuasiDefinite;
using cudaopt_test::Uniform;
using cudaopt_test::Vector;
using reference::Matrix;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// A factorisation that owns the memory of its arrays.
class Factorisation : public QuasiDefinite {
  public:
    explicit Factorisation(int capacity) {
        cudaopt::dense::CountArrays count;
        each_array(capacity, count);
        REQUIRE(count.doubles <= static_cast<int64_t>(std::size(numbers_)));
        cudaopt::dense::PlaceArrays place{numbers_};
        each_array(capacity, place);
    }

  private:
    double numbers_[2048] = {};
};

Vector random_vector(int n, Uniform &uniform) {
    Vector v(n);
    for (double &value : v) value = 2 * uniform() - 1;
    return v;
}

Vector eliminate(const Matrix &whole, const Vector &right) {
    const reference::Vector solution = reference::solve(whole, {right.begin(), right.end()});
    return {solution.begin(), solution.end()};
}

// Returns R R' + I for a matrix R of random numbers.
Matrix random_definite(int k, Uniform &uniform) {
    std::vector<Vector> root;
    for (int i = 0; i < k; i++) root.push_back(random_vector(k, uniform));
    Matrix product(k, k);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) product(i, j) = cudaopt::dense::dot(root[i].data(), root[j].data(), k) + (i == j);
    return product;
}

// Returns [-A, B'; B, C] for random A, B and C, with both triangles stored.
Matrix random_system(int k, Uniform &uniform) {
    const Matrix a = random_definite(k, uniform), c = random_definite(k, uniform);
    Matrix whole(2 * k, 2 * k);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            whole(i, j) = -a(i, j);
            whole(k + i, j) = whole(j, k + i) = 2 * uniform() - 1;
            whole(k + i, k + j) = c(i, j);
        }
    return whole;
}

// Returns such a matrix with a diagonal A and a strictly lower triangular B.
Matrix random_triangular_system(int k, Uniform &uniform) {
    Matrix whole = random_system(k, uniform);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            if (i != j) whole(i, j) = 0;
            if (i <= j) whole(k + i, j) = whole(j, k + i) = 0;
        }
    return whole;
}

void fill(QuasiDefinite &system, const Matrix &whole) {
    system.resize(whole.rows() / 2);
    for (int i = 0; i < whole.rows(); i++)
        for (int j = i; j < whole.rows(); j++) system(i, j) = static_cast<double>(whole(i, j));
}

// Returns a bound on the rounding errors of a solution with a right-hand side of absolute values up to 1. The factors
// can be larger than the matrix by the norm of its inverse, because no pivots are chosen (Gill, Saunders, Shinnerl
// 1996).
double rounding_of_solution(const Matrix &whole) {
    const auto conditioning = reference::conditioning(whole, reference::Vector(whole.rows(), 1));
    return static_cast<double>(whole.rows() * epsilon * conditioning.condition * conditioning.inverse_norm);
}

void check_solution(const QuasiDefinite &system, const Matrix &whole, Vector right) {
    const Vector expected = eliminate(whole, right);
    const double tolerance = rounding_of_solution(whole);
    system.solve(whole.rows() / 2, right.data());
    for (int i = 0; i < whole.rows(); i++) CHECK(std::fabs(right[i] - expected[i]) <= tolerance);
}

} // namespace

TEST_CASE("Both factorisations give the solution of elimination in extended precision", "[dense]") {
    const bool triangular = GENERATE(false, true);
    Uniform uniform(triangular ? 4 : 1);
    Factorisation system(20);
    for (int k = 1; k <= 20; k++) {
        INFO("k = " << k << (triangular ? ", triangular" : ""));
        const Matrix whole = triangular ? random_triangular_system(k, uniform) : random_system(k, uniform);
        fill(system, whole);
        REQUIRE((triangular ? system.factor_triangular(k) : system.factor(k)));
        check_solution(system, whole, random_vector(2 * k, uniform));
    }
}

TEST_CASE("The bilinear form with the inverse follows from two vectors that are reduced once", "[dense]") {
    Uniform uniform(5);
    Factorisation system(20);
    for (int k = 1; k <= 20; k++) {
        INFO("k = " << k);
        const Matrix whole = random_system(k, uniform);
        fill(system, whole);
        REQUIRE(system.factor(k));
        Vector a = random_vector(2 * k, uniform), b = random_vector(2 * k, uniform);
        const double expected = cudaopt::dense::dot(a.data(), eliminate(whole, b).data(), 2 * k); // of |a_i| <= 1
        system.reduce(k, a.data());
        system.reduce(k, b.data());
        CHECK(std::fabs(system.reduced_form(k, a.data(), b.data()) - expected) <= 2 * k * rounding_of_solution(whole));
    }
}

TEST_CASE("Four vectors reduced together are bitwise identical to vectors reduced one at a time", "[dense]") {
    Uniform uniform(7);
    Factorisation system(20);
    for (int k = 1; k <= 20; k++) {
        INFO("k = " << k);
        fill(system, random_system(k, uniform));
        REQUIRE(system.factor(k));
        const int stride = 2 * k + 3;
        Vector four = random_vector(4 * stride, uniform), expected = four;
        system.reduce_four(k, four.data(), stride);
        for (int q = 0; q < 4; q++) system.reduce(k, expected.data() + q * stride);
        CHECK(four == expected);
        const double *const a = four.data(), *const b = a + stride, *const c = b + stride;
        double forms[3];
        system.reduced_forms(k, a, b, c, forms);
        CHECK(forms[0] == system.reduced_form(k, a, b));
        CHECK(forms[1] == system.reduced_form(k, a, c));
        CHECK(forms[2] == system.reduced_form(k, a, a));
    }
}

TEST_CASE("One factorisation solves for several right-hand sides", "[dense]") {
    Uniform uniform(2);
    Factorisation system(5);
    const Matrix whole = random_system(5, uniform);
    fill(system, whole);
    REQUIRE(system.factor(5));
    for (int repetition = 0; repetition < 2; repetition++) check_solution(system, whole, random_vector(10, uniform));
}

TEST_CASE("A factorisation fails if a block is not definite or not finite", "[dense]") {
    Uniform uniform(3);
    Factorisation system(4);
    constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {0.0, -1.0, nan_value, infinite}) {
        INFO("the pivot becomes " << bad);
        Matrix whole = random_triangular_system(4, uniform);
        whole(2, 2) = -bad;
        fill(system, whole);
        CHECK_FALSE(system.factor(4));
        fill(system, whole);
        CHECK_FALSE(system.factor_triangular(4));
    }
    // The pivots of the second block include terms of the first one.
    for (const double bad : {-1e6, nan_value, infinite}) {
        INFO("the pivot becomes about " << bad);
        for (int i = 4; i < 8; i++) {
            Matrix whole = random_triangular_system(4, uniform);
            whole(i, i) = bad;
            fill(system, whole);
            CHECK_FALSE(system.factor(4));
            fill(system, whole);
            CHECK_FALSE(system.factor_triangular(4));
        }
    }
    const Matrix whole = random_system(4, uniform);
    fill(system, whole);
    for (int i = 4; i < 8; i++) system(i, i) -= 1e6;
    CHECK_FALSE(system.factor(4));
    fill(system, whole);
    system(1, 5) = nan_value;
    CHECK_FALSE(system.factor(4));
}

TEST_CASE("Without pairs a factorisation succeeds and a solve changes nothing", "[dense]") {
    Factorisation system(4);
    system.resize(0);
    CHECK(system.factor(0));
    CHECK(system.factor_triangular(0));
    Uniform uniform(6);
    const Vector before = random_vector(8, uniform);
    Vector untouched = before;
    system.solve(0, untouched.data());
    CHECK(untouched == before);
}
