// Any failure on one rank ends the solve on all ranks with the same return code and message. The other ranks return the
// best iterate.
#include <catch2/catch.hpp>
#include <limits>

#include "group.hpp"

using namespace cudaopt_test;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr int ranks = 4;

Problem torsion_problem() { return torsion(40, 40); }
bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

// Checks the return code and message. run_as_one() has checked that they are the same on all ranks.
void check_end(const Outcome &outcome, int task, const std::string &words) {
    INFO(outcome.message);
    CHECK(outcome.task == task);
    CHECK(contains(outcome.message, words));
}
std::string name_of(int rank) { return "rank " + std::to_string(rank) + ": "; }

using DoubleRank = Rank<double>;
using Run = Group<HostDouble>;

// Runs a solve with ranks that prepare() has set up. Input that a single handle would refuse is refused on all ranks.
Outcome run_prepared(const std::function<void(DoubleRank &)> &prepare, Cut cut = {}, int failed = -1) {
    const Problem problem = torsion_problem();
    if (cut.empty()) cut = even_cut(problem.size(), ranks);
    return Run(problem, cut).prepare(prepare).run_as_one(failed);
}

} // namespace

TEST_CASE("All ranks reduce the step if f or g is NaN on one rank", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    for (int bad = 0; bad < ranks; bad++)
        for (const bool in_gradient : {false, true}) {
            INFO("rank " << bad << ", in g: " << in_gradient);
            // f or g is NaN only in the third evaluation.
            const auto spoil = [&](DoubleRank &rank) {
                if (rank.rank != bad || rank.handle.get_int(CUDA_OPT_EVALUATIONS) != 3) return;
                (in_gradient ? rank.g[0] : rank.f[0]) = no_number;
            };
            std::vector<int64_t> cuts(ranks);
            const auto note = [&](DoubleRank &rank) { cuts[rank.rank] = rank.handle.get_int(CUDA_OPT_CUTS); };
            const Outcome outcome =
                Run(problem, even_cut(problem.size(), ranks)).after_evaluation(spoil).before_call(note).run_as_one();
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(cuts == std::vector<int64_t>(ranks, 1));
        }
}

TEST_CASE("The solve ends on all ranks if f remains NaN on one rank", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    for (int bad = 0; bad < ranks; bad++)
        for (const int64_t from : {1, 3}) {
            const auto spoil = [&](DoubleRank &rank) {
                if (rank.rank == bad && rank.handle.get_int(CUDA_OPT_EVALUATIONS) >= from) rank.f[0] = no_number;
            };
            const Outcome outcome = Run(problem, even_cut(problem.size(), ranks)).after_evaluation(spoil).run_as_one();
            check_end(outcome, CUDA_OPT_NOT_FINITE, name_of(bad) + "f");
            CHECK(std::isnan(outcome.f) == (from == 1));
        }
}

// Each rank may choose whether it reports iterates, so a rank must not stop at a task that the other ranks do not have.
// After an iterate these continue to the breakpoints, and a rank that has stopped would not join that exchange.
TEST_CASE("A stop ends all ranks at the same iterate even if only some report iterates", "[ranks][threads]") {
    const Problem problem = quadratic_with_many_breakpoints(600).problem;
    for (int calls = 1; calls <= 60; calls++) {
        INFO("stop requested before call " << calls);
        const std::vector<Outcome> outcomes = Group<HostDouble>(problem, even_cut(problem.size(), 2))
                                                  .prepare([](Rank<double> &rank) {
                                                      rank.handle.set_int(CUDA_OPT_REPORT_ITERATES, rank.rank);
                                                      rank.handle.set_int(CUDA_OPT_MAX_ITERATIONS, 15);
                                                  })
                                                  .before_call([&](Rank<double> &rank) {
                                                      if (rank.rank == 0 && rank.calls == calls)
                                                          cuda_opt_request_stop(rank.handle);
                                                  })
                                                  .run();
        CHECK(outcomes[0].task == outcomes[1].task);
        CHECK(outcomes[0].message == outcomes[1].message);
        CHECK(outcomes[0].f == outcomes[1].f);
        CHECK(outcomes[0].iterations == outcomes[1].iterations);
        CHECK((outcomes[0].task == CUDA_OPT_STOPPED || calls > 30));
    }
}

TEST_CASE("A stop request on one rank or the time limit ends the solve on all ranks", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    for (int asking = 0; asking < ranks; asking++)
        for (const int calls : {0, 1, 2, 3, 17, 18}) {
            INFO("call " << calls);
            const auto ask = [&](DoubleRank &rank) {
                if (rank.rank == asking && rank.calls == calls + 1) cuda_opt_request_stop(rank.handle);
            };
            const Outcome outcome = Run(problem, even_cut(problem.size(), ranks)).before_call(ask).run_as_one();
            check_end(outcome, CUDA_OPT_STOPPED, name_of(asking) + "stopped by the caller");
            Vector g(outcome.x.size());
            if (outcome.iterations > 0) CHECK(outcome.f == problem.evaluate(outcome.x, g));
        }
    const auto no_time = [](DoubleRank &rank) { rank.handle.set_real(CUDA_OPT_MAX_SECONDS, 1e-9); };
    check_end(run_prepared(no_time), CUDA_OPT_TIME_LIMIT, "the limit of 1e-09 seconds is reached");
}

TEST_CASE("A changed address of x on one rank ends the solve on all ranks", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    std::vector<double> other(static_cast<std::size_t>(problem.size()));
    for (int bad = 0; bad < ranks; bad++)
        for (const int calls : {1, 2, 3, 4, 20, 21}) {
            INFO("rank " << bad << ", call " << calls);
            // The group passes rank.x to the solve, so this changes the address of x.
            const auto move = [&](DoubleRank &rank) {
                if (rank.rank == bad && rank.calls == calls)
                    rank.x = std::vector<double>(rank.x), rank.x.reserve(rank.x.size() + 1000);
            };
            // Before the first call, the address may still change.
            const Outcome outcome = Run(problem, even_cut(problem.size(), ranks)).before_call(move).run_as_one(bad);
            if (calls == 1) CHECK(outcome.task == CUDA_OPT_CONVERGED);
            else check_end(outcome, CUDA_OPT_MISUSE, name_of(bad) + "x, f and g have to be the same");
        }
}

TEST_CASE("A workspace that one rank cannot allocate ends the solve on all ranks", "[ranks][threads]") {
    constexpr int64_t n = int64_t{1} << 61;
    for (const int large : {0, 1}) {
        std::string messages[2];
        int codes[2];
        run_ranks(2, [&](int rank, Meeting &meeting) {
            cudaopt::Minimiser<double> handle(n, 5, CUDA_OPT_BACKEND_HOST);
            // The arrays are smaller than the large part. They are not read, because the workspace is allocated first.
            const int64_t small = 10, first = rank == 0 ? 0 : large == 0 ? n - small : small;
            handle.set_ranks(rank, 2, first, rank == large ? n - small : small);
            double x[small] = {}, g[small], f;
            int task;
            while ((task = handle.solve(x, &f, g)) == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            codes[rank] = task;
            messages[rank] = handle.message();
        });
        CHECK(codes[0] == CUDA_OPT_OUT_OF_MEMORY);
        CHECK(codes[1] == CUDA_OPT_OUT_OF_MEMORY);
        CHECK(contains(messages[0], name_of(large) + "out of memory"));
        CHECK(messages[0] == messages[1]);
    }
}

TEST_CASE("An exception from the log callback of one rank ends the solve on all ranks", "[ranks][threads]") {
    for (int bad = 0; bad < ranks; bad++) {
        const auto log = [&](DoubleRank &rank) {
            if (rank.rank != bad) return;
            rank.handle.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1);
            cuda_opt_set_log(
                rank.handle, [](void *, const char *) { throw 1; }, nullptr);
        };
        check_end(run_prepared(log, {}, bad), CUDA_OPT_MISUSE, name_of(bad) + "a function of the caller's has thrown");
    }
}

TEST_CASE("A failed exchange ends the solve with its reason and f of the best iterate", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    for (const int64_t fails_at : {0, 1, 2, 9}) {
        const Cut cut = even_cut(problem.size(), 2);
        run_ranks(2, [&](int rank, Meeting &meeting) {
            cudaopt::Minimiser<double> handle(problem.size(), 5, CUDA_OPT_BACKEND_HOST);
            handle.set_ranks(rank, 2, cut[rank].first, cut[rank].n);
            Vector x(static_cast<std::size_t>(cut[rank].n), 1), g(x.size());
            double f;
            int64_t exchanges = 0;
            for (int task = 1; task > 0;) {
                task = handle.solve(x.data(), &f, g.data());
                if (task == CUDA_OPT_EVALUATE_FG) {
                    f = 0;
                    for (std::size_t i = 0; i < x.size(); i++) {
                        g[i] = static_cast<double>(i + 1) * x[i] * x[i] * x[i];
                        f += g[i] * x[i] / 4;
                    }
                }
                if (task != CUDA_OPT_EXCHANGE) continue;
                if (exchanges++ < fails_at) {
                    meeting.gather(rank, handle);
                    continue;
                }
                task = cuda_opt_gather_failed(handle, "the cable is cut");
                if (task != CUDA_OPT_EXCHANGE_FAILED || !contains(handle.message(), "failed: the cable is cut"))
                    throw std::runtime_error(handle.message());
                if (fails_at == 9 && f != handle.get_real(CUDA_OPT_F))
                    throw std::runtime_error("f is not that of the best iterate");
            }
        });
    }
}

TEST_CASE("All ranks report an invalid start or bound or diagonal on one rank", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    const Cut cut = even_cut(problem.size(), ranks);
    for (int bad = 0; bad < ranks; bad++) {
        const std::string index = "at index " + std::to_string(cut[bad].first + 5) + " (counted from 0) of 1600";
        const auto spoil_start = [&](DoubleRank &rank) {
            if (rank.rank == bad) rank.x[5] = no_number;
        };
        check_end(run_prepared(spoil_start), CUDA_OPT_IMPROPER_INPUT,
                  name_of(bad) + "the start x is NaN or infinite " + index);
        Problem crossed = problem;
        crossed.lower[static_cast<std::size_t>(cut[bad].first) + 5] = 7;
        for (double &x : crossed.start) x += 5; // outside the box
        const Outcome refused = Run(crossed, cut).run_as_one();
        check_end(refused, CUDA_OPT_IMPROPER_INPUT, index + ": l = 7");
        CHECK(refused.x == crossed.start);
        const auto bad_diagonal = [&](const Vector &, const Vector &, Vector &h) {
            std::fill(h.begin(), h.end(), 1.0);
            h[static_cast<std::size_t>(cut[bad].first) + 5] = -1;
        };
        check_end(Run(problem, cut).with_diagonal(bad_diagonal).run_as_one(), CUDA_OPT_BAD_DIAGONAL, name_of(bad));
    }
}

TEST_CASE("All ranks refuse settings or parts that are inconsistent between ranks", "[ranks][threads]") {
    const int64_t n = torsion_problem().size();
    for (int other = 1; other < ranks; other++) {
        INFO("rank " << other);
        const auto setting = [&](const auto &change) {
            return run_prepared([&](DoubleRank &rank) {
                if (rank.rank == other) change(rank.handle);
            });
        };
        const std::string has = "rank " + std::to_string(other) + " has ";
        check_end(setting([](auto &s) { s.set_real(CUDA_OPT_EPS, 0.25); }), CUDA_OPT_IMPROPER_INPUT,
                  has + "CUDA_OPT_EPS 0.25, but rank 0 has 1.0000000000000001e-05");
        check_end(setting([](auto &s) { s.set_int(CUDA_OPT_HISTORY_BITS, 16); }), CUDA_OPT_IMPROPER_INPUT,
                  has + "CUDA_OPT_HISTORY_BITS 16, but rank 0 has 64");
        check_end(setting([](auto &s) { s.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_RANK); }), CUDA_OPT_IMPROPER_INPUT,
                  has + "CUDA_OPT_F_PART 0, but rank 0 has 2");

        Cut overlapping = even_cut(n, ranks), gap = overlapping, short_of = overlapping;
        overlapping[other].first--, overlapping[other].n++;
        gap[other].first++, gap[other].n--;
        short_of[ranks - 1].n -= 3;
        // Variables that belong to no rank or to two ranks are not read before the first exchange.
        for (const Cut &cut : {overlapping, gap})
            check_end(run_prepared({}, cut), CUDA_OPT_IMPROPER_INPUT,
                      "that of rank " + std::to_string(other) + " begins at variable " +
                          std::to_string(cut[other].first));
        check_end(run_prepared({}, short_of), CUDA_OPT_IMPROPER_INPUT,
                  "the parts of the 4 ranks have 1597 variables in all, but n is 1600");
    }
    const auto of_segments = [](DoubleRank &rank) { rank.handle.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_SEGMENTS); };
    check_end(run_prepared(of_segments, cut_by_sizes(n, {128, 100, n})), CUDA_OPT_IMPROPER_INPUT,
              "part of rank 1 does not");
}

TEST_CASE("Settings that affect the iterates are compared between ranks and others are not", "[ranks][threads]") {
    const std::vector<std::pair<int, int64_t>> integers = {
        {CUDA_OPT_MAX_ITERATIONS, 7}, {CUDA_OPT_MAX_EVALUATIONS, 7}, {CUDA_OPT_MAXFEV, 7},
        {CUDA_OPT_MAX_CUTS, 7},       {CUDA_OPT_METRIC, 2},          {CUDA_OPT_DIAGONAL_EVERY, 7},
        {CUDA_OPT_HISTORY_BITS, 16},  {CUDA_OPT_PRODUCT_BITS, 32},   {CUDA_OPT_APPROXIMATE_CAUCHY, 1},
        {CUDA_OPT_ROBUST, 0},         {CUDA_OPT_NOISE_AUTO, 1},      {CUDA_OPT_F_PART, CUDA_OPT_F_OF_RANK}};
    const std::vector<std::pair<int, double>> reals = {
        {CUDA_OPT_EPS, 0.25},         {CUDA_OPT_PGTOL, 0.25},         {CUDA_OPT_FACTR, 0.25},
        {CUDA_OPT_F_TARGET, -1e9},    {CUDA_OPT_GTOL, 0.25},          {CUDA_OPT_FTOL, 0.25},
        {CUDA_OPT_XTOL, 0.25},        {CUDA_OPT_STPMIN, 0.25},        {CUDA_OPT_STPMAX, 4},
        {CUDA_OPT_MAX_SECONDS, 1e6},  {CUDA_OPT_RELATIVE_GTOL, 0.25}, {CUDA_OPT_ROUNDING, 0.25},
        {CUDA_OPT_F_UNBOUNDED, -1e9}, {CUDA_OPT_NOISE, 0.25},         {CUDA_OPT_NOISE_ABS, 0.25}};
    const auto refused = [](int key, const auto &change) {
        INFO("key " << key);
        check_end(run_prepared([&](DoubleRank &rank) {
                      if (rank.rank == 2) change(rank.handle);
                  }),
                  CUDA_OPT_IMPROPER_INPUT, "rank 2 has CUDA_OPT_");
    };
    for (const auto &[key, value] : integers)
        refused(key, [key = key, value = value](auto &handle) { handle.set_int(key, value); });
    for (const auto &[key, value] : reals)
        refused(key, [key = key, value = value](auto &handle) { handle.set_real(key, value); });
    const auto own = [](DoubleRank &rank) {
        rank.handle.set_int(CUDA_OPT_THREADS, rank.rank + 1).set_int(CUDA_OPT_TIMED, rank.rank % 2);
        rank.handle.set_int(CUDA_OPT_IPRINT_FREQUENCY, rank.rank).set_int(CUDA_OPT_IPRINT_TYPE, rank.rank);
    };
    check_end(run_prepared(own), CUDA_OPT_CONVERGED, "converged");
}

TEST_CASE("All ranks refuse a different n or m or precision or order of ranks", "[ranks][threads]") {
    struct SetUp {
        int rank;
        int64_t n;
        int m;
    };
    const auto run = [](const std::function<SetUp(int)> &set_up, const std::string &words) {
        std::string messages[3];
        int codes[3];
        run_ranks(3, [&](int rank, Meeting &meeting) {
            const SetUp own = set_up(rank);
            cudaopt::Minimiser<double> handle(own.n, own.m, CUDA_OPT_BACKEND_HOST);
            handle.set_ranks(own.rank, 3, 10 * rank, 10);
            double x[10] = {}, g[10], f;
            while ((codes[rank] = handle.solve(x, &f, g)) == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            messages[rank] = handle.message();
        });
        for (int rank = 0; rank < 3; rank++) {
            INFO(messages[rank]);
            CHECK((codes[rank] == CUDA_OPT_IMPROPER_INPUT || codes[rank] == CUDA_OPT_MISUSE));
            CHECK(messages[rank] == messages[0]);
            CHECK(contains(messages[rank], words));
        }
    };
    run([](int rank) { return SetUp{rank, rank == 2 ? 31 : 30, 5}; }, "rank 2 has n = 31, but rank 0 has 30");
    run([](int rank) { return SetUp{rank, 30, rank == 1 ? 6 : 5}; }, "rank 1 has m = 6, but rank 0 has 5");
    run(
        [](int rank) {
            return SetUp{rank == 0 ? 0 : 3 - rank, 30, 5};
        },
        "the packet of rank 2 was received in place 1");

    std::string messages[2];
    run_ranks(2, [&](int rank, Meeting &meeting) {
        double f;
        if (rank == 0) {
            cudaopt::Minimiser<double> handle(20, 5, CUDA_OPT_BACKEND_HOST);
            handle.set_ranks(0, 2, 0, 10);
            double x[10] = {}, g[10];
            while (handle.solve(x, &f, g) == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            messages[0] = handle.message();
        } else {
            cudaopt::Minimiser<float> handle(20, 5, CUDA_OPT_BACKEND_HOST);
            handle.set_ranks(1, 2, 10, 10);
            float x[10] = {}, g[10];
            while (handle.solve(x, &f, g) == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            messages[1] = handle.message();
        }
    });
    CHECK(contains(messages[0], "rank 1 has a precision, in bits, of 32, but rank 0 has 64"));
    CHECK(messages[0] == messages[1]);
}

TEST_CASE("A setting that one rank changes during a solve ends it on all ranks", "[ranks][threads]") {
    const Problem problem = torsion_problem();
    const auto zeros = [](DoubleRank &rank) { // 0 and -0 are equal
        rank.handle.set_real(CUDA_OPT_EPS, rank.rank == 2 ? -0.0 : 0.0).set_int(CUDA_OPT_MAX_ITERATIONS, 5);
    };
    check_end(run_prepared(zeros), CUDA_OPT_ITERATION_LIMIT, "5 iterations");
    const auto change = [](DoubleRank &rank) {
        if (rank.rank == 2 && rank.handle.get_int(CUDA_OPT_EVALUATIONS) == 4) rank.handle.set_real(CUDA_OPT_GTOL, 0.5);
    };
    check_end(Run(problem, even_cut(problem.size(), ranks)).after_evaluation(change).run_as_one(), CUDA_OPT_MISUSE,
              "the settings of rank 2 have been changed during the solve");
}
