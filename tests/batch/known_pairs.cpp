// Batches with few correction pairs, m, a compile-time constant. One stride of their loops may be 2, 4 or 8 times
// another one, and GCC 12 then miscompiles a function that it is not kept from taking for pure (exec/annotations.hpp).
#include <catch2/catch.hpp>

#include "host_functor.hpp"
#include "on_host.hpp"

using namespace batch_test;

namespace {

// Without bounds a problem takes the same path as with infinite ones, by another instantiation of the solver.
template <int m, class Real> void check_bounds_make_no_difference() {
    INFO("m = " << m << ", bytes per number: " << sizeof(Real));
    constexpr int n = 5;
    const Data<Real> infinite(n, 40, false);
    const auto solved = [](const Data<Real> &data) {
        return solve_on_host<n, m, cudaopt::Metric::one_number, void>(data, 1);
    };
    const Left<Real> with = solved(infinite), without = solved(infinite.without_bounds());
    CHECK(same(with, without));
    int converged = 0;
    for (const cudaopt::BatchEnd &end : without.ends) converged += end.code == 0;
    CHECK(converged >= 30);
}

} // namespace

TEST_CASE("A batch by a functor without bounds has the same bits as with infinite bounds for each m") {
    check_bounds_make_no_difference<1, double>();
    check_bounds_make_no_difference<2, double>();
    check_bounds_make_no_difference<3, double>();
    check_bounds_make_no_difference<4, double>();
    check_bounds_make_no_difference<8, double>();
    check_bounds_make_no_difference<8, float>();
}
