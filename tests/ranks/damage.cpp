// The checksum detects a packet that an exchange has damaged, and the message names the rank that sent it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda_opt.hpp"
#include "cuda_opt/ranks.h"
#include "meeting.hpp"

namespace {

// Changes the packets that a rank receives. The arguments are the contiguous packets of all ranks and the bytes per
// packet.
using Damage = std::function<void(unsigned char *packets, int64_t bytes)>;

struct End {
    int code;
    std::string message;
    int exchanges;
};

// Ranks of one solve, executed one after the other in this thread. At one exchange the rank `damaged` receives packets
// that damage() has changed.
End run(int ranks, int damaged, int at_exchange, const Damage &damage) {
    constexpr int64_t own = 3;
    std::vector<cudaopt::Minimiser<double>> handles;
    std::vector<std::vector<double>> x(static_cast<std::size_t>(ranks), std::vector<double>(own, -1)), g = x;
    std::vector<double> f(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; rank++) {
        handles.emplace_back(own * ranks, 3, CUDA_OPT_BACKEND_HOST);
        handles.back().set_ranks(rank, ranks, own * rank, own);
    }
    for (int exchanges = 0;;) {
        int task = 0;
        for (std::size_t r = 0; r < handles.size(); r++) {
            task = handles[r].solve(x[r].data(), &f[r], g[r].data());
            if (static_cast<int>(r) == damaged && task <= 0) return {task, handles[r].message(), exchanges};
        }
        if (task == CUDA_OPT_EVALUATE_FG) {
            for (std::size_t r = 0; r < handles.size(); r++) {
                f[r] = 0;
                for (std::size_t i = 0; i < own; i++) {
                    const double weight = static_cast<double>(own * r + i + 1), d = x[r][i] - 0.3 * weight;
                    f[r] += weight * d * d + d * d * d * d;
                    g[r][i] = 2 * weight * d + 4 * d * d * d;
                }
            }
            continue;
        }
        std::vector<unsigned char> all;
        std::vector<void *> receives;
        int64_t bytes = 0;
        for (cudaopt::Minimiser<double> &handle : handles) {
            void *send, *receive;
            REQUIRE(cuda_opt_gather(handle, &send, &receive, &bytes) == 0);
            const auto *packet = static_cast<unsigned char *>(send);
            all.insert(all.end(), packet, packet + bytes);
            receives.push_back(receive);
        }
        for (std::size_t r = 0; r < receives.size(); r++) std::memcpy(receives[r], all.data(), all.size());
        if (exchanges++ == at_exchange) damage(static_cast<unsigned char *>(receives[damaged]), bytes);
    }
}

} // namespace

TEST_CASE("A damaged packet ends the solve with a message that names its sender", "[ranks]") {
    const int undisturbed = run(3, 0, -1, {}).exchanges;
    REQUIRE(undisturbed > 10);
    for (const int exchange : {0, 1, 2, 5, undisturbed - 1})
        for (const int from : {1, 2})
            for (const int64_t at : {-8, -100, 24, 40}) {
                INFO("exchange " << exchange << ", byte " << at << " of rank " << from);
                const End end = run(3, 0, exchange, [&](unsigned char *packets, int64_t bytes) {
                    packets[from * bytes + (at < 0 ? bytes + at : at)] ^= 0x10;
                });
                CHECK(end.code == CUDA_OPT_EXCHANGE_FAILED);
                CHECK_THAT(end.message, Catch::Contains("the packet of rank " + std::to_string(from)));
                CHECK(end.exchanges == exchange + 1);
            }
}

TEST_CASE("Two swapped words within a packet are detected as damage", "[ranks]") {
    for (const int exchange : {1, 2, 5}) {
        const End end = run(2, 0, exchange, [](unsigned char *packets, int64_t bytes) {
            unsigned char *const other = packets + bytes;
            for (int64_t at = 80; at + 16 <= bytes; at += 8)
                if (std::memcmp(other + at, other + at + 8, 8) != 0)
                    return static_cast<void>(std::swap_ranges(other + at, other + at + 8, other + at + 8));
        });
        CHECK(end.code == CUDA_OPT_EXCHANGE_FAILED);
        CHECK_THAT(end.message, Catch::Contains("the packet of rank 1"));
    }
}

namespace {

// Ranks as threads: one of them reports a failure during an evaluation or in its log function.
void check_failure(bool in_log, const char *why, const std::string &words) {
    constexpr int64_t own = 3;
    constexpr int ranks = 3;
    std::vector<int> codes(ranks);
    std::vector<std::string> messages(ranks);
    cudaopt_test::run_ranks(ranks, [&](int rank, cudaopt_test::Meeting &meeting) {
        cudaopt::Minimiser<double> handle(own * ranks, 3, CUDA_OPT_BACKEND_HOST);
        handle.set_ranks(rank, ranks, own * rank, own);
        struct Log {
            cuda_opt *handle;
            const char *why;
            int lines;
        } log{handle, why, 0};
        if (in_log && rank == 1) {
            handle.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1);
            const auto write = [](void *user, const char *) {
                Log &mine = *static_cast<Log *>(user);
                if (++mine.lines == 8) cuda_opt_fail_rank(mine.handle, mine.why);
            };
            cuda_opt_set_log(handle, write, &log);
        }
        std::vector<double> x(own, -1), g(own);
        double f = 0;
        int evaluations = 0, task;
        while ((task = handle.solve(x.data(), &f, g.data())) > 0) {
            if (task == CUDA_OPT_EXCHANGE) {
                meeting.gather(rank, handle);
                continue;
            }
            if (!in_log && rank == 1 && ++evaluations == 3 && cuda_opt_fail_rank(handle, why) != 0)
                throw std::runtime_error(handle.message());
            f = 0;
            for (std::size_t i = 0; i < x.size(); i++) {
                const double d = x[i] - 0.3 * static_cast<double>(i + 1);
                f += d * d + d * d * d * d;
                g[i] = 2 * d + 4 * d * d * d;
            }
        }
        codes[static_cast<std::size_t>(rank)] = task;
        messages[static_cast<std::size_t>(rank)] = handle.message();
        if (cuda_opt_fail_rank(handle, why) != CUDA_OPT_MISUSE)
            throw std::runtime_error("cuda_opt_fail_rank was accepted after the end of the solve");
    });
    CHECK(codes == std::vector<int>(ranks, CUDA_OPT_MISUSE));
    CHECK(messages == std::vector<std::string>(ranks, words));
}

} // namespace

TEST_CASE("cuda_opt_fail_rank ends the solve on all ranks with the reason of the caller", "[ranks][threads]") {
    for (const bool in_log : {false, true}) {
        check_failure(in_log, "the disk is full", "rank 1: the disk is full");
        check_failure(in_log, nullptr, "rank 1: the caller failed without giving a reason");
    }
}

TEST_CASE("cuda_opt_fail_rank refuses a handle that is not a rank", "[ranks]") {
    const cudaopt::Minimiser<double> handle(3, 3, CUDA_OPT_BACKEND_HOST);
    CHECK(cuda_opt_fail_rank(handle, "no") == CUDA_OPT_MISUSE);
    CHECK_THAT(handle.message(), Catch::Contains("the handle is not a rank"));
    CHECK(cuda_opt_fail_rank(nullptr, "no") == CUDA_OPT_MISUSE);
}
