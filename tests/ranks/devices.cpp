// Ranks are executed by threads on each backend, with arrays in its memory space. On CUDA the ranks are distributed
// round-robin over the devices.
#include <catch2/catch.hpp>

#include "group.hpp"

using namespace cudaopt_test;

namespace {

// Returns the ends of the segments of a part that begins and ends at boundaries of segments.
std::vector<int64_t> ends_of_segments(int64_t n, const RankPart &part) {
    std::vector<int64_t> ends;
    for (int64_t k = 1; k <= cuda_opt_segments(n); k++)
        if (const int64_t end = cuda_opt_segment(n, k); end > part.first && end <= part.first + part.n)
            ends.push_back(end);
    return ends;
}
// Returns the sums of x_i g_i / 2 between consecutive ends. The first sum begins at variable `first`.
Vector sums_to(const std::vector<int64_t> &ends, const Vector &x, const Vector &g, int64_t first) {
    Vector sums;
    for (const int64_t end : ends) {
        const auto term = [&](int64_t i) {
            return x[static_cast<std::size_t>(i)] * g[static_cast<std::size_t>(i)] / 2;
        };
        sums.push_back(pairwise_sum(first, end, term));
        first = end;
    }
    return sums;
}

// The settings of a run.
struct Wishes {
    int m = 5;
    int64_t most_iterations = 400, metric = CUDA_OPT_METRIC_ONE_NUMBER, product_bits = 64;
    Vector diagonal{};
    bool with_eps = true;
    bool f_of_segments = false; // f is the sum of x_i g_i / 2
};

// Solves the problem on these ranks. Each rank evaluates the whole function on the host.
template <class Configuration>
std::vector<Outcome> run_on(const Problem &problem, const Cut &cut, const Wishes &wishes = Wishes()) {
    using Real = typename Configuration::Real;
    const int ranks = static_cast<int>(cut.size());
    std::vector<Outcome> outcomes(cut.size());
    Vector x = problem.start;
    run_ranks(ranks, [&](int rank, Meeting &meeting) {
        const RankPart part = cut[static_cast<std::size_t>(rank)];
        const auto slice = [&](const Vector &all) {
            if (all.empty() || part.n == 0) return Vector(all.empty() ? 0 : 1); // an array has at least one element
            return Vector(all.begin() + part.first, all.begin() + part.first + part.n);
        };
        Handle<Configuration> handle(problem.size(), wishes.m);
        const int64_t room = std::max<int64_t>(1, part.n);
        Array<Real> own_x(handle, room), own_g(handle, room), lower(handle, room), upper(handle, room),
            diagonal(handle, room);
        const std::vector<int64_t> ends = ends_of_segments(problem.size(), part);
        Array<double> f(handle, wishes.f_of_segments ? std::max<int64_t>(1, static_cast<int64_t>(ends.size())) : 1);
        handle.set_ranks(rank, ranks, part.first, part.n);
        handle.set_int(CUDA_OPT_F_PART, wishes.f_of_segments ? CUDA_OPT_F_OF_SEGMENTS : CUDA_OPT_F_WHOLE);
        handle.set_int(CUDA_OPT_MAX_ITERATIONS, wishes.most_iterations);
        stop_by_eps(handle);
        if (!wishes.with_eps) handle.set_real(CUDA_OPT_EPS, 0);
        if (!wishes.diagonal.empty()) handle.set_diagonal(diagonal.data());
        handle.set_int(CUDA_OPT_METRIC, wishes.metric);
        handle.set_int(CUDA_OPT_PRODUCT_BITS, wishes.product_bits);
        own_x.write(slice(problem.start));
        if (!problem.lower.empty()) {
            lower.write(slice(problem.lower));
            upper.write(slice(problem.upper));
            handle.set_bounds(lower.data(), upper.data());
        }
        Outcome &outcome = outcomes[static_cast<std::size_t>(rank)];
        do {
            outcome.task = handle.solve(own_x.data(), f.data(), own_g.data());
            if (outcome.task == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            if (outcome.task == CUDA_OPT_SUPPLY_DIAGONAL) diagonal.write(slice(wishes.diagonal));
            if (outcome.task != CUDA_OPT_EVALUATE_FG) continue;
            const Vector here = own_x.read();
            meeting.meet("copies of x", [] {});
            std::copy(here.begin(), here.begin() + part.n, x.begin() + part.first);
            meeting.meet("an evaluation", [] {});
            Vector g(x.size());
            const double whole = problem.evaluate(x, g);
            if (!wishes.f_of_segments) f.write({whole});
            else if (!ends.empty()) f.write(sums_to(ends, x, g, part.first));
            own_g.write(slice(g));
        } while (outcome.task > 0);
        outcome.message = handle.message();
        outcome.x = own_x.read();
        outcome.x.resize(static_cast<std::size_t>(part.n));
        outcome.f = f.read()[0];
        outcome.evaluations = handle.get_int(CUDA_OPT_EVALUATIONS);
        outcome.history.push_back({handle.get_int(CUDA_OPT_ITERATIONS), outcome.evaluations,
                                   handle.get_real(CUDA_OPT_X_NORM2), handle.get_real(CUDA_OPT_PG_NORM2),
                                   handle.get_real(CUDA_OPT_PG_NORM_INF), handle.get_real(CUDA_OPT_STEP)});
    });
    return outcomes;
}

// Checks that several ranks cut at segments give bitwise the result of a single rank.
template <class Configuration> void check_bits_of_one(const Problem &problem, const Wishes &wishes = Wishes()) {
    const int64_t n = problem.size();
    const Outcome one = run_on<Configuration>(problem, {{0, n}}, wishes)[0];
    INFO(problem.name << ": " << one.message);
    CHECK(one.evaluations > 1);
    for (const Cut &cut : {even_cut(n, 2), even_cut(n, 3), even_cut(n, 4), cut_at(n, {1, 0, 5, 2, 0})}) {
        INFO(problem.name << ", n = " << n << ", m = " << wishes.m << ", on " << cut.size() << " ranks");
        const std::vector<Outcome> outcomes = run_on<Configuration>(problem, cut, wishes);
        for (std::size_t rank = 0; rank < cut.size(); rank++) {
            const Outcome &outcome = outcomes[rank];
            CHECK(outcome.task == one.task);
            CHECK(outcome.f == one.f);
            CHECK(outcome.evaluations == one.evaluations);
            CHECK(outcome.history[0].iteration == one.history[0].iteration);
            CHECK(outcome.history[0].f == one.history[0].f);
            CHECK(outcome.history[0].pg_norm2 == one.history[0].pg_norm2);
            CHECK(outcome.history[0].step == one.history[0].step);
            CHECK(std::equal(outcome.x.begin(), outcome.x.end(), one.x.begin() + cut[rank].first));
        }
    }
}

} // namespace

CONFIGURED_TEST_CASE("Ranks cut at segments match one rank bitwise on each backend", "[ranks]", HostDouble, HostFloat16,
                     CudaDouble, CudaDouble32, CudaDouble16, CudaFloat, CudaFloat16) {
    if (skipped<TestType>()) return;
    const Problem crossed = quadratic_with_many_breakpoints(9000).problem,
                  scaled = in_box(scaled_quadratic(9000, 1e6), -1, 1.6);
    Wishes few;
    few.most_iterations = 25;
    const std::vector<Problem> problems = {extended_rosenbrock(9000), with_mixed_bounds(extended_wood(8192)), crossed};
    // These m select each width of the panel, including widths that do not fit in registers. The problems have no
    // bounds, bounds, and crossed variables.
    for (const int m : {1, 5, 8, 17, 25}) {
        few.m = m;
        for (const Problem &problem : problems) check_bits_of_one<TestType>(problem, few);
    }
    for (const int m : {2, 6, 20}) {
        Wishes metric = few;
        metric.m = m;
        metric.metric = CUDA_OPT_METRIC_LEARNED;
        check_bits_of_one<TestType>(scaled, metric);
        metric.metric = CUDA_OPT_METRIC_DIAGONAL;
        for (int64_t i = 0; i < scaled.size(); i++)
            metric.diagonal.push_back(1 / std::sqrt(scaled_quadratic_curvature(i, scaled.size(), 1e6)));
        check_bits_of_one<TestType>(scaled, metric);
    }
    Wishes by_segments;
    by_segments.most_iterations = 25;
    by_segments.f_of_segments = true;
    check_bits_of_one<TestType>(half_square(9001), by_segments);
    check_bits_of_one<TestType>(chained_rosenbrock(20001, 8));
    check_bits_of_one<TestType>(torsion(60, 59));
}

CONFIGURED_TEST_CASE("Ranks match one rank bitwise if products are formed in single precision", "[ranks]", HostDouble16,
                     CudaDouble16, CudaFloat16) {
    if (skipped<TestType>()) return;
    Wishes few;
    few.product_bits = 32;
    for (const int m : {5, 20, 26}) {
        few.m = m;
        few.most_iterations = m + 6;
        for (const Problem &problem : {chained_rosenbrock(20001, 8), with_mixed_bounds(extended_wood(8192))})
            check_bits_of_one<TestType>(problem, few);
    }
}

CONFIGURED_TEST_CASE("Ranks match one rank bitwise if segments are divided into several parts", "[ranks]", CudaDouble,
                     CudaDouble16, CudaFloat) {
    if (skipped<TestType>()) return;
    Wishes few;
    few.most_iterations = 7;
    for (const int64_t n : {1100001, 2200000, 4300003}) // two, four and eight parts per segment
        check_bits_of_one<TestType>(quadratic_with_known_active_set(n).problem, few);
}

CONFIGURED_TEST_CASE("Ranks on each backend match one rank if squares of norms overflow or underflow", "[ranks]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Wishes few;
    few.most_iterations = 10;
    few.with_eps = false; // 1e200 is a large ||x||
    for (const double scale : {1e200, 1e-200})
        for (const int64_t n : {9000, TestType::backend == CUDA_OPT_BACKEND_CUDA ? 1100001 : 20001})
            check_bits_of_one<TestType>(far_away(n, scale), few);
}

// Products in single precision lose their digits here. The sums of all ranks decide whether the products are
// recomputed; those of the first rank alone would require it.
CONFIGURED_TEST_CASE("Ranks match one rank bitwise if products are inaccurate in single precision", "[ranks][threads]",
                     HostDouble16, CudaDouble16, CudaFloat16) {
    if (skipped<TestType>()) return;
    Wishes few;
    few.most_iterations = 12;
    few.product_bits = 32;
    for (const double scale : {1e-17, 1e-12}) {
        Problem problem = extended_rosenbrock(9000);
        const auto whole = problem.evaluate;
        problem.evaluate = [whole, scale](const Vector &x, Vector &g) { // f is nearly constant in the first variables
            const double f = whole(x, g);
            for (std::size_t i = 0; i < 4000; i++) g[i] *= scale;
            return f;
        };
        check_bits_of_one<TestType>(problem, few);
    }
}

CONFIGURED_TEST_CASE("Ranks on each backend agree and repeat their bits and find the minimum", "[ranks][threads]",
                     HostDouble, HostFloat16, CudaDouble, CudaDouble16, CudaFloat) {
    if (skipped<TestType>()) return;
    const KnownQuadratic known = quadratic_with_known_active_set(6000), crossed = quadratic_with_many_breakpoints(6000);
    const double tolerance = sizeof(typename TestType::Real) == 8 ? 1e-3 : 2e-2;
    for (const KnownQuadratic &quadratic : {known, crossed})
        for (const Cut &cut : {Cut{{0, 6000}}, even_cut(6000, 2), cut_by_sizes(6000, {1000, 0, 3001, 1, 0})}) {
            INFO(quadratic.problem.name << " on " << cut.size() << " ranks");
            const std::vector<Outcome> first = run_on<TestType>(quadratic.problem, cut),
                                       second = run_on<TestType>(quadratic.problem, cut);
            for (std::size_t rank = 0; rank < cut.size(); rank++) {
                CHECK(first[rank].message == first[0].message);
                CHECK(first[rank].f == first[0].f);
                CHECK(first[rank].evaluations == first[0].evaluations);
                CHECK(first[rank].x == second[rank].x);
                CHECK(first[rank].f == second[rank].f);
                CHECK(first[rank].task == CUDA_OPT_CONVERGED);
                for (std::size_t i = 0; i < first[rank].x.size(); i++) {
                    const double wanted = quadratic.minimiser[static_cast<std::size_t>(cut[rank].first) + i];
                    // A curvature of 1/1000 allows a larger error of x_i.
                    if (!(std::abs(first[rank].x[i] - wanted) < 100 * tolerance))
                        FAIL(first[rank].x[i] << " instead of " << wanted);
                }
            }
        }
}
