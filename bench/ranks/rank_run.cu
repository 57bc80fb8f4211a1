#include "rank_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cuda_opt.hpp"
#include "evaluation.cuh"
#include "meeting.hpp"
#include "testfuncs/cuda_executor.cuh"
#include "testfuncs/problem.hpp"
#ifdef BENCH_WITH_NCCL
#include "cuda_opt/nccl.h"
#endif

namespace cudaopt::bench {
namespace {

using testfuncs::Torsion;

void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

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

Spread spread_of(std::vector<double> &seconds) {
    if (seconds.empty()) return {};
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](std::size_t tenths) { return seconds[(seconds.size() - 1) * tenths / 10]; };
    return {at(1), at(5), at(9)};
}

class RankOfRun {
  public:
    RankOfRun(const RankRunOptions &options, int rank, int device, Meeting &meeting, void *communicator)
        : o_(options), rank_(rank), device_(device), meeting_(meeting), communicator_(communicator),
          rows_(row(rank + 1) - row(rank)), first_(row(rank) * o_.nx), n_(rows_ * o_.nx) {}

    void run(RankRunResult &result) {
        check(cudaSetDevice(device_), "cudaSetDevice");
        int capability = 0;
        check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device_), "the device");
        early_ = capability >= 9 && !o_.late;
        cudaStream_t stream;
        check(cudaStreamCreate(&stream), "cudaStreamCreate");
        {
            Minimiser<double> s(o_.nx * o_.ny, o_.m, CUDA_OPT_BACKEND_CUDA);
            s.check(cuda_opt_set_stream(s, stream));
            solve(s, stream, result);
        }
        check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }

    const std::vector<Spread> &parts() const { return parts_; }

  private:
    static constexpr int64_t most_in_one_kernel = 1 << 14, most_columns_in_one_kernel = 1 << 11;

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

    // Whether segments end where parts of a kernel do.
    bool are_even(const std::vector<int64_t> &ends) const {
        const Parts parts{nullptr, nullptr, nullptr, o_.nx, rows_, static_cast<int>(ends.size())};
        for (int k = 0; k < parts.count; k++)
            if (ends[k] != parts.begin(k + 1)) return false;
        return true;
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
        s.set_int(CUDA_OPT_HISTORY_BITS, o_.history_bits);
        s.set_real(CUDA_OPT_PGTOL, 0);
        s.set_real(CUDA_OPT_FACTR, 0);
        s.set_int(CUDA_OPT_TIMED, o_.timed);
        const std::vector<int64_t> ends = o_.f_of_segments ? ends_of_segments() : std::vector<int64_t>{rows_};
        if (o_.f_of_segments) s.set_int(CUDA_OPT_F_PART, CUDA_OPT_F_OF_SEGMENTS);
        Array<double> x(s, n_), g(s, n_), f(s, static_cast<int64_t>(ends.size())), lower(s, torsion ? n_ : 1),
            upper(s, torsion ? n_ : 1), below(s, o_.nx), above(s, o_.nx);
        const testfuncs::Parameters sides = {{"nx", static_cast<double>(o_.nx)}, {"ny", static_cast<double>(o_.ny)}};
        std::unique_ptr<Torsion> torsion_function;
        std::map<int64_t, std::unique_ptr<testfuncs::Problem>> blocks; // Rosenbrock, of so many variables
        if (torsion) {
            torsion_function = std::make_unique<Torsion>(o_.nx * o_.ny, complete(Torsion::facts().parameters, sides));
            fill(lower, [&](int64_t i) { return torsion_function->lower(i); });
            fill(upper, [&](int64_t i) { return torsion_function->upper(i); });
            s.set_bounds(lower.data(), upper.data());
        } else {
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
        Array<Halo> halos(s, 2 * o_.nx); // the row below, the row above
        check(cudaMemset(halos.data(), 0, 2 * static_cast<std::size_t>(o_.nx) * sizeof(Halo)), "cudaMemset");
        meeting_.edges(rank_) = {x.data(), x.data() + (n_ - o_.nx), halos.data(), halos.data() + o_.nx, device_};
        testfuncs::DeviceScratch scratch;
        testfuncs::Place place;
        place.space = testfuncs::Place::Space::cuda;
        place.stream = stream;
        const auto in_general = [&] {
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
                const PartEnergy energy{torsion_function->energy(), row > 0 ? x.data() + (row - 1) * o_.nx : before,
                                        ends[k] < rows_ ? x.data() + ends[k] * o_.nx : behind, o_.nx};
                const testfuncs::Grid grid{o_.nx, ends[k] - row};
                const int64_t at = row * o_.nx;
                on.map_reduce<Sum>(testfuncs::strips_of(grid),
                                   testfuncs::Strip<double, PartEnergy>{x.data() + at, g.data() + at, grid, energy},
                                   testfuncs::StoreSum{f.data() + k});
            }
        };
        unsigned round = 0;
        const auto in_one_kernel = [&] {
            const Parts parts{x.data(), g.data(), f.data(), o_.nx, rows_, static_cast<int>(ends.size())};
            round++;
            if (!torsion) {
                check(evaluate_in_one(RosenbrockParts{parts}, round, early_, stream), "the evaluation");
                return;
            }
            TorsionParts function{parts, torsion_function->energy(), {}, {}};
            if (rank_ > 0) function.below = {meeting_.edges(rank_ - 1).from_above, halos.data()};
            if (rank_ + 1 < o_.ranks) function.above = {meeting_.edges(rank_ + 1).from_below, halos.data() + o_.nx};
            check(evaluate_in_one(function, round, early_, stream), "the evaluation");
        };

        constexpr int64_t warm_up = 5;
        const bool in_one = n_ <= most_in_one_kernel && (!torsion || o_.nx <= most_columns_in_one_kernel) &&
                            meeting_.reachable && !o_.general && are_even(ends);
        int64_t exchanges = 0, bytes_sent = 0;
        int task = 0;
        using Clock = std::chrono::steady_clock;
        std::vector<double> parts[parts_of_evaluation];
        // Returns seconds an iteration.
        const auto solve_once = [&] {
            Clock::time_point begin{};
            int64_t begun_at = 0;
            exchanges = bytes_sent = 0;
            if (torsion) fill(x, [&](int64_t i) { return torsion_function->start(i); });
            else fill(x, [&](int64_t i) { return i % 2 == 0 ? -1.2 : 1; });
            meeting_.wait(); // all edges are known
            enum { evaluation, numbers, exchange, decision };
            Clock::time_point lap{};
            const auto took = [&](int part) {
                if (!o_.parts || begun_at == 0) return;
                const Clock::time_point now = Clock::now();
                if (lap != Clock::time_point{}) parts[part].push_back(std::chrono::duration<double>(now - lap).count());
                lap = now;
            };
            do {
                const int before = task;
                task = s.solve(x, f, g);
                if (task > 0) took(task == CUDA_OPT_EXCHANGE && before == CUDA_OPT_EVALUATE_FG ? numbers : decision);
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
                    took(exchange);
                }
                if (task == CUDA_OPT_EVALUATE_FG) {
                    in_one ? in_one_kernel() : in_general();
                    took(evaluation);
                }
                if (begun_at == 0 && s.get_int(CUDA_OPT_ITERATIONS) >= warm_up) {
                    begun_at = s.get_int(CUDA_OPT_ITERATIONS);
                    begin = Clock::now();
                }
            } while (task > 0);
            s.synchronize();
            return std::chrono::duration<double>(Clock::now() - begin).count() /
                   static_cast<double>(std::max<int64_t>(1, s.get_int(CUDA_OPT_ITERATIONS) - begun_at));
        };
        std::vector<double> seconds = {solve_once()};
        while (static_cast<int>(seconds.size()) < o_.repeat) {
            s.check(cuda_opt_reset(s));
            seconds.push_back(solve_once());
        }
        std::sort(seconds.begin(), seconds.end());
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
        if (o_.parts)
            for (std::vector<double> &part : parts) parts_.push_back(spread_of(part));
        if (rank_ != 0) return;
        result = {o_.nx * o_.ny,
                  s.get_int(CUDA_OPT_ITERATIONS),
                  s.get_int(CUDA_OPT_EVALUATIONS),
                  exchanges,
                  bytes_sent,
                  seconds[seconds.size() / 2],
                  seconds[0],
                  seconds[(seconds.size() - 1) * 9 / 10],
                  s.get_real(CUDA_OPT_F),
                  s.get_real(CUDA_OPT_PG_NORM2),
                  s.get_int(CUDA_OPT_WORKSPACE_BYTES),
                  0,
                  result.devices,
                  s.message(),
                  {}};
    }

    const RankRunOptions &o_;
    const int rank_, device_;
    Meeting &meeting_;
    void *const communicator_;
    const int64_t rows_, first_, n_;
    std::vector<Spread> parts_;
    bool early_ = false; // kernels may be in place before those in front of them have ended
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
    Meeting meeting(o.ranks);
    for (int a = 0; a < devices; a++)
        for (int b = 0; b < devices; b++) {
            int can = 0;
            if (a == b) continue;
            if (cudaDeviceCanAccessPeer(&can, a, b) != cudaSuccess || !can) {
                meeting.reachable = false;
                continue;
            }
            check(cudaSetDevice(a), "cudaSetDevice");
            const cudaError_t status = cudaDeviceEnablePeerAccess(b, 0);
            if (status == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
            else check(status, "cudaDeviceEnablePeerAccess");
        }
    RankRunResult result{};
    result.devices = std::min(devices, o.ranks);
    std::vector<std::vector<Spread>> parts(o.parts ? o.ranks : 0);
    std::vector<std::exception_ptr> thrown(o.ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < o.ranks; rank++)
        threads.emplace_back([&, rank] {
            try {
                RankOfRun of_run(o, rank, rank % devices, meeting, communicators[rank]);
                of_run.run(result);
                if (o.parts) parts[rank] = of_run.parts();
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
    result.parts = std::move(parts);
    return result;
}

} // namespace cudaopt::bench
