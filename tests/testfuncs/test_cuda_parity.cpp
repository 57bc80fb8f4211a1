// The test functions on CUDA are compared with the host: both use the same rules, so that only the order of sums
// differs.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"
#include "evaluation.hpp"

using namespace cudaopt::testfuncs;
using cudaopt_test::Array;
using cudaopt_test::CudaDouble;
using cudaopt_test::CudaFloat;
using cudaopt_test::Handle;
using cudaopt_test::skipped;

namespace {

bool is_cluster(const Facts &facts) { return facts.name.rfind("lennard-jones", 0) == 0; }
bool is_of_minpack2(const Facts &facts) { return facts.source.rfind("MINPACK-2", 0) == 0; }

// From one block of threads to several rounds of the largest grid; squares of odd numbers for problems on grids, so
// that their last strips are cut; n^2 is the work of a cluster.
std::vector<int64_t> sizes(const Facts &facts) {
    if (is_cluster(facts)) return {6, 600, 6000};
    return is_of_minpack2(facts) ? std::vector<int64_t>{25, 1089, 100489, 3003289}
                                 : std::vector<int64_t>{4, 1000, 100000, 3000000};
}

Vector random_point(const Problem &problem) {
    if (is_of_minpack2(problem.facts())) return random_feasible(problem, 5);
    std::mt19937_64 random(cudaopt_test::seed(5));
    std::uniform_real_distribution<double> uniform(-2, 2);
    Vector x(problem.n());
    for (double &value : x) value = static_cast<float>(uniform(random));
    return x;
}

} // namespace

CONFIGURED_TEST_CASE("f and g of each problem on CUDA equal those on the host up to rounding", "", CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;

    for (const Facts &facts : list_problems())
        for (const int64_t asked : sizes(facts)) {
            CAPTURE(facts.name, asked);
            const auto problem = make_problem(facts.name, asked);
            const int64_t n = problem->n();
            const Vector x = random_point(*problem);
            const std::vector<Real> host_x(x.begin(), x.end());
            std::vector<Real> g(n);
            double f;
            problem->evaluate(host_x.data(), &f, g.data(), Place{});

            Handle<TestType> handle(n, 1);
            Array<Real> device_x(handle, n), device_g(handle, n);
            Array<double> device_f(handle, 1);
            device_x.write(x);
            Place place;
            place.space = Place::Space::cuda;
            std::vector<double> values;
            for (int repetition = 0; repetition < 2; repetition++) {
                problem->evaluate(device_x.data(), device_f.data(), device_g.data(), place);
                values.push_back(device_f.read()[0]);
            }
            CHECK(values[0] == values[1]);
            CHECK(std::fabs(values[0] - f) <= 1e-12 * std::fabs(f));

            const Vector cuda_g = device_g.read();
            double largest = 0, difference = 0;
            for (int64_t i = 0; i < n; i++) {
                largest = largest_of(largest, std::fabs(static_cast<double>(g[i])));
                difference = largest_of(difference, std::fabs(cuda_g[i] - g[i]));
            }
            CHECK(difference <= (std::is_same_v<Real, float> ? 1e-7 : 1e-12) * largest);
        }
}
