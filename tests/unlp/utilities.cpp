// Tests of the functions get_solution, print_vector, my_reduce and set_device_ID.
#include "run.hpp"

using namespace cudaopt_test;

CONFIGURED_TEST_CASE("The solution is fetched to the host", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Run<TestType> run(extended_rosenbrock(1000));
    REQUIRE(run.called_back() == 0);
    Vector x(1000, NAN);
    CHECK(cuda_opt_unlp_get_solution(1000, run.dev_x(), x.data()) == 0);
    CHECK(x == run.x());
    for (const double component : x) CHECK(std::fabs(component - 1) < 1e-4);
    CHECK(cuda_opt_unlp_get_solution(-1, run.dev_x(), x.data()) == -3);
    CHECK(cuda_opt_unlp_get_solution(1000, nullptr, x.data()) == -3);
    CHECK(cuda_opt_unlp_get_solution(1000, run.dev_x(), nullptr) == -3);
}

CONFIGURED_TEST_CASE("A vector is printed with six elements per line", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const int n : {0, 1, 6, 7, 6000, 13001}) {
        Handle<TestType> memory(1, 1);
        Array<double> v(memory, std::max(n, 1));
        Vector values;
        for (int i = 0; i < n; i++) values.push_back(i % 2 ? -i / 3.0 : i * 1e10);
        if (n > 0) v.write(values);
        const std::vector<std::string> lines = printed([&] { CHECK(cuda_opt_unlp_print_vector(n, v.data()) == 0); });
        CHECK(lines.size() == static_cast<std::size_t>((n + 5) / 6));
        Vector read;
        for (const std::string &line : lines) {
            std::istringstream words(line);
            for (double value; words >> value;) read.push_back(value);
        }
        REQUIRE(read.size() == values.size());
        for (std::size_t i = 0; i < read.size(); i++)
            CHECK(std::fabs(read[i] - values[i]) <= 1e-6 * std::fabs(values[i]));
    }
    const double v = 1;
    CHECK(cuda_opt_unlp_print_vector(1, nullptr) == -3);
    CHECK(cuda_opt_unlp_print_vector(-1, &v) == -3);
}

CONFIGURED_TEST_CASE("A vector is summed", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const int n : {0, 1, 2, 63, 64, 65, 255, 257, 65536, 65537, 1000003}) {
        INFO("n = " << n);
        Handle<TestType> memory(1, 1);
        Array<double> v(memory, std::max(n, 1)), sum(memory, 1);
        Uniform uniform(7);
        Vector values(static_cast<std::size_t>(std::max(n, 1)));
        long double exact = 0, magnitude = 0;
        for (int i = 0; i < n; i++) {
            values[i] = uniform() - 0.25;
            exact += values[i];
            magnitude += std::fabs(values[i]);
        }
        v.write(values);
        sum.write({NAN});
        REQUIRE(cuda_opt_unlp_my_reduce(n, v.data(), sum.data()) == 0);
        const double first = sum.read()[0];
        CHECK(std::fabs(static_cast<double>(first - exact)) <= static_cast<double>(50 * 1.2e-16L * magnitude));
        REQUIRE(cuda_opt_unlp_my_reduce(n, v.data(), sum.data()) == 0);
        CHECK(sum.read()[0] == first);
    }
    double v = 1, sum = 0;
    CHECK(cuda_opt_unlp_my_reduce(-1, &v, &sum) == -3);
    CHECK(cuda_opt_unlp_my_reduce(1, nullptr, &sum) == -3);
    CHECK(cuda_opt_unlp_my_reduce(1, &v, nullptr) == -3);
}

CONFIGURED_TEST_CASE("my_reduce refuses a sum and terms in different memories", "[unlp]", CudaDouble) {
    if (skipped<TestType>()) return;
    Handle<TestType> memory(1, 1);
    Array<double> v(memory, 1);
    double host = 1;
    CHECK(cuda_opt_unlp_my_reduce(1, v.data(), &host) == -3);
    CHECK(cuda_opt_unlp_my_reduce(1, &host, v.data()) == -3);
}

TEST_CASE("set_device_ID refuses a GPU that does not exist", "[unlp]") {
    const bool cuda = unavailable(CUDA_OPT_BACKEND_CUDA).empty();
    for (const int id : {-1, 1000}) {
        CHECK(cuda_opt_unlp_set_device_ID(id) == (cuda ? -3 : CUDA_OPT_BACKEND_UNAVAILABLE));
        CHECK(std::string(cuda_opt_unlp_message()).find("no CUDA device") != std::string::npos);
    }
}

CONFIGURED_TEST_CASE("set_device_ID accepts a GPU that exists", "[unlp]", CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    CHECK(cuda_opt_unlp_set_device_ID(0) == 0);
    Run<TestType> run(extended_rosenbrock(10));
    CHECK(run.called_back() == 0);
}
