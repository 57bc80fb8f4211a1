// If the variables are divided among ranks at boundaries of segments, the result is bitwise that of one handle with all
// variables. Any other division has its own rounding errors, which are the same in each run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "../support/same_bits.hpp"
#include "group.hpp"

using namespace cudaopt_test;

namespace {

// Removes the name of the rank that caused the end from a message. It depends on the division of the variables.
Outcome without_rank(Outcome outcome) {
    std::string &message = outcome.message;
    if (message.rfind("rank ", 0) == 0) message.erase(0, message.find(": ") + 2);
    return outcome;
}

void check_same_solve(const Outcome &a, const Outcome &b) { check_same_bits(without_rank(a), without_rank(b)); }

constexpr int64_t most_iterations = 40;

template <class Real> void set_limit(Rank<Real> &rank) {
    rank.handle.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations);
}

// Solves the problem with one handle that is not a rank.
template <class Configuration> Outcome alone(const Problem &problem) {
    Harness<Configuration> harness(problem, 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations);
    return harness.run();
}

// Returns even and uneven divisions, some of which have ranks without variables.
std::vector<Cut> cuts_at_segments(int64_t n) {
    std::vector<Cut> cuts;
    for (const int ranks : {1, 2, 3, 4, 5, 8}) cuts.push_back(even_cut(n, ranks));
    cuts.push_back(cut_at(n, {1, 0, 7, 3, 0}));
    cuts.push_back(cut_at(n, {0, 20, 0, 0}));
    return cuts;
}

// sqrt(x) for each third variable, whose slope at the bound 0 is infinite, and quadratics in boxes narrower than PGTOL.
Problem with_rare_ends(int64_t n) {
    const auto count = static_cast<std::size_t>(n);
    Problem problem{"rare ends", Vector(count, 5e-7), {}, Vector(count, 0.0), Vector(count, 9e-7)};
    for (std::size_t i = 0; i < count; i += 3) problem.start[i] = 1, problem.upper[i] = 4;
    problem.evaluate = [n](const Vector &x, Vector &g) {
        return pairwise_sum(0, n, [&](int64_t i) {
            const double weight = 1 + static_cast<double>(i % 7), d = 1e7 * x[i] - weight, root = std::sqrt(x[i]);
            g[i] = i % 3 == 0 ? 0.5 / root : 2e7 * weight * d;
            return i % 3 == 0 ? root : weight * d * d;
        });
    };
    return problem;
}

} // namespace

CONFIGURED_TEST_CASE("Ranks cut at segments match one handle bitwise", "[ranks]", HOST_CONFIGURATIONS) {
    for (const Problem &problem :
         {extended_rosenbrock(9000), torsion(60, 59), chained_rosenbrock(20001, 8),
          with_mixed_bounds(extended_wood(8192)), extended_powell(8196), extended_beale(1000)}) {
        const Outcome single = alone<TestType>(problem);
        for (const Cut &cut : cuts_at_segments(problem.size())) {
            INFO(problem.name << " on " << cut.size() << " ranks, the first with " << cut[0].n << " variables");
            check_same_solve(Group<TestType>(problem, cut).prepare(set_limit<typename TestType::Real>).run_as_one(),
                             single);
        }
    }
}

CONFIGURED_TEST_CASE("Ranks match one handle at infinite slopes, in narrow boxes and at limits", "[ranks]",
                     HOST_CONFIGURATIONS) {
    const Problem problem = with_rare_ends(9000);
    for (const int64_t limit : {0, 3, 5}) {
        const auto set = [limit](auto &handle) {
            handle.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-5).set_real(CUDA_OPT_FACTR, 1e7);
            handle.set_int(CUDA_OPT_MAX_EVALUATIONS, limit);
        };
        Harness<TestType> harness(problem, 5);
        set(harness);
        const Outcome single = harness.run();
        CHECK(single.task == (limit == 0 ? CUDA_OPT_CONVERGED : CUDA_OPT_EVALUATION_LIMIT));
        for (const Cut &cut : {even_cut(problem.size(), 3), cut_at(problem.size(), {1, 0, 7, 3, 0})}) {
            INFO("limit " << limit << ", " << cut.size() << " ranks");
            check_same_solve(Group<TestType>(problem, cut).prepare([&](auto &rank) { set(rank.handle); }).run_as_one(),
                             single);
        }
    }
}

CONFIGURED_TEST_CASE("Ranks match one handle bitwise if m is so large that products are updated", "[ranks]",
                     HOST_CONFIGURATIONS) {
    const Problem problem = torsion(60, 59);
    const auto limit = [](auto &rank) {
        rank.handle.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations).set_real(CUDA_OPT_EPS, 0);
    };
    Harness<TestType> harness(problem, 30);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations).set_real(CUDA_OPT_EPS, 0);
    const Outcome single = harness.run();
    CHECK(single.iterations == most_iterations);
    for (const Cut &cut : cuts_at_segments(problem.size())) {
        INFO(cut.size() << " ranks, the first with " << cut[0].n << " variables");
        check_same_solve(Group<TestType>(problem, cut, 30).prepare(limit).run_as_one(), single);
    }
}

CONFIGURED_TEST_CASE("Ranks match one handle bitwise if variables are crossed on any rank", "[ranks][threads]",
                     HostDouble, HostFloat, HostFloat16) {
    const KnownQuadratic quadratic = quadratic_with_many_breakpoints(30000);
    Harness<TestType> harness(quadratic.problem, 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 12);
    const Outcome single = harness.run();
    CHECK(harness.get_int(CUDA_OPT_BREAKPOINTS_CROSSED) > 4096); // one reply holds at most crossed_capacity = 4096
    for (const Cut &cut : cuts_at_segments(quadratic.problem.size())) {
        INFO(cut.size() << " ranks");
        std::vector<int64_t> crossed(cut.size());
        const auto note = [&](auto &rank) { crossed[rank.rank] = rank.handle.get_int(CUDA_OPT_BREAKPOINTS_CROSSED); };
        const auto limit = [](auto &rank) { rank.handle.set_int(CUDA_OPT_MAX_ITERATIONS, 12); };
        check_same_solve(Group<TestType>(quadratic.problem, cut).prepare(limit).before_call(note).run_as_one(), single);
        for (const int64_t count : crossed) CHECK(count == harness.get_int(CUDA_OPT_BREAKPOINTS_CROSSED));
    }
}

CONFIGURED_TEST_CASE("Ranks match one handle bitwise with a given or learned diagonal", "[ranks]", HostDouble,
                     HostFloat) {
    const Problem problem = in_box(scaled_quadratic(9000, 1e6), -1, 1.6);
    const auto inverse_curvature = [](const Vector &x, const Vector &, Vector &diagonal) {
        const auto n = static_cast<int64_t>(x.size());
        for (int64_t i = 0; i < n; i++) diagonal[i] = 1 / scaled_quadratic_curvature(i, n, 1e6);
    };
    Harness<TestType> with_diagonal(problem, 5), learning(problem, 5);
    const Outcome of_diagonal =
        with_diagonal.with_diagonal(inverse_curvature).set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations).run();
    const Outcome of_learned = learning.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED)
                                   .set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations)
                                   .run();
    Harness<TestType> kept(problem, 5);
    const Outcome of_held = kept.with_diagonal(inverse_curvature)
                                .set_int(CUDA_OPT_DIAGONAL_EVERY, 0)
                                .set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations)
                                .run();
    const auto holds = [](auto &rank) {
        set_limit(rank);
        rank.handle.set_int(CUDA_OPT_DIAGONAL_EVERY, 0);
    };
    const auto learns = [](auto &rank) {
        set_limit(rank);
        rank.handle.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
    };
    for (const Cut &cut : cuts_at_segments(problem.size())) {
        INFO(cut.size() << " ranks");
        Group<TestType> group(problem, cut);
        group.prepare(set_limit<typename TestType::Real>).with_diagonal(inverse_curvature);
        check_same_solve(group.run_as_one(), of_diagonal);
        Group<TestType> holding(problem, cut);
        holding.prepare(holds).with_diagonal(inverse_curvature);
        check_same_solve(holding.run_as_one(), of_held);
        const auto read = [](auto &rank) {
            if (rank.handle.diagonal().size() != rank.x.size())
                throw std::runtime_error("the diagonal does not have the size of the rank's part");
        };
        check_same_solve(Group<TestType>(problem, cut).prepare(learns).after_evaluation(read).run_as_one(), of_learned);
    }
}

CONFIGURED_TEST_CASE("Ranks match one handle bitwise if all or some of them have scales", "[ranks]", HostDouble,
                     HostFloat) {
    using Real = typename TestType::Real;
    const Problem problem = with_mixed_bounds(extended_wood(9000));
    for (const bool everywhere : {true, false}) {
        std::vector<Real> scales(problem.start.size());
        for (std::size_t i = 0; i < scales.size(); i++)
            scales[i] = i < 3000 && !everywhere ? Real(1) : static_cast<Real>(1 + 0.3 * static_cast<double>(i % 7));
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, most_iterations);
        REQUIRE(Abi<Real>::set_scales(harness.handle(), scales.data()) == 0);
        const Outcome single = harness.run();
        const auto scale = [&](auto &rank) {
            set_limit(rank);
            const Real *const own = scales.data() + rank.part.first;
            if (std::any_of(own, own + rank.part.n, [](Real s) { return s != 1; })) rank.handle.set_scales(own);
        };
        for (const Cut &cut : cuts_at_segments(problem.size())) {
            INFO(cut.size() << " ranks, scales everywhere: " << everywhere);
            check_same_solve(Group<TestType>(problem, cut).prepare(scale).run_as_one(), single);
        }
    }
}

TEST_CASE("An invalid scale on one rank ends the solve on all ranks", "[ranks]") {
    const Problem problem = extended_wood(9000);
    Vector scales(problem.start.size(), 2.0);
    scales[7000] = -1;
    const auto scale = [&](auto &rank) { rank.handle.set_scales(scales.data() + rank.part.first); };
    const Outcome outcome = Group<HostDouble>(problem, even_cut(problem.size(), 3)).prepare(scale).run_as_one();
    CHECK(outcome.task == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(outcome.message, Catch::Contains("the scale at index 7000 (counted from 0) is -1"));
}

TEST_CASE("Ranks match one rank bitwise if squares of norms overflow or underflow", "[ranks]") {
    for (const double scale : {1e200, 1e-200}) {
        const Problem problem = far_away(9000, scale);
        const auto without_eps = [](auto &rank) {
            set_limit(rank);
            rank.handle.set_real(CUDA_OPT_EPS, 0); // 1e200 is a large ||x||
        };
        Vector norms(8);
        const auto note = [&](auto &rank) {
            norms[rank.rank] = rank.handle.get_real(CUDA_OPT_X_NORM2) * rank.handle.get_real(CUDA_OPT_PG_NORM2);
        };
        // The reference is one rank instead of a handle without ranks. A direction that is not a descent direction
        // occurs here, and it costs a rank one more evaluation, because a rank receives its sums only with the next
        // exchange.
        const Cut one = {{0, problem.size()}};
        const Outcome single = Group<HostDouble>(problem, one).prepare(without_eps).before_call(note).run_as_one();
        const double product = norms[0];
        CHECK(product > 9000); // ||x|| = s sqrt(n) and ||g|| = sqrt(n) / s, each up to a factor of 2
        CHECK(product < 4 * 9000);
        for (const Cut &cut : cuts_at_segments(problem.size())) {
            INFO("scale " << scale << " on " << cut.size() << " ranks");
            norms.assign(8, 0);
            Group<HostDouble> group(problem, cut);
            check_same_solve(group.prepare(without_eps).before_call(note).run_as_one(), single);
            for (std::size_t rank = 0; rank < cut.size(); rank++) CHECK(norms[rank] == product);
        }
    }
}

// In single precision, x + 1e-9 is rounded to x = 1e9, so that the usual first step has no effect. Each rank has to use
// the longer first step, including ranks without variables.
CONFIGURED_TEST_CASE("Ranks converge if x is so large that the usual first step is lost in rounding", "[ranks]",
                     HostDouble, HostFloat) {
    Problem problem = far_away(2000, 1e9);
    problem.upper = Vector(2000, 1e10);
    const auto until_flat = [](auto &rank) {
        set_limit(rank);
        rank.handle.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-15);
    };
    for (const Cut &cut : cuts_at_segments(problem.size())) {
        INFO(cut.size() << " ranks, the first with " << cut[0].n << " variables");
        const Outcome outcome = Group<TestType>(problem, cut).prepare(until_flat).run_as_one();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.f < 1e-10);
    }
}

CONFIGURED_TEST_CASE("Ranks not cut at segments give the same bits in each run and find the minimum",
                     "[ranks][threads]", HostDouble, HostFloat) {
    const KnownQuadratic quadratic = quadratic_with_known_active_set(5000);
    const double tolerance = sizeof(typename TestType::Real) == 8 ? 1e-4 : 1e-2;
    const std::vector<Cut> cuts = {cut_by_sizes(5000, {2500, 2500}), cut_by_sizes(5000, {1, 0, 4998, 1}),
                                   cut_by_sizes(5000, {700, 600, 500, 400, 300, 200, 100, 0}),
                                   // The first part ends at a boundary of segments, but the second does not.
                                   cut_by_sizes(5000, {1280, 1281, 0})};
    for (const Cut &cut : cuts) {
        INFO(cut.size() << " ranks");
        Group<TestType> group(quadratic.problem, cut);
        const Outcome first = group.run_as_one();
        check_same_solve(group.run_as_one(), first);
        CHECK(first.task == CUDA_OPT_CONVERGED);
        for (std::size_t i = 0; i < first.x.size(); i++)
            if (!(std::abs(first.x[i] - quadratic.minimiser[i]) < tolerance)) FAIL("x[" << i << "] = " << first.x[i]);
    }
}

CONFIGURED_TEST_CASE("f per segment gives the same bits on all ranks and f per rank is summed", "[ranks][threads]",
                     HostDouble, HostFloat) {
    const Problem problem = in_box(extended_rosenbrock(9000), -1.5, 0.9);
    const auto term = [](const Vector &x, int64_t i) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        return 100 * a * a + b * b;
    };
    const auto sum = [term](const Vector &x, int64_t begin, int64_t end) {
        double f = 0;
        for (int64_t i = begin; i < end; i += 2) f += term(x, i);
        return f;
    };
    const auto of_rank = [sum](const Vector &x, double, auto &rank) {
        rank.f = {sum(x, rank.part.first, rank.part.first + rank.part.n)};
    };
    const auto of_segments = [sum](const Vector &x, double, auto &rank) {
        const auto n = static_cast<int64_t>(x.size());
        int64_t k = 0;
        std::size_t own = 0;
        while (cuda_opt_segment(n, k) < rank.part.first) k++;
        for (; cuda_opt_segment(n, k) < rank.part.first + rank.part.n; k++)
            rank.f[own++] = sum(x, cuda_opt_segment(n, k), cuda_opt_segment(n, k + 1));
    };
    // There is one element per possible segment. It is allocated before the first call, because the address of f must
    // not change during a solve.
    const auto with_room = [](auto &rank) {
        rank.f.assign(256, 0);
        set_limit(rank);
    };
    const auto by_segments = [&](const Cut &cut) {
        Group<TestType> group(problem, cut);
        return group.prepare(with_room).with_share(CUDA_OPT_F_OF_SEGMENTS, of_segments).run_as_one();
    };
    const Outcome single = by_segments({{0, 9000}});
    for (const Cut &cut : cuts_at_segments(problem.size())) {
        INFO(cut.size() << " ranks");
        check_same_solve(by_segments(cut), single);
        Group<TestType> group(problem, cut);
        const Outcome added = group.with_share(CUDA_OPT_F_OF_RANK, of_rank).run_as_one();
        CHECK(added.task == CUDA_OPT_CONVERGED);
        Vector g(9000);
        // each rank has the f of the whole problem
        CHECK(added.f == Approx(problem.evaluate(added.x, g)).epsilon(1e-12));
    }
}

TEST_CASE("A warm start on ranks matches that of one handle bitwise", "[ranks][threads]") {
    const Problem problem = torsion(60, 59);
    Harness<HostDouble> harness(problem, 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 20);
    const Outcome first = harness.run();
    cuda_opt_warm_start(harness.handle());
    const Outcome second = harness.run();
    for (const int ranks : {1, 2, 3}) {
        // The second solve continues where the first one has ended.
        std::vector<int> ends(ranks);
        const Cut cut = even_cut(problem.size(), ranks);
        run_ranks(ranks, [&](int rank, Meeting &meeting) {
            const RankPart part = cut[rank];
            cudaopt::Minimiser<double> handle(problem.size(), 5, CUDA_OPT_BACKEND_HOST);
            handle.set_ranks(rank, ranks, part.first, part.n);
            handle.set_bounds(problem.lower.data() + part.first, problem.upper.data() + part.first);
            handle.set_int(CUDA_OPT_MAX_ITERATIONS, 20);
            handle.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_WHOLE);
            handle.set_int(CUDA_OPT_THREADS, 1);
            static Vector x, all_g;
            static double whole;
            Vector own(problem.start.begin() + part.first, problem.start.begin() + part.first + part.n), g(own.size());
            double f;
            for (int solve = 0; solve < 2; solve++) {
                int task;
                do {
                    task = handle.solve(own.data(), &f, g.data());
                    if (task == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
                    if (task != CUDA_OPT_EVALUATE_FG) continue;
                    meeting.meet("common arrays", [&] { x.resize(problem.start.size()), all_g.resize(x.size()); });
                    std::copy(own.begin(), own.end(), x.begin() + part.first);
                    meeting.meet("an evaluation", [&] { whole = problem.evaluate(x, all_g); });
                    std::copy(all_g.begin() + part.first, all_g.begin() + part.first + part.n, g.begin());
                    f = whole;
                    meeting.meet("the end of an evaluation", [] {});
                } while (task > 0);
                const Outcome &wanted = solve == 0 ? first : second;
                if (f != wanted.f || !std::equal(own.begin(), own.end(), wanted.x.begin() + part.first) ||
                    handle.get_int(CUDA_OPT_EVALUATIONS) != wanted.evaluations || task != wanted.task)
                    throw std::runtime_error("the result is not bitwise that of one handle in solve " +
                                             std::to_string(solve));
                ends[rank] = task;
                cuda_opt_warm_start(handle);
            }
        });
        CHECK(ends == std::vector<int>(ranks, second.task));
    }
}
