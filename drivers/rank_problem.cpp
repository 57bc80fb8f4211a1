#include "rank_problem.hpp"

#include "cuda_opt/ranks.h"
#include "failure.hpp"
#include "testfuncs/bearing.hpp"
#include "testfuncs/host_executor.hpp"
#include "testfuncs/problem.hpp"
#include "testfuncs/torsion.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace driver {
namespace {

using cudaopt::testfuncs::HostExecutor;

// Where the rank's segments begin, counted from its first variable, and where the last one ends.
std::vector<int64_t> own_segments(int64_t n, const RankCut &cut) {
    std::vector<int64_t> begins;
    for (int64_t k = 0; k <= cuda_opt_segments(n); k++) {
        const int64_t begin = cuda_opt_segment(n, k);
        if (cut.first() <= begin && begin <= cut.end()) begins.push_back(begin - cut.first());
    }
    return begins;
}

// A sum over blocks of 2 or 4 variables, which segments do not cut: each segment is a problem of its own.
template <class Real> class Blocks final : public RankProblem<Real> {
  public:
    Blocks(const Options &options, int64_t n, const RankCut &cut)
        : segments_(own_segments(n, cut)), place_{cudaopt::testfuncs::Place::Space::host, options.threads, nullptr} {
        for (std::size_t k = 0; k + 1 < segments_.size(); k++) {
            auto &problem = problem_of_size_[segments_[k + 1] - segments_[k]];
            if (!problem)
                problem = cudaopt::testfuncs::make_problem(options.problem, segments_[k + 1] - segments_[k],
                                                           options.parameters);
        }
    }
    void evaluate(const Real *x, double *f, Real *g) override {
        for (std::size_t k = 0; k + 1 < segments_.size(); k++) {
            const int64_t begin = segments_[k];
            problem_of_size_.at(segments_[k + 1] - begin)->evaluate(x + begin, f + k, g + begin, place_);
        }
    }

  private:
    const std::vector<int64_t> segments_;
    const cudaopt::testfuncs::Place place_;
    std::map<int64_t, std::unique_ptr<cudaopt::testfuncs::Problem>> problem_of_size_;
};

// An energy on a grid, v = 0 around it: a point's share of f and its gradient need a row of points before the rank's
// and one behind them, which belong to others.
template <class Real, class Function> class GridPart final : public RankProblem<Real> {
  public:
    GridPart(const Options &options, const Function &function, const RankCut &cut, MPI_Comm communicator)
        : grid_(function.grid), cut_(cut), communicator_(communicator), threads_(options.threads),
          segments_(own_segments(function.n, cut)), v_(static_cast<std::size_t>(cut.n() + 2 * grid_.nx)) {
        const auto energy = function.energy();
        for (int64_t i = 0; i < grid_.nx; i++) columns_.push_back(energy.column(i));
    }

    void evaluate(const Real *x, double *f, Real *g) override {
        std::copy(x, x + cut_.n(), v_.data() + grid_.nx);
        exchange_halos();
        HostExecutor on(threads_);
        for (std::size_t k = 0; k + 1 < segments_.size(); k++) {
            const int64_t begin = segments_[k];
            const auto point = [&](int64_t p, cudaopt::Sum &share) {
                g[begin + p] = static_cast<Real>(at_point(cut_.first() + begin + p, share));
            };
            on.map_reduce<cudaopt::Sum>(segments_[k + 1] - begin, point, cudaopt::testfuncs::StoreSum{f + k});
        }
    }

  private:
    double value(int64_t i, int64_t j) const {
        const bool inside = 0 <= i && i < grid_.nx && 0 <= j && j < grid_.ny;
        return inside ? static_cast<double>(v_[j * grid_.nx + i - cut_.first() + grid_.nx]) : 0;
    }
    double at_point(int64_t p, cudaopt::Sum &f) const {
        const int64_t i = grid_.column(p), j = grid_.row(p);
        const cudaopt::testfuncs::Neighbourhood around = {value(i, j),        value(i - 1, j), value(i + 1, j),
                                                          value(i, j - 1),    value(i, j + 1), value(i + 1, j - 1),
                                                          value(i - 1, j + 1)};
        const cudaopt::testfuncs::Sides sides = {i == 0, i == grid_.nx - 1, j == 0, j == grid_.ny - 1};
        return columns_[i](sides, around, f);
    }

    struct Range {
        int64_t begin, end;
        int64_t count() const { return std::max<int64_t>(0, end - begin); }
    };
    Range own(int rank) const { return {cut_.begins[rank], cut_.begins[rank + 1]}; }
    // What a rank wants of the others: the row before its part (side 0), or behind it.
    Range halo(int rank, int side) const {
        const Range part = own(rank);
        if (part.count() == 0) return {0, 0};
        return side == 0 ? Range{part.begin - grid_.nx, part.begin} : Range{part.end, part.end + grid_.nx};
    }
    static Range both(const Range &a, const Range &b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }
    Real *place(int64_t point) { return v_.data() + (point - cut_.first() + grid_.nx); }

    void exchange_halos() {
        requests_.clear();
        const auto bytes = [](const Range &range) { return static_cast<int>(range.count() * sizeof(Real)); };
        for (int other = 0; other < cut_.ranks(); other++)
            for (int side = 0; side < 2 && other != cut_.rank; side++) {
                const Range wanted = both(halo(cut_.rank, side), own(other));
                const Range given = both(halo(other, side), own(cut_.rank));
                if (wanted.count() > 0)
                    MPI_Irecv(place(wanted.begin), bytes(wanted), MPI_BYTE, other, side, communicator_, request());
                if (given.count() > 0)
                    MPI_Isend(place(given.begin), bytes(given), MPI_BYTE, other, side, communicator_, request());
            }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Request *request() {
        requests_.push_back(MPI_REQUEST_NULL);
        return &requests_.back();
    }

    const cudaopt::testfuncs::Grid grid_;
    const RankCut cut_;
    const MPI_Comm communicator_;
    const int threads_;
    const std::vector<int64_t> segments_;
    std::vector<Real> v_; // the rank's points, between the rows before and behind them
    std::vector<std::decay_t<decltype(std::declval<Function>().energy().column(0))>> columns_;
    std::vector<MPI_Request> requests_;
};

} // namespace

RankCut cut_at_segments(int64_t n, int rank, int ranks) {
    RankCut cut{rank, {}};
    for (int r = 0; r <= ranks; r++) cut.begins.push_back(cuda_opt_segment(n, cuda_opt_segments(n) * r / ranks));
    return cut;
}

template <class Real>
std::unique_ptr<RankProblem<Real>> make_rank_problem(const Options &options, int64_t n, const RankCut &cut,
                                                     MPI_Comm communicator) {
    using cudaopt::testfuncs::Bearing;
    using cudaopt::testfuncs::Torsion;
    const std::string &name = options.problem;
    for (const char *blocks : {"rosenbrock", "powell", "wood", "beale"})
        if (name == blocks) return std::make_unique<Blocks<Real>>(options, n, cut);
    const auto on_grid = [&](const auto &function) -> std::unique_ptr<RankProblem<Real>> {
        using Function = std::decay_t<decltype(function)>;
        return std::make_unique<GridPart<Real, Function>>(options, function, cut, communicator);
    };
    const auto parameters = [&](const auto &facts) { return complete(facts.parameters, options.parameters); };
    if (name == "torsion") return on_grid(Torsion(n, parameters(Torsion::facts())));
    if (name == "bearing") return on_grid(Bearing(n, parameters(Bearing::facts())));
    throw Failure(exit_usage, "ranks have no problem '" + name +
                                  "'; they have rosenbrock, powell, wood, beale, torsion and bearing");
}

template std::unique_ptr<RankProblem<double>> make_rank_problem(const Options &, int64_t, const RankCut &, MPI_Comm);
template std::unique_ptr<RankProblem<float>> make_rank_problem(const Options &, int64_t, const RankCut &, MPI_Comm);

} // namespace driver
