// On the host batches by a functor are bitwise identical to those of the C interface, with any number of threads.
//
// Functions that are not forced into their callers compile in half the time.
#define CUDA_OPT_HD_INLINE inline

#include <catch2/catch.hpp>

#include "batch/layout.hpp"
#include "functors.hpp"
#include "on_host.hpp"

using namespace batch_test;

namespace {

template <int n, int m, class Real, int64_t metric = cudaopt::Metric::one_number>
void check_host(bool bounded, int least_converged = 91) {
    INFO("n = " << n << ", m = " << m << ", bounded: " << bounded << ", metric: " << metric);
    const Data<Real> data(n, 137, bounded);
    const Left<Real> by_functor = on_host<n, m, metric>(data),
                     by_calls = by_reverse_communication<n, m, metric>(data, CUDA_OPT_BACKEND_HOST);
    CHECK(same(by_functor, by_calls));
    CHECK(same(on_host<n, m, metric>(data, 3), by_functor));
    if (!bounded) { // the code without bounds gives the same bits
        const Data<Real> none = data.without_bounds();
        CHECK(same(on_host<n, m, metric>(none), by_functor));
        CHECK(same(by_reverse_communication<n, m, metric>(none, CUDA_OPT_BACKEND_HOST), by_functor));
    }
    int converged = 0, ended_otherwise = 0;
    for (const cudaopt::BatchEnd &end : by_functor.ends) (end.code == 0 ? converged : ended_otherwise)++;
    CHECK(converged >= least_converged);
    CHECK(ended_otherwise > 0);
}

using Take = std::function<int64_t()>; // one type, so that the solvers are compiled only once

// Each problem in memory that holds this byte everywhere.
template <int n, int m, bool bounds, class Real> Left<Real> in_memory_of(int byte, const Data<Real> &data) {
    using Shape = cudaopt::batch::FixedShape<n, m, Real, bounds>;
    constexpr int64_t working = cudaopt::batch::workspace_bytes(Shape{}),
                      vectors = cudaopt::batch::vectors_bytes<Real>(Shape{});
    std::vector<double> memory(static_cast<std::size_t>(working + vectors) / sizeof(double) + 1);
    auto *const bytes = reinterpret_cast<unsigned char *>(memory.data());
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(data.count))};
    const cudaopt::batch::BatchData<Real> all{data.count, left.x.data(), data.bounds(), left.ends.data()};
    int64_t next = 0;
    const Take take = [&] {
        std::memset(bytes, byte, static_cast<std::size_t>(working + vectors));
        return next++;
    };
    cudaopt::batch::solve_in_turn<Shape, cudaopt::Metric::one_number>(
        cudaopt::batch::OneThread{}, Valleys<n, Real>(), all, options<Real>().settings,
        cudaopt::batch::in_one_piece(Shape{}, bytes), bytes + working, take);
    return left;
}

// Each with the state in one place and the rest elsewhere, as in a multiprocessor's shared memory and beside it.
template <int n, int m, bool bounds, class Real> Left<Real> in_two_pieces(const Data<Real> &data) {
    using Shape = cudaopt::batch::FixedShape<n, m, Real, bounds>;
    const auto room = [](int64_t bytes) { return std::vector<double>(static_cast<std::size_t>(bytes) / 8); };
    std::vector<double> shared = room(cudaopt::batch::shared_bytes(Shape{})),
                        local = room(cudaopt::batch::local_bytes(Shape{})),
                        vectors = room(cudaopt::batch::vectors_bytes<Real>(Shape{}));
    const auto bytes = [](std::vector<double> &of) { return reinterpret_cast<unsigned char *>(of.data()); };
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(data.count))};
    const cudaopt::batch::BatchData<Real> all{data.count, left.x.data(), data.bounds(), left.ends.data()};
    int64_t next = 0;
    const Take take = [&next] { return next++; };
    cudaopt::batch::solve_in_turn<Shape, cudaopt::Metric::one_number>(
        cudaopt::batch::OneThread{}, Valleys<n, Real>(), all, options<Real>().settings,
        cudaopt::batch::in_two_pieces(Shape{}, bytes(shared), bytes(local)), bytes(vectors), take);
    return left;
}

template <int n, int m, class Real> void check_memory(bool bounded) {
    INFO("n = " << n << ", m = " << m << ", bounded: " << bounded);
    const Data<Real> data(n, 137, bounded);
    const Left<Real> wanted = on_host<n, m>(data);
    for (const int byte : {0xff, 0x40}) { // numbers that are none, and 32.5
        CHECK(same(in_memory_of<n, m, true>(byte, data), wanted));
        if (!bounded) CHECK(same(in_memory_of<n, m, false>(byte, data.without_bounds()), wanted));
    }
    CHECK(same(in_two_pieces<n, m, true>(data), wanted));
    if (!bounded) CHECK(same(in_two_pieces<n, m, false>(data.without_bounds()), wanted));
}

} // namespace

TEST_CASE("A batch by a functor has the same bits as one by the C interface", "[batch]") {
    for (const bool bounded : {false, true}) {
        check_host<1, 3, double>(bounded);
        check_host<5, 5, double>(bounded);
        check_host<20, 5, double>(bounded);
        check_host<5, 5, float>(bounded);
        // By reverse communication a state of any size, full from the start up to m = 10 as the functor's is.
        check_host<5, 1, double>(bounded);
        check_host<20, 6, float>(bounded);
        check_host<33, 7, double>(bounded);
        check_host<100, 8, double>(bounded, 5); // 200 iterations are too few for most
        check_host<5, 10, double>(bounded);
        check_host<20, 11, double>(bounded);
    }
}

TEST_CASE("With a diagonal initial Hessian a batch by a functor has the bits of the C interface", "[batch]") {
    using cudaopt::Metric;
    for (const bool bounded : {false, true}) {
        check_host<1, 3, double, Metric::learned>(bounded);
        check_host<20, 5, double, Metric::learned>(bounded);
        check_host<5, 7, float, Metric::learned>(bounded);
        check_host<20, 5, double, Metric::callers>(bounded);
    }
    const Data<double> data(20, 100, false);
    const auto evaluations = [](const Left<double> &left) {
        int64_t sum = 0;
        for (const cudaopt::BatchEnd &end : left.ends) sum += end.evaluations;
        return sum;
    };
    const int64_t plain = evaluations(on_host<20, 5>(data));
    CHECK(evaluations(on_host<20, 5, Metric::callers>(data)) < plain);
    CHECK(evaluations(on_host<20, 5, Metric::learned>(data)) != plain);
}

namespace {
struct Counted { // x'x
    int64_t *calls;
    template <class Team> double operator()(const Team &, int64_t, const double *x, double *g) const {
        ++*calls;
        g[0] = 2 * x[0], g[1] = 2 * x[1];
        return x[0] * x[0] + x[1] * x[1];
    }
};
} // namespace

TEST_CASE("A problem with an invalid start or box is refused without an evaluation", "[batch]") {
    int64_t calls = 0;
    std::vector<double> x{1, NAN, 0.5, 0.5};
    const std::vector<double> lower{-1, -1, 1, 0}, upper{2, 2, 0, 1};
    std::vector<cudaopt::BatchEnd> ends(2);
    cudaopt::HostBatch<2, 3>().run(Counted{&calls}, 2, x.data(), {lower.data(), upper.data(), true}, ends.data());
    CHECK(calls == 0);
    for (const cudaopt::BatchEnd &end : ends) CHECK((end.code == CUDA_OPT_IMPROPER_INPUT && end.evaluations == 0));
    CHECK((x[0] == 1 && std::isnan(x[1]) && x[2] == 0.5 && x[3] == 0.5));
}

TEST_CASE("The number of calls of a functor equals the counted evaluations", "[batch]") {
    int64_t calls = 0;
    std::vector<double> x{1, 2, 0.5, -3};
    std::vector<cudaopt::BatchEnd> ends(2);
    cudaopt::BatchOptions options;
    options.threads = 1;
    options.settings.report_iterates = true; // which has no effect
    cudaopt::HostBatch<2, 3>().run(Counted{&calls}, 2, x.data(), {}, ends.data(), options);
    CHECK(ends[0].iterations > 0);
    CHECK(calls == ends[0].evaluations + ends[1].evaluations);
}

TEST_CASE("The result of a problem does not depend on the initial contents of its memory", "[batch]") {
    for (const bool bounded : {false, true}) {
        check_memory<5, 1, double>(bounded);
        check_memory<5, 5, double>(bounded);
        check_memory<20, 6, float>(bounded);
        check_memory<33, 7, double>(bounded);
        check_memory<20, 11, double>(bounded);
    }
}

namespace {

// Returns the evaluations divided by those with a history in the precision of x.
template <class History, int64_t metric> double evaluations_with(bool bounded) {
    using Ends = std::vector<cudaopt::BatchEnd>;
    constexpr int count = 400;
    const Data<double> data(20, count, bounded);
    const Left<double> wanted = on_host<20, 5, metric>(data), left = on_host<20, 5, metric, History>(data);
    CHECK(same(on_host<20, 5, metric, History>(data, 3), left));
    const auto sum = [](const Ends &ends) {
        double sum = 0;
        for (const cudaopt::BatchEnd &end : ends) sum += end.code == 0 ? end.evaluations : 0;
        return sum;
    };
    int other_ends = 0, other_minima = 0; // a valley may have two
    for (std::size_t p = 0; p < count; p++) {
        const cudaopt::BatchEnd &one = left.ends[p], &other = wanted.ends[p];
        other_ends += one.code != other.code;
        other_minima += other.code == 6576 && one.code == 6576 && std::fabs(one.f - other.f) > 1e-9 * (1 + other.f);
        for (int i = 0; i < 20 && one.code == 0; i++) {
            const auto k = 20 * p + static_cast<std::size_t>(i);
            if (!(left.x[k] >= data.lower[k] && left.x[k] <= data.upper[k])) FAIL("outside the box: " << k);
        }
    }
    CHECK(other_ends <= count / 50);
    CHECK(other_minima <= count / 20);
    return sum(left.ends) / sum(wanted.ends);
}

} // namespace

TEST_CASE("With a lower history precision a batch converges to the same minima", "[batch]") {
    using cudaopt::Metric;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        CHECK(evaluations_with<float, Metric::one_number>(bounded) < 1.05);
        CHECK(evaluations_with<cudaopt::bfloat16, Metric::one_number>(bounded) < 1.12);
        CHECK(evaluations_with<float, Metric::learned>(bounded) < 1.05);
    }
}

namespace {

// Two thirds of the variables have their minimum beyond the bound 1.
struct Far {
    static constexpr int n = 1200;
    template <class Team> double operator()(const Team &, int64_t, const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            const double curvature = 1 + i % 7 * 0.25, away = x[i] - (i % 3 == 0 ? 0.5 : 10 - i % 5);
            g[i] = curvature * away;
            f += curvature * away * away / 2;
        }
        return f;
    }
};

} // namespace

// Then their products are not taken off the others one by one, but formed anew: by a functor's solver at once, by that
// of the C interface, where m is neither 5 nor 10, as a request.
TEST_CASE("If many variables are crossed at once both interfaces give the same bits", "[batch]") {
    constexpr int n = Far::n, m = 3;
    std::vector<double> x(n), wanted(n), g(n);
    double f = 0;
    cudaopt::BatchEnd end{};
    cudaopt::BatchBounds<double> box;
    box.upper_all = 1;
    cudaopt::HostBatch<n, m>().run(Far(), 1, x.data(), box, &end);

    cudaopt::Batch<double> s(n, 1, m, CUDA_OPT_BACKEND_HOST);
    s.check(cuda_opt_set_uniform_bounds(s, -INFINITY, 1));
    while (s.solve(wanted.data(), &f, g.data()) > 0) f = Far()(cudaopt::batch::OneThread{}, 0, wanted.data(), g.data());
    CHECK(s.integers(CUDA_OPT_BREAKPOINTS_CROSSED)[0] > 600);
    CHECK(s.integers(CUDA_OPT_ITERATIONS)[0] == end.iterations);
    CHECK(end.code == 0);
    CHECK(x == wanted);
}

namespace {

struct NoSlope { // in one direction
    double there;
    template <class Team> double operator()(const Team &, int64_t, const double *x, double *g) const {
        for (int i = 0; i < 3; i++) g[i] = 2 * x[i];
        g[1] = there;
        return x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    }
};

} // namespace

TEST_CASE("A NaN or infinite element of g at the start ends a problem with NOT_FINITE", "[batch]") {
    for (const double bound : {2.0, double{INFINITY}})
        for (const float there : {NAN, INFINITY, -INFINITY}) {
            INFO("bounds " << bound << ", g_1 = " << there);
            std::vector<double> x{1, 1, 1};
            const std::vector<double> lower(3, -bound), upper(3, bound);
            cudaopt::BatchEnd end{};
            cudaopt::HostBatch<3, 5>().run(NoSlope{there}, 1, x.data(), {lower.data(), upper.data()}, &end);
            CHECK(end.code == CUDA_OPT_NOT_FINITE);
            CHECK(end.evaluations == 1);
            CHECK(x == std::vector<double>{1, 1, 1});
        }
}

namespace {

struct Bowl { // the minimum is at 2
    template <class Team> double operator()(const Team &, int64_t, const double *x, double *g) const {
        g[0] = 2 * (x[0] - 2);
        return (x[0] - 2) * (x[0] - 2);
    }
};

} // namespace

TEST_CASE("A one-sided uniform bound is respected by both interfaces", "[batch]") {
    for (const bool above : {false, true}) {
        const double lower = above ? -INFINITY : 3, upper = above ? 1 : INFINITY, wanted = above ? 1 : 3;
        double x = 0, f = 0, g = 0;
        cudaopt::BatchEnd end{};
        cudaopt::BatchBounds<double> bounds;
        bounds.lower_all = lower, bounds.upper_all = upper;
        cudaopt::HostBatch<1, 5>().run(Bowl(), 1, &x, bounds, &end);
        CHECK(x == wanted);

        x = 0;
        cudaopt::Batch<double> s(1, 1, 5, CUDA_OPT_BACKEND_HOST);
        s.check(cuda_opt_set_uniform_bounds(s, lower, upper));
        while (s.solve(&x, &f, &g) > 0) f = Bowl()(cudaopt::batch::OneThread{}, 0, &x, &g);
        CHECK(x == wanted);
    }
}

TEST_CASE("Settings that do not apply to batches do not change a batch by a functor", "[batch]") {
    const Data<double> data(5, 50, true);
    const Left<double> wanted = on_host<5, 5>(data);
    Left<double> left{data.x, std::vector<cudaopt::BatchEnd>(50)};
    cudaopt::BatchOptions chosen = options<double>();
    chosen.threads = 1;
    chosen.settings.metric = cudaopt::Metric::learned;
    chosen.settings.report_iterates = true;
    chosen.settings.log_frequency = 0;
    chosen.settings.max_seconds = 1e-9;
    cudaopt::HostBatch<5, 5>().run(Valleys<5, double>(), 50, left.x.data(),
                                   {data.lower.data(), data.upper.data(), true}, left.ends.data(), chosen);
    CHECK(same(left, wanted));
}

TEST_CASE("The sizes of a problem's memory are compile-time constants and as documented", "[batch]") {
    struct Row { // of the table in docs/notes/batch.md
        int m, n;
        int64_t persistent, block, workspace;
    };
    constexpr Row table[] = {
        {5, 5, 1840, 2704, 7568},    {5, 20, 1840, 4720, 9456},      {5, 100, 1840, 16240, 21296},
        {10, 20, 3712, 8192, 19904}, {20, 100, 11072, 49472, 85024},
    };
    static_assert(cudaopt::batch::block_bytes<double>({table[1].n, table[1].m}) == table[1].block);
    for (const Row &row : table) {
        INFO("m = " << row.m << ", n = " << row.n);
        CHECK(cudaopt::batch::persistent_bytes({row.n, row.m}) == row.persistent);
        CHECK(cudaopt::batch::block_bytes<double>({row.n, row.m}) == row.block);
        CHECK(cudaopt::batch::workspace_bytes({row.n, row.m}) == row.workspace);
        CHECK(cudaopt::batch::block_bytes<float>({row.n, row.m}) < row.block);
    }
    static_assert(cudaopt::batch::persistent_bytes(cudaopt::batch::ShapeOfPairs<5>{20}) == 1600 &&
                  cudaopt::batch::persistent_bytes(cudaopt::batch::ShapeOfPairs<10>{20}) == 3488);
    static_assert(cudaopt::batch::block_bytes<double>(cudaopt::batch::ShapeOfPairs<5>{20}) == 4480);
    // Three and four warps of threads have room in the 227 kB of a multiprocessor.
    static_assert(cudaopt::batch::shared_stride(cudaopt::batch::FixedShape<20, 5, double, false>{}) == 2152 &&
                  cudaopt::batch::shared_stride(cudaopt::batch::FixedShape<5, 5, double>{}) == 1608);
    static_assert(cudaopt::batch::workspace_bytes(cudaopt::batch::FixedShape<20, 5, double>{}) == 6576 &&
                  cudaopt::batch::vectors_bytes<double>(cudaopt::batch::FixedShape<20, 5, double>{}) == 2880 &&
                  cudaopt::batch::vectors_bytes<double>(cudaopt::batch::FixedShape<20, 5, float>{}) == 1920);
}
