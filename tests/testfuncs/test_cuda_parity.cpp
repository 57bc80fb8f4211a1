// The test functions on CUDA against the host: the same rules, so only the order of the sum may differ.
#include <catch2/catch.hpp>

#include "testfuncs/problem.hpp"

#include "../support/harness.hpp"

#include <cmath>
#include <random>
#include <vector>

using namespace cudaopt::testfuncs;
using namespace cudaopt_test;

TEMPLATE_TEST_CASE("f and g on CUDA are the host's", "", CudaDouble, CudaFloat)
{
    if (skipped<TestType>())
        return;
    using Real = typename TestType::Real;
    const double rounding = std::is_same_v<Real, float> ? 1e-7 : 1e-13;

    for (const Facts &facts : list_problems())
        for (const int64_t n : {4, 1000, 100000, 3000000}) {
            CAPTURE(facts.name, n);
            const auto problem = make_problem(facts.name, n);
            std::mt19937_64 random(5);
            std::uniform_real_distribution<double> uniform(-2, 2);
            std::vector<Real> x(n), g(n);
            for (Real &value : x)
                value = static_cast<Real>(uniform(random));
            double f;
            problem->evaluate(x.data(), &f, g.data(), Place{});

            Handle<TestType> handle(n, 1);
            Array<Real> device_x(handle, n), device_g(handle, n);
            Array<double> device_f(handle, 1);
            device_x.write(Vector(x.begin(), x.end()));
            Place place;
            place.space = Place::Space::cuda;
            std::vector<double> values;
            for (int repetition = 0; repetition < 2; ++repetition) {
                problem->evaluate(device_x.data(), device_f.data(), device_g.data(), place);
                values.push_back(device_f.read()[0]);
            }
            CHECK(values[0] == values[1]);
            CHECK(std::fabs(values[0] - f) <= 1e-13 * std::fabs(f));

            const Vector cuda_g = device_g.read();
            double largest = 0, difference = 0;
            for (int64_t i = 0; i < n; ++i) {
                largest = std::max(largest, std::fabs(static_cast<double>(g[i])));
                difference = std::max(difference, std::fabs(cuda_g[i] - g[i]));
            }
            CHECK(difference <= rounding * largest);
        }
}
