// Solves a problem with ranks that are threads, each with its part of the variables. One thread evaluates f at the
// whole x.
#pragma once

#include "../support/harness.hpp"
#include "meeting.hpp"

namespace cudaopt_test {

struct RankPart {
    int64_t first, n;
};
using Cut = std::vector<RankPart>;

// Returns parts with these numbers of segments. The last part has the remaining variables.
inline Cut cut_at(int64_t n, const std::vector<int64_t> &segments) {
    Cut cut;
    int64_t next = 0;
    for (std::size_t rank = 0; rank < segments.size(); rank++) {
        const int64_t end = rank + 1 == segments.size() ? cuda_opt_segments(n) : next + segments[rank];
        const int64_t from = cuda_opt_segment(n, next);
        cut.push_back({from, cuda_opt_segment(n, end) - from});
        next = end;
    }
    return cut;
}
// Returns parts of whole segments whose sizes are as even as possible.
inline Cut even_cut(int64_t n, int ranks) {
    Cut cut;
    const int64_t segments = cuda_opt_segments(n);
    for (int rank = 0; rank < ranks; rank++) {
        const int64_t from = cuda_opt_segment(n, segments * rank / ranks);
        cut.push_back({from, cuda_opt_segment(n, segments * (rank + 1) / ranks) - from});
    }
    return cut;
}
// Returns parts of these sizes. The last part has the remaining variables.
inline Cut cut_by_sizes(int64_t n, const std::vector<int64_t> &sizes) {
    Cut cut;
    int64_t next = 0;
    for (std::size_t rank = 0; rank < sizes.size(); rank++) {
        const int64_t size = rank + 1 == sizes.size() ? n - next : sizes[rank];
        cut.push_back({next, size});
        next += size;
    }
    return cut;
}

// Returns a problem in which x has this scale and g has its inverse, so that sums of squares overflow or underflow.
inline Problem far_away(int64_t n, double scale) {
    Problem problem;
    problem.name = "squares of numbers out of range";
    for (int64_t i = 0; i < n; i++) problem.start.push_back(scale * (1 + static_cast<double>(i % 17) / 16));
    problem.evaluate = [scale](const Vector &x, Vector &g) {
        for (std::size_t i = 0; i < x.size(); i++) g[i] = x[i] / scale / scale;
        return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) { return x[i] * g[i] / 2; });
    };
    return problem;
}

// Returns a quadratic with curvatures from 1 to 7, for which f is the sum of x_i g_i / 2.
inline Problem half_square(int64_t n) {
    Problem problem;
    problem.name = "half a square";
    for (int64_t i = 0; i < n; i++) problem.start.push_back(1 + static_cast<double>(i % 5));
    problem.evaluate = [](const Vector &x, Vector &g) {
        for (std::size_t i = 0; i < x.size(); i++) g[i] = static_cast<double>(1 + i % 7) * x[i];
        return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) { return x[i] * g[i] / 2; });
    };
    return problem;
}

// The state of one rank, which the functions given to Group may use and change.
template <class Real> struct Rank {
    int rank;
    cudaopt::Minimiser<Real> handle;
    RankPart part;
    std::vector<Real> x, g;
    std::vector<double> f{0}; // one element, or one per segment
    int calls = 0;
};

template <class Configuration> class Group {
  public:
    using Real = typename Configuration::Real;
    using Act = std::function<void(Rank<Real> &)>;
    // Sets the f of a rank. x and f belong to the whole problem.
    using Share = std::function<void(const Vector &x, double f, Rank<Real> &)>;

    Group(Problem problem, Cut cut, int m = 5) : problem_(std::move(problem)), cut_(std::move(cut)), m_(m) {}
    Group &prepare(Act act) {
        prepare_ = std::move(act);
        return *this;
    }
    // The function is called before each call of the solve.
    Group &before_call(Act act) {
        before_call_ = std::move(act);
        return *this;
    }
    Group &after_evaluation(Act act) {
        after_evaluation_ = std::move(act);
        return *this;
    }
    // Sets the value of CUDA_OPT_F_PART, which is CUDA_OPT_F_WHOLE by default, and the function that sets f.
    Group &with_share(int64_t f_part, Share share) {
        f_part_ = f_part;
        share_ = std::move(share);
        return *this;
    }
    Group &with_diagonal(typename Harness<Configuration>::Diagonal diagonal) {
        diagonal_ = std::move(diagonal);
        return *this;
    }

    // Returns the outcome of each rank, with its part of x and g.
    std::vector<Outcome> run() {
        const int ranks = static_cast<int>(cut_.size());
        std::vector<Outcome> outcomes(cut_.size());
        x_ = problem_.start;
        g_.assign(x_.size(), 0);
        h_.assign(x_.size(), 1);
        run_ranks(ranks, [&](int rank, Meeting &meeting) { outcomes[rank] = run_rank(rank, ranks, meeting); });
        return outcomes;
    }
    int64_t exchanges() const { return exchanges_; }
    int64_t bytes() const { return bytes_; }

    // Returns one outcome of all ranks. Checks that the ranks agree in all common results, except for f on the rank
    // that has failed.
    Outcome run_as_one(int failed = -1) {
        const std::vector<Outcome> outcomes = run();
        Outcome whole = outcomes[failed == 0 ? outcomes.size() - 1 : 0];
        whole.x.clear();
        whole.g.clear();
        for (const Outcome &outcome : outcomes) {
            CHECK(outcome.task == whole.task);
            CHECK(outcome.message == whole.message);
            if (failed < 0 || &outcome != &outcomes[static_cast<std::size_t>(failed)])
                CHECK((outcome.f == whole.f || (std::isnan(outcome.f) && std::isnan(whole.f))));
            CHECK(outcome.iterations == whole.iterations);
            CHECK(outcome.evaluations == whole.evaluations);
            CHECK(outcome.outside == 0);
            REQUIRE(outcome.history.size() == whole.history.size());
            for (std::size_t k = 0; k < whole.history.size(); k++) {
                CHECK(outcome.history[k].f == whole.history[k].f);
                CHECK(outcome.history[k].pg_norm2 == whole.history[k].pg_norm2);
            }
            whole.x.insert(whole.x.end(), outcome.x.begin(), outcome.x.end());
            whole.g.insert(whole.g.end(), outcome.g.begin(), outcome.g.end());
        }
        return whole;
    }

  private:
    static Vector slice(const Vector &all, const RankPart &part) {
        if (all.empty()) return all;
        return Vector(all.begin() + part.first, all.begin() + part.first + part.n);
    }
    static std::vector<Real> rounded(const Vector &values) { return std::vector<Real>(values.begin(), values.end()); }

    Outcome run_rank(int rank, int ranks, Meeting &meeting) {
        const RankPart part = cut_[static_cast<std::size_t>(rank)];
        const std::vector<Real> lower = rounded(slice(problem_.lower, part)),
                                upper = rounded(slice(problem_.upper, part));
        std::vector<Real> diagonal(static_cast<std::size_t>(part.n), 1);
        Rank<Real> own{rank, cudaopt::Minimiser<Real>(problem_.size(), m_, Configuration::backend), part,
                       rounded(slice(problem_.start, part)), std::vector<Real>(static_cast<std::size_t>(part.n))};
        cudaopt::Minimiser<Real> &handle = own.handle;
        handle.set_ranks(rank, ranks, part.first, part.n);
        handle.set_int(CUDA_OPT_HISTORY_BITS, Configuration::history_bits);
        handle.set_int(CUDA_OPT_REPORT_ITERATES, 1);
        stop_by_eps(handle);
        handle.set_int(CUDA_OPT_F_PART, f_part_);
        handle.set_int(CUDA_OPT_THREADS, 1);
        if (!problem_.lower.empty() || !problem_.upper.empty())
            handle.set_bounds(problem_.lower.empty() ? nullptr : lower.data(),
                              problem_.upper.empty() ? nullptr : upper.data());
        if (diagonal_) {
            handle.set_diagonal(diagonal.data());
            handle.set_int(CUDA_OPT_DIAGCO, 1);
        }
        if (prepare_) prepare_(own);
        Outcome outcome{};
        do {
            if (++own.calls > 100000) throw std::runtime_error("the solve does not terminate");
            if (before_call_) before_call_(own);
            outcome.task = handle.solve(own.x.data(), own.f.data(), own.g.data());
            if (outcome.task == CUDA_OPT_EXCHANGE) meeting.gather(rank, handle);
            if (outcome.task == CUDA_OPT_EVALUATE_FG) evaluate(own, lower, upper, outcome, meeting);
            if (outcome.task == CUDA_OPT_SUPPLY_DIAGONAL) supply_diagonal(own, diagonal, meeting);
            if (outcome.task == CUDA_OPT_NEW_ITERATE)
                outcome.history.push_back({handle.get_int(CUDA_OPT_ITERATIONS), handle.get_int(CUDA_OPT_EVALUATIONS),
                                           handle.get_real(CUDA_OPT_F), handle.get_real(CUDA_OPT_PG_NORM2),
                                           handle.get_real(CUDA_OPT_PG_NORM_INF), handle.get_real(CUDA_OPT_STEP)});
        } while (outcome.task > 0);
        outcome.message = handle.message();
        outcome.x.assign(own.x.begin(), own.x.end());
        outcome.g.assign(own.g.begin(), own.g.end());
        outcome.f = own.f[0];
        outcome.iterations = handle.get_int(CUDA_OPT_ITERATIONS);
        outcome.evaluations = handle.get_int(CUDA_OPT_EVALUATIONS);
        if (rank == 0) exchanges_ = meeting.exchanges(), bytes_ = meeting.bytes();
        return outcome;
    }

    void evaluate(Rank<Real> &own, const std::vector<Real> &lower, const std::vector<Real> &upper, Outcome &outcome,
                  Meeting &meeting) {
        for (std::size_t i = 0; i < own.x.size(); i++)
            outcome.outside += !(std::isfinite(own.x[i]) && (lower.empty() || lower[i] <= own.x[i]) &&
                                 (upper.empty() || own.x[i] <= upper[i]));
        std::copy(own.x.begin(), own.x.end(), x_.begin() + own.part.first); // its part of the common x
        meeting.meet("an evaluation", [&] { f_ = problem_.evaluate(x_, g_); });
        std::copy(g_.begin() + own.part.first, g_.begin() + own.part.first + own.part.n, own.g.begin());
        if (share_) share_(x_, f_, own);
        else own.f[0] = f_;
        meeting.meet("the end of an evaluation", [] {});
        if (after_evaluation_) after_evaluation_(own);
    }
    void supply_diagonal(Rank<Real> &own, std::vector<Real> &diagonal, Meeting &meeting) {
        std::copy(own.x.begin(), own.x.end(), x_.begin() + own.part.first);
        std::copy(own.g.begin(), own.g.end(), g_.begin() + own.part.first);
        meeting.meet("a diagonal", [&] { diagonal_(x_, g_, h_); });
        std::copy(h_.begin() + own.part.first, h_.begin() + own.part.first + own.part.n, diagonal.begin());
        meeting.meet("the end of a diagonal", [] {});
    }

    const Problem problem_;
    const Cut cut_;
    const int m_;
    Act prepare_, before_call_, after_evaluation_;
    Share share_;
    int64_t f_part_ = CUDA_OPT_F_WHOLE;
    typename Harness<Configuration>::Diagonal diagonal_;
    Vector x_, g_, h_; // for all variables
    double f_ = 0;
    int64_t exchanges_ = 0, bytes_ = 0;
};

} // namespace cudaopt_test
