// Ranks on either backend, with arrays in its memory space: as threads, on CUDA with the devices in turn.
#include <catch2/catch.hpp>

#include "group.hpp"

using namespace cudaopt_test;

namespace {

// Each rank evaluates the whole function on the host.
template <class Configuration> std::vector<Outcome> run_on(const Problem &problem, const Cut &cut) {
    using Real = typename Configuration::Real;
    const int ranks = static_cast<int>(cut.size());
    std::vector<Outcome> outcomes(cut.size());
    Vector x = problem.start;
    run_ranks(ranks, [&](int rank, Meeting &meeting) {
        const RankPart part = cut[static_cast<std::size_t>(rank)];
        const auto slice = [&](const Vector &all) {
            if (all.empty() || part.n == 0) return Vector(all.empty() ? 0 : 1); // there is room for one
            return Vector(all.begin() + part.first, all.begin() + part.first + part.n);
        };
        Handle<Configuration> handle(problem.size(), 5);
        const int64_t room = std::max<int64_t>(1, part.n);
        Array<Real> own_x(handle, room), own_g(handle, room), lower(handle, room), upper(handle, room);
        Array<double> f(handle, 1);
        handle.set_ranks(rank, ranks, part.first, part.n);
        handle.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_WHOLE);
        handle.set_int(CUDA_OPT_MAX_ITERATIONS, 400);
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
            if (outcome.task != CUDA_OPT_EVALUATE_FG) continue;
            const Vector here = own_x.read();
            meeting.meet("its x", [] {});
            std::copy(here.begin(), here.begin() + part.n, x.begin() + part.first);
            meeting.meet("an evaluation", [] {});
            Vector g(x.size());
            f.write({problem.evaluate(x, g)});
            own_g.write(slice(g));
        } while (outcome.task > 0);
        outcome.message = handle.message();
        outcome.x = own_x.read();
        outcome.x.resize(static_cast<std::size_t>(part.n));
        outcome.f = f.read()[0];
        outcome.evaluations = handle.get_int(CUDA_OPT_EVALUATIONS);
    });
    return outcomes;
}

} // namespace

TEMPLATE_TEST_CASE("Ranks on a backend: the same bits on all of them and each time, and the minimum",
                   "[ranks][threads]", HostDouble, HostFloat16, CudaDouble, CudaDouble16, CudaFloat) {
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
                    // A curvature of 1/1000 leaves x_i less certain.
                    if (!(std::abs(first[rank].x[i] - wanted) < 100 * tolerance))
                        FAIL(first[rank].x[i] << " for " << wanted);
                }
            }
        }
}
