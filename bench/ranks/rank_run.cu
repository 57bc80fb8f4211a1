#include "rank_run.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cuda_opt.hpp"
#include "testfuncs/cuda_executor.cuh"
#include "testfuncs/problem.hpp"
#include "testfuncs/torsion.hpp"
#ifdef BENCH_WITH_NCCL
#include "cuda_opt/nccl.h"
#endif

namespace cudaopt::bench {
namespace {

using testfuncs::Torsion;

void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

// Torsion's energy on a run of whole rows; the rows beyond its ends are other ranks', or the boundary.
struct PartEnergy {
    struct Column {
        testfuncs::EdgeColumn<testfuncs::LinearNode> edges;
        bool first_part;
        CUDA_OPT_HD void enter(const testfuncs::Neighbourhood &) {}
        CUDA_OPT_HD double operator()(testfuncs::Sides sides, const testfuncs::Neighbourhood &v, Sum &f) const {
            sides.lowest = sides.lowest && first_part; // elsewhere the edge downwards is the other rank's
            return edges(sides, v, f);
        }
    };
    Torsion::Energy whole;
    const double *below, *above; // NULL: the boundary
    int64_t nx;

    CUDA_OPT_HD double boundary(int64_t i, int64_t j) const {
        if (i < 0 || i >= nx) return 0;
        const double *const row = j < 0 ? below : above;
        return row ? row[i] : 0;
    }
    CUDA_OPT_HD Column column(int64_t i) const { return {whole.column(i), below == nullptr}; }
};

// Where the threads meet, without sleep: an exchange takes a few microseconds.
class Meeting {
  public:
    explicit Meeting(int ranks) : ranks_(ranks), sends_(ranks), edges_(ranks) {}

    void wait() {
        const int round = round_.load();
        if (here_.fetch_add(1) + 1 == ranks_) {
            here_ = 0;
            round_++;
        } else {
            while (round_.load() == round)
                if (broken_) throw std::runtime_error("another rank has failed");
        }
    }
    void gather(int rank, cuda_opt *s) {
        void *send, *receive;
        int64_t bytes;
        if (cuda_opt_gather(s, &send, &receive, &bytes) != 0) throw std::runtime_error(cuda_opt_message(s));
        sends_[rank] = send;
        wait();
        for (int from = 0; from < ranks_; from++)
            std::memcpy(static_cast<char *>(receive) + from * bytes, sends_[from], static_cast<std::size_t>(bytes));
        wait();
    }
    // Each rank's x, and where its last row stands.
    struct Edges {
        const double *first, *last;
        int device;
    };
    Edges &edges(int rank) { return edges_[rank]; }
    void break_up() { broken_ = true; }
    void add_to_hash(uint64_t share) { hash_ += share; }
    uint64_t hash() const { return hash_; }

  private:
    const int ranks_;
    std::vector<void *> sends_;
    std::vector<Edges> edges_;
    std::atomic<int> here_{0}, round_{0};
    std::atomic<bool> broken_{false};
    std::atomic<uint64_t> hash_{0};
};

// Of elements of x, the first of which has this number: a sum, so that it does not matter who has which.
uint64_t hash_of(const std::vector<double> &x, int64_t first) {
    uint64_t sum = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
        uint64_t v;
        std::memcpy(&v, &x[i], sizeof v);
        v += static_cast<uint64_t>(first + static_cast<int64_t>(i)) * 0x9e3779b97f4a7c15u;
        v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u; // SplitMix64
        v = (v ^ v >> 27) * 0x94d049bb133111ebu;
        sum += v ^ v >> 31;
    }
    return sum;
}

class RankOfRun {
  public:
    RankOfRun(const RankRunOptions &options, int rank, int device, Meeting &meeting, void *communicator)
        : o_(options), rank_(rank), device_(device), meeting_(meeting), communicator_(communicator),
          rows_(row(rank + 1) - row(rank)), first_(row(rank) * o_.nx), n_(rows_ * o_.nx) {}

    void run(RankRunResult &result) {
        check(cudaSetDevice(device_), "cudaSetDevice");
        cudaStream_t stream;
        check(cudaStreamCreate(&stream), "cudaStreamCreate");
        {
            Minimiser<double> s(o_.nx * o_.ny, o_.m, CUDA_OPT_BACKEND_CUDA);
            s.check(cuda_opt_set_stream(s, stream));
            solve(s, stream, result);
        }
        check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }

  private:
    int64_t row(int rank) const { return o_.ny * rank / o_.ranks; }

    // Where the segments of this rank end, in its rows: as many rows each as there are rows a segment.
    std::vector<int64_t> ends_of_segments() const {
        const int64_t n = o_.nx * o_.ny, segments = cuda_opt_segments(n);
        int64_t k = 0;
        while (k < segments && cuda_opt_segment(n, k) < first_) k++;
        std::vector<int64_t> ends;
        for (; k < segments && cuda_opt_segment(n, k) < first_ + n_; k++)
            ends.push_back(o_.ny * (k + 1) / segments - row(rank_));
        if (ends.empty() || ends.back() != rows_ || cuda_opt_segment(n, k) != first_ + n_ || o_.ny < segments)
            throw std::runtime_error("the rows of rank " + std::to_string(rank_) + " are not those of its segments");
        return ends;
    }

    template <class Value> void fill(Array<double> &to, const Value &value) const {
        constexpr int64_t at_once = 1 << 24, workers = 8;
        std::vector<double> piece(static_cast<std::size_t>(std::min(n_, at_once)));
        for (int64_t begin = 0; begin < n_; begin += at_once) {
            const int64_t count = std::min(at_once, n_ - begin);
            std::vector<std::thread> threads;
            for (int64_t k = 0; k < workers; k++)
                threads.emplace_back([&, k] {
                    for (int64_t i = count * k / workers; i < count * (k + 1) / workers; i++)
                        piece[static_cast<std::size_t>(i)] = value(first_ + begin + i);
                });
            for (std::thread &thread : threads) thread.join();
            to.write(begin, piece.data(), count);
        }
    }

    void solve(Minimiser<double> &s, cudaStream_t stream, RankRunResult &result) {
        const bool torsion = o_.problem == "torsion";
        if (!o_.alone) s.set_ranks(rank_, o_.ranks, first_, n_);
        s.set_int(CUDA_OPT_MAX_ITERATIONS, o_.iterations);
        s.set_real(CUDA_OPT_EPS, 0);
        const std::vector<int64_t> ends = o_.f_of_segments ? ends_of_segments() : std::vector<int64_t>{rows_};
        if (o_.f_of_segments) s.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_SEGMENTS);
        Array<double> x(s, n_), g(s, n_), f(s, static_cast<int64_t>(ends.size())), lower(s, torsion ? n_ : 1),
            upper(s, torsion ? n_ : 1), below(s, o_.nx), above(s, o_.nx);
        const testfuncs::Parameters sides = {{"nx", static_cast<double>(o_.nx)}, {"ny", static_cast<double>(o_.ny)}};
        std::unique_ptr<Torsion> function;
        std::map<int64_t, std::unique_ptr<testfuncs::Problem>> blocks; // Rosenbrock, of so many variables
        if (torsion) {
            function = std::make_unique<Torsion>(o_.nx * o_.ny, complete(Torsion::facts().parameters, sides));
            fill(x, [&](int64_t i) { return function->start(i); });
            fill(lower, [&](int64_t i) { return function->lower(i); });
            fill(upper, [&](int64_t i) { return function->upper(i); });
            s.set_bounds(lower.data(), upper.data());
        } else {
            fill(x, [&](int64_t i) { return i % 2 == 0 ? -1.2 : 1; });
            s.set_uniform_bounds(-3, 3);
        }
        if (o_.log && rank_ == 0) {
            s.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1);
            s.check(cuda_opt_set_log(
                s, [](void *, const char *line) { std::puts(line); }, nullptr));
        }
#ifdef BENCH_WITH_NCCL
        cuda_opt_nccl nccl;
        cuda_opt_nccl_begin(&nccl, static_cast<ncclComm_t>(communicator_), o_.ranks, stream);
#endif
        meeting_.edges(rank_) = {x.data(), x.data() + (n_ - o_.nx), device_};
        testfuncs::DeviceScratch scratch;
        testfuncs::Place place;
        place.space = testfuncs::Place::Space::cuda;
        place.stream = stream;
        const auto evaluate = [&] {
            if (!torsion) {
                for (int64_t k = 0, row = 0; k < static_cast<int64_t>(ends.size()); row = ends[k++]) {
                    const int64_t at = row * o_.nx, size = (ends[k] - row) * o_.nx;
                    std::unique_ptr<testfuncs::Problem> &of_size = blocks[size];
                    if (!of_size) of_size = testfuncs::make_problem("rosenbrock", size);
                    of_size->evaluate(x.data() + at, f.data() + k, g.data() + at, place);
                }
                return;
            }
            // The neighbours' rows, when they are written and before they are written again.
            check(cudaStreamSynchronize(stream), "the solver's kernels");
            meeting_.wait();
            const auto copy = [&](double *to, const double *from, int other) {
                check(cudaMemcpyPeerAsync(to, device_, from, meeting_.edges(other).device,
                                          static_cast<std::size_t>(o_.nx) * sizeof(double), stream),
                      "a row of a neighbour");
            };
            if (rank_ > 0) copy(below.data(), meeting_.edges(rank_ - 1).last, rank_ - 1);
            if (rank_ + 1 < o_.ranks) copy(above.data(), meeting_.edges(rank_ + 1).first, rank_ + 1);
            if (o_.ranks > 1) check(cudaStreamSynchronize(stream), "a row of a neighbour");
            meeting_.wait();
            const double *const before = rank_ > 0 ? below.data() : nullptr, *const behind = rank_ + 1 < o_.ranks
                                                                                                 ? above.data()
                                                                                                 : nullptr;
            testfuncs::CudaExecutor on(scratch, stream);
            for (int64_t k = 0, row = 0; k < static_cast<int64_t>(ends.size()); row = ends[k++]) {
                const PartEnergy energy{function->energy(), row > 0 ? x.data() + (row - 1) * o_.nx : before,
                                        ends[k] < rows_ ? x.data() + ends[k] * o_.nx : behind, o_.nx};
                const testfuncs::Grid grid{o_.nx, ends[k] - row};
                const int64_t at = row * o_.nx;
                on.map_reduce<Sum>(testfuncs::strips_of(grid),
                                   testfuncs::Strip<double, PartEnergy>{x.data() + at, g.data() + at, grid, energy},
                                   testfuncs::StoreSum{f.data() + k});
            }
        };

        constexpr int64_t warm_up = 5;
        using Clock = std::chrono::steady_clock;
        Clock::time_point begin{};
        int64_t begun_at = 0, exchanges = 0, bytes_sent = 0;
        int task;
        do {
            task = s.solve(x, f, g);
            if (task == CUDA_OPT_EXCHANGE) {
                void *send, *receive;
                int64_t bytes = 0;
                cuda_opt_gather(s, &send, &receive, &bytes);
                exchanges++;
                bytes_sent += bytes;
                if (!o_.nccl) meeting_.gather(rank_, s);
#ifdef BENCH_WITH_NCCL
                else task = cuda_opt_exchange_nccl(s, &nccl);
#endif
            }
            if (task == CUDA_OPT_EVALUATE_FG) evaluate();
            if (begun_at == 0 && s.get_int(CUDA_OPT_ITERATIONS) >= warm_up) {
                begun_at = s.get_int(CUDA_OPT_ITERATIONS);
                begin = Clock::now();
            }
        } while (task > 0);
        s.synchronize();
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
#ifdef BENCH_WITH_NCCL
        cuda_opt_nccl_end(&nccl);
#endif
        const bool ended_well =
            task == CUDA_OPT_ITERATION_LIMIT || task == CUDA_OPT_CONVERGED || task == CUDA_OPT_LINE_SEARCH_FAILED;
        if (!ended_well) throw std::runtime_error(s.message());
        if (o_.hash) {
            constexpr int64_t at_once = 1 << 22;
            std::vector<double> piece;
            for (int64_t begin = 0; begin < n_; begin += at_once) {
                piece.resize(static_cast<std::size_t>(std::min(at_once, n_ - begin)));
                check(cudaMemcpy(piece.data(), x.data() + begin, piece.size() * sizeof(double), cudaMemcpyDefault),
                      "a copy of x");
                meeting_.add_to_hash(hash_of(piece, first_ + begin));
            }
        }
        if (rank_ != 0) return;
        const int64_t iterations = s.get_int(CUDA_OPT_ITERATIONS);
        result = {o_.nx * o_.ny,
                  iterations,
                  s.get_int(CUDA_OPT_EVALUATIONS),
                  exchanges,
                  bytes_sent,
                  seconds,
                  std::max<int64_t>(1, iterations - begun_at),
                  s.get_real(CUDA_OPT_F),
                  s.get_real(CUDA_OPT_PG_NORM2),
                  s.get_int(CUDA_OPT_WORKSPACE_BYTES),
                  0,
                  result.devices,
                  s.message()};
    }

    const RankRunOptions &o_;
    const int rank_, device_;
    Meeting &meeting_;
    void *const communicator_;
    const int64_t rows_, first_, n_;
};

} // namespace

RankRunResult run_ranks(const RankRunOptions &o) {
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    if (devices < 1) throw std::runtime_error("there is no CUDA device");
    if (o.alone && o.ranks > 1) throw std::runtime_error("several ranks are not alone");
    if (o.alone && o.f_of_segments) throw std::runtime_error("f of segments is for ranks");
    if (o.ny < o.ranks) throw std::runtime_error("there are fewer rows than ranks");
    std::vector<void *> communicators(o.ranks, nullptr);
#ifdef BENCH_WITH_NCCL
    if (o.nccl) {
        std::vector<ncclComm_t> made(o.ranks);
        const ncclResult_t status = ncclCommInitAll(made.data(), o.ranks, nullptr);
        if (status != ncclSuccess) throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(status));
        std::copy(made.begin(), made.end(), communicators.begin());
    }
#else
    if (o.nccl) throw std::runtime_error("bench_ranks was built without NCCL");
#endif
    for (int a = 0; a < devices; a++)
        for (int b = 0; b < devices; b++) {
            int can = 0;
            if (a == b || cudaDeviceCanAccessPeer(&can, a, b) != cudaSuccess || !can) continue;
            check(cudaSetDevice(a), "cudaSetDevice");
            const cudaError_t status = cudaDeviceEnablePeerAccess(b, 0);
            if (status == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
            else check(status, "cudaDeviceEnablePeerAccess");
        }
    Meeting meeting(o.ranks);
    RankRunResult result{};
    result.devices = std::min(devices, o.ranks);
    std::vector<std::exception_ptr> thrown(o.ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < o.ranks; rank++)
        threads.emplace_back([&, rank] {
            try {
                RankOfRun(o, rank, rank % devices, meeting, communicators[rank]).run(result);
            } catch (...) {
                thrown[rank] = std::current_exception();
                meeting.break_up();
            }
        });
    for (std::thread &thread : threads) thread.join();
#ifdef BENCH_WITH_NCCL
    for (void *communicator : communicators)
        if (communicator) ncclCommDestroy(static_cast<ncclComm_t>(communicator));
#endif
    for (const std::exception_ptr &e : thrown)
        if (e) std::rethrow_exception(e);
    result.hash = meeting.hash();
    return result;
}

} // namespace cudaopt::bench
