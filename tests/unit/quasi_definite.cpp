// The block factorisation against plain elimination of the assembled matrix.
#include "dense/quasi_definite.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "../support/problems.hpp"

using cudaopt::dense::Matrix;
using cudaopt::dense::QuasiDefinite;
using cudaopt_test::Uniform;
using cudaopt_test::Vector;

namespace {

/// Gaussian elimination with partial pivoting.
Vector eliminate(Matrix a, Vector b) {
    const int n = a.rows();
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
        for (int j = 0; j < n; j++) std::swap(a(k, j), a(pivot, j));
        std::swap(b[k], b[pivot]);
        for (int i = k + 1; i < n; i++) {
            const double factor = a(i, k) / a(k, k);
            for (int j = k; j < n; j++) a(i, j) -= factor * a(k, j);
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a(i, j) * b[j];
        b[i] /= a(i, i);
    }
    return b;
}

/// R R' + I of random numbers.
Matrix random_definite(int k, Uniform &uniform) {
    Matrix root(k, k), product(k, k);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) root(i, j) = 2 * uniform() - 1;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) product(i, j) = cudaopt::dense::dot(root.row(i), root.row(j), k) + (i == j);
    return product;
}

void fill(QuasiDefinite &system, int k, Uniform &uniform) {
    system.resize(k);
    system.a = random_definite(k, uniform);
    system.c = random_definite(k, uniform);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) system.b(i, j) = 2 * uniform() - 1;
}

Matrix assembled(const QuasiDefinite &system) {
    const int k = system.a.rows();
    Matrix whole(2 * k, 2 * k);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            whole(i, j) = -system.a(i, j);
            whole(i, k + j) = system.b(j, i);
            whole(k + i, j) = system.b(i, j);
            whole(k + i, k + j) = system.c(i, j);
        }
    return whole;
}

} // namespace

TEST_CASE("The block factorisation solves what elimination solves", "[dense]") {
    Uniform uniform(1);
    QuasiDefinite system(20);
    for (int k = 1; k <= 20; k++) {
        INFO("k = " << k);
        fill(system, k, uniform);
        const Matrix whole = assembled(system);
        Vector right(2 * k);
        for (double &value : right) value = 2 * uniform() - 1;
        const Vector expected = eliminate(whole, right);
        REQUIRE(system.factor());
        system.solve(right.data());
        for (int i = 0; i < 2 * k; i++) CHECK(right[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
    }
}

TEST_CASE("Solving twice with one factorisation", "[dense]") {
    Uniform uniform(2);
    QuasiDefinite system(5);
    fill(system, 5, uniform);
    const Matrix whole = assembled(system);
    REQUIRE(system.factor());
    for (int repetition = 0; repetition < 2; repetition++) {
        Vector right(10);
        for (double &value : right) value = uniform();
        const Vector expected = eliminate(whole, right);
        system.solve(right.data());
        for (int i = 0; i < 10; i++) CHECK(right[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
    }
}

TEST_CASE("A block that is not definite breaks the factorisation down", "[dense]") {
    Uniform uniform(3);
    QuasiDefinite system(4);
    constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {0.0, -1.0, nan_value, infinite}) {
        INFO("the pivot becomes " << bad);
        fill(system, 4, uniform);
        for (int j = 0; j < 4; j++) system.a(2, j) = system.a(j, 2) = 0;
        system.a(2, 2) = bad;
        CHECK_FALSE(system.factor());
    }
    fill(system, 4, uniform);
    for (int i = 0; i < 4; i++) system.c(i, i) -= 1e6;
    CHECK_FALSE(system.factor());
    fill(system, 4, uniform);
    system.b(1, 1) = nan_value;
    CHECK_FALSE(system.factor());
}

TEST_CASE("No pairs, nothing to solve", "[dense]") {
    QuasiDefinite system(4);
    system.resize(0);
    CHECK(system.factor());
    double untouched = 42;
    system.solve(&untouched);
    CHECK(untouched == 42);
}
