#include "rank_problem.hpp"

#include "cuda_opt/ranks.h"
#include "failure.hpp"
#include "rank_points.hpp"
#include "testfuncs/host_executor.hpp"
#include "testfuncs/problem.hpp"

#ifdef OMPI_MAJOR_VERSION
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace driver {
namespace {

using cudaopt::testfuncs::HostExecutor;
using cudaopt::testfuncs::Place;

// Returns the first variable of each of the rank's segments, relative to the rank's first variable, and the end of the
// last segment. A segment is a range of variables whose contribution to f is summed separately.
std::vector<int64_t> own_segments(int64_t n, const RankCut &cut) {
    std::vector<int64_t> begins;
    for (int64_t k = 0; k <= cuda_opt_segments(n); k++) {
        const int64_t begin = cuda_opt_segment(n, k);
        if (cut.first() <= begin && begin <= cut.end()) begins.push_back(begin - cut.first());
    }
    return begins;
}

// A function that is a sum over groups of 2 or 4 consecutive variables. A segment consists of whole groups. Therefore
// its contribution to f is evaluated as a test problem of its own, whose variables are those of the segment.
template <class Real> class Blocks final : public RankProblem<Real> {
  public:
    Blocks(const Options &options, int64_t n, bool on_cuda, const RankCut &cut)
        : segments_(own_segments(n, cut)), place_{on_cuda ? Place::Space::cuda : Place::Space::host, options.threads,
                                                  nullptr} {
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
    const Place place_;
    std::map<int64_t, std::unique_ptr<cudaopt::testfuncs::Problem>> problem_of_size_;
};

template <class Real, class Column> class HostPoints final : public RankPoints<Real> {
  public:
    HostPoints(const Grid &grid, std::vector<Column> columns, int64_t first, std::vector<int64_t> segments, int threads)
        : grid_(grid), columns_(std::move(columns)), first_(first), segments_(std::move(segments)), threads_(threads),
          values_(static_cast<std::size_t>(segments_.back() + 2 * grid.nx)) {}

    Real *values() override { return values_.data(); }
    void take(const Real *x) override { std::copy(x, x + segments_.back(), values_.data() + grid_.nx); }
    void evaluate(double *f, Real *g) override {
        HostExecutor on(threads_);
        for (std::size_t k = 0; k + 1 < segments_.size(); k++) {
            const int64_t begin = segments_[k];
            const PointEnergy<Real, Column> point{grid_,  columns_.data(), values_.data(),
                                                  first_, first_ + begin,  g + begin};
            on.map_reduce<cudaopt::Sum>(segments_[k + 1] - begin, point, cudaopt::testfuncs::StoreSum{f + k});
        }
    }

  private:
    const Grid grid_;
    const std::vector<Column> columns_;
    const int64_t first_;
    const std::vector<int64_t> segments_;
    const int threads_;
    std::vector<Real> values_;
};

// Returns whether MPI accepts pointers to device memory (CUDA-aware MPI).
bool knows_device_memory() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

// An energy on a grid, of which each rank evaluates some points.
//
// The contributions of these points to f and the gradient also depend on the grid row before them and on the row after
// them, which other ranks store. On CUDA these rows are copied between device memories if MPI supports that, and
// otherwise via pinned host memory.
template <class Real> class GridPart final : public RankProblem<Real> {
  public:
    GridPart(std::unique_ptr<RankPoints<Real>> points, int64_t nx, bool on_cuda, const RankCut &cut,
             MPI_Comm communicator)
        : points_(std::move(points)), nx_(nx), cut_(cut), communicator_(communicator) {
        int64_t staged = 0;
        for (int other = 0; other < cut_.ranks(); other++)
            for (int side = 0; side < 2 && other != cut_.rank; side++) {
                const auto add = [&](const Range &range, bool wanted) {
                    if (range.count() == 0) return;
                    messages_.push_back({other, side, wanted, range.begin - cut_.first() + nx_, range.count(), staged});
                    staged += range.count();
                };
                add(both(halo(cut_.rank, side), own(other)), true);
                add(both(halo(other, side), own(cut_.rank)), false);
            }
        if (on_cuda && !knows_device_memory()) staging_ = points_->staging(staged);
    }

    void evaluate(const Real *x, double *f, Real *g) override {
        points_->take(x);
        exchange_halos();
        points_->evaluate(f, g);
    }

  private:
    struct Range {
        int64_t begin, end;
        int64_t count() const { return std::max<int64_t>(0, end - begin); }
    };
    struct Message {
        int other, side;
        // `wanted` is true if this rank receives the values of the message, and false if it sends them.
        bool wanted;
        // The number of values, the index of the first of them in values(), and its index in the pinned host memory, if
        // that is used.
        int64_t at, count, staged;
    };
    Range own(int rank) const { return {cut_.begins[rank], cut_.begins[rank + 1]}; }
    // Returns the range of grid points that a rank needs from other ranks: the grid row before its points (side 0) or
    // the row after them (side 1).
    Range halo(int rank, int side) const {
        const Range part = own(rank);
        if (part.count() == 0) return {0, 0};
        return side == 0 ? Range{part.begin - nx_, part.begin} : Range{part.end, part.end + nx_};
    }
    static Range both(const Range &a, const Range &b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

    void exchange_halos() {
        for (const Message &message : messages_)
            if (staging_ && !message.wanted) points_->copy_out(staging_ + message.staged, message.at, message.count);
        points_->finish();
        std::vector<MPI_Request> requests(messages_.size());
        for (std::size_t k = 0; k < messages_.size(); k++) {
            const Message &message = messages_[k];
            Real *const place = staging_ ? staging_ + message.staged : points_->values() + message.at;
            const int bytes = static_cast<int>(message.count * static_cast<int64_t>(sizeof(Real)));
            if (message.wanted)
                MPI_Irecv(place, bytes, MPI_BYTE, message.other, message.side, communicator_, &requests[k]);
            else MPI_Isend(place, bytes, MPI_BYTE, message.other, message.side, communicator_, &requests[k]);
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (const Message &message : messages_)
            if (staging_ && message.wanted) points_->copy_in(message.at, staging_ + message.staged, message.count);
    }

    const std::unique_ptr<RankPoints<Real>> points_;
    const int64_t nx_;
    const RankCut cut_;
    const MPI_Comm communicator_;
    std::vector<Message> messages_;
    Real *staging_ = nullptr;
};

} // namespace

RankCut cut_at_segments(int64_t n, int rank, int ranks) {
    RankCut cut{rank, {}};
    for (int r = 0; r <= ranks; r++) cut.begins.push_back(cuda_opt_segment(n, cuda_opt_segments(n) * r / ranks));
    return cut;
}

template <class Real>
std::unique_ptr<RankProblem<Real>> make_rank_problem(const Options &options, int64_t n, bool on_cuda,
                                                     const RankCut &cut, MPI_Comm communicator) {
    using cudaopt::testfuncs::Bearing;
    using cudaopt::testfuncs::Torsion;
    const std::string &name = options.problem;
    for (const char *blocks : {"rosenbrock", "powell", "wood", "beale"})
        if (name == blocks) return std::make_unique<Blocks<Real>>(options, n, on_cuda, cut);
    const auto on_grid = [&](const auto &function) -> std::unique_ptr<RankProblem<Real>> {
        const std::vector<int64_t> segments = own_segments(n, cut);
        std::unique_ptr<RankPoints<Real>> points;
        if (on_cuda) {
            points = make_cuda_points<Real>(function, cut.first(), segments);
        } else {
            auto columns = columns_of(function);
            using Column = typename decltype(columns)::value_type;
            points = std::make_unique<HostPoints<Real, Column>>(function.grid, std::move(columns), cut.first(),
                                                                segments, options.threads);
        }
        return std::make_unique<GridPart<Real>>(std::move(points), function.grid.nx, on_cuda, cut, communicator);
    };
    const auto parameters = [&](const auto &facts) { return complete(facts.parameters, options.parameters); };
    if (name == "torsion") return on_grid(Torsion(n, parameters(Torsion::facts())));
    if (name == "bearing") return on_grid(Bearing(n, parameters(Bearing::facts())));
    throw Failure(exit_usage, "ranks have no problem '" + name +
                                  "'; they have rosenbrock, powell, wood, beale, torsion and bearing");
}

template std::unique_ptr<RankProblem<double>> make_rank_problem(const Options &, int64_t, bool, const RankCut &,
                                                                MPI_Comm);
template std::unique_ptr<RankProblem<float>> make_rank_problem(const Options &, int64_t, bool, const RankCut &,
                                                               MPI_Comm);

} // namespace driver
