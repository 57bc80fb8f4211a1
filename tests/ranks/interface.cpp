// Tests of the functions of the C interface that only ranks use, and of the segments.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "cuda_opt.hpp"
#include "sweeps/segments.hpp"

namespace ranks_interface {

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("Segments depend on n alone and differ in length by at most one tile") {
    for (const int64_t n : {int64_t{1}, int64_t{128}, int64_t{129}, int64_t{8192}, int64_t{30001}, int64_t{32768},
                            int64_t{1000003}, int64_t{400000000}, INT64_MAX}) {
        INFO(n);
        const int64_t count = cuda_opt_segments(n), tiles = n / 128 + (n % 128 != 0);
        CHECK(count == std::min<int64_t>(tiles, 256));
        CHECK(cuda_opt_segment(n, 0) == 0);
        CHECK(cuda_opt_segment(n, count) == n);
        CHECK(cuda_opt_segment(n, count + 7) == n);
        for (int64_t k = 0; k < count; k++) {
            const int64_t begin = cuda_opt_segment(n, k), end = cuda_opt_segment(n, k + 1);
            if (begin % 128 != 0 || end <= begin) FAIL("segment " << k << " from " << begin << " to " << end);
            const int64_t length = (end - begin + 127) / 128;
            if (length != tiles / count && length != tiles / count + 1)
                FAIL("segment " << k << ": " << length << " tiles");
        }
        CHECK(cudaopt::Segments(n).at(cuda_opt_segment(n, count / 2)) == count / 2);
        CHECK(cudaopt::Segments(n).at(n) == count);
        if (n > 129) CHECK(cudaopt::Segments(n).at(1) == -1);
    }
    CHECK(cuda_opt_segments(0) == 0);
    CHECK(cuda_opt_segments(-1) == 0);
    CHECK(cuda_opt_segment(100, -1) == 0);
}

TEST_CASE("Subtrees are nodes of the summation tree and cover a range of segments") {
    using namespace cudaopt;
    for (const int64_t count : {1, 2, 5, 64, 100, 255, 256})
        for (int64_t first = 0; first <= count; first += count / 7 + 1)
            for (int64_t last = first; last <= count; last += count / 9 + 1) {
                Subtree subtrees[most_subtrees];
                const int made = cut_into_subtrees(first, last, count, subtrees);
                REQUIRE(made <= most_subtrees);
                int64_t next = first;
                for (int k = 0; k < made; k++) {
                    REQUIRE(subtrees[k].begin == next);
                    next = subtrees[k].end;
                    // The subtree is a node of the summation tree over all segments. It begins at a multiple of its
                    // size, and only the last node of the tree may be shorter.
                    int64_t size = 1;
                    while (size < next - subtrees[k].begin) size *= 2;
                    REQUIRE(subtrees[k].begin % size == 0);
                    REQUIRE((next - subtrees[k].begin == size || next == count));
                }
                REQUIRE(next == last);
            }
}

TEST_CASE("cuda_opt_set_ranks refuses invalid ranks and parts") {
    cudaopt::Minimiser<double> s(1000, 5, CUDA_OPT_BACKEND_HOST);
    const auto refused = [&](int32_t rank, int32_t ranks, int64_t first, int64_t n, const std::string &words) {
        INFO(s.message());
        CHECK(cuda_opt_set_ranks(s, rank, ranks, first, n) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(contains(s.message(), words));
    };
    refused(-1, 2, 0, 10, "rank -1 of 2");
    refused(2, 2, 0, 10, "rank 2 of 2");
    refused(0, 0, 0, 10, "rank 0 of 0");
    refused(0, 2, -1, 10, "10 variables from variable -1 on, but there are 1000");
    refused(0, 2, 0, -10, "-10 variables from variable 0");
    refused(0, 2, 0, 1001, "1001 variables from variable 0");
    refused(1, 2, 500, 501, "501 variables from variable 500");
    refused(1, 2, INT64_MAX, INT64_MAX, "but there are 1000");
    CHECK(cuda_opt_set_ranks(nullptr, 0, 1, 0, 10) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_ranks(s, 0, 1, 0, 1000) == 0);
}

TEST_CASE("Only the all-gather is allowed while an exchange is requested") {
    cudaopt::Minimiser<double> s(10, 5, CUDA_OPT_BACKEND_HOST);
    void *send, *receive;
    int64_t bytes = 0;
    double x[10] = {}, g[10] = {}, f;
    CHECK(cuda_opt_gather(s, &send, &receive, &bytes) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_gather_failed(s, "") == CUDA_OPT_MISUSE);
    REQUIRE(cuda_opt_set_ranks(s, 0, 1, 0, 10) == 0);
    REQUIRE(s.solve(x, &f, g) == CUDA_OPT_EXCHANGE);
    CHECK(cuda_opt_set_ranks(s, 0, 1, 0, 10) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_real(s, CUDA_OPT_EPS, 1e-3) == CUDA_OPT_MISUSE);
    CHECK(contains(s.message(), "between CUDA_OPT_EXCHANGE and the next call"));
    CHECK(cuda_opt_set_int(s, CUDA_OPT_MAXFEV, 3) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_gather(s, nullptr, &receive, &bytes) == CUDA_OPT_MISUSE);
    REQUIRE(cuda_opt_gather(s, &send, &receive, &bytes) == 0);
    CHECK(bytes > 0);
    // No packet has been gathered.
    CHECK(s.solve(x, &f, g) == CUDA_OPT_MISUSE);
    CHECK(contains(s.message(), "the bytes received for rank 0 are not a packet"));
    // The handle can be used for another solve and after a reset within a solve.
    for (int solve = 0; solve < 2; solve++) {
        int task;
        while ((task = s.solve(x, &f, g)) > 0) {
            if (task == CUDA_OPT_EXCHANGE) {
                REQUIRE(cuda_opt_gather(s, &send, &receive, &bytes) == 0);
                std::memcpy(receive, send, static_cast<std::size_t>(bytes));
            } else {
                f = 0;
                for (int i = 0; i < 10; i++) g[i] = x[i] - i, f += g[i] * g[i] / 2;
                if (solve == 0) break;
            }
        }
        if (solve == 0) s.reset();
        else CHECK(task == CUDA_OPT_CONVERGED);
    }
    CHECK(s.solve(x, &f, g) == CUDA_OPT_MISUSE); // the solve has ended
    CHECK(contains(s.message(), "cuda_opt_solve was called after the solve had ended"));
    // The message at the end of the next solve names a rank. The message of the call after it does not.
    s.reset();
    cuda_opt_request_stop(s);
    int task;
    while ((task = s.solve(x, &f, g)) == CUDA_OPT_EXCHANGE) {
        REQUIRE(cuda_opt_gather(s, &send, &receive, &bytes) == 0);
        std::memcpy(receive, send, static_cast<std::size_t>(bytes));
    }
    CHECK(task == CUDA_OPT_STOPPED);
    CHECK(contains(s.message(), "rank 0: stopped by the caller"));
    CHECK(s.solve(x, &f, g) == CUDA_OPT_MISUSE);
    CHECK(contains(s.message(), "cuda_opt_solve was called"));
    CHECK(std::string(s.message()).rfind("rank", 0) != 0);
    CHECK(x[9] == Approx(9));
}

TEST_CASE("Packets of an earlier exchange are refused") {
    // The packets of all evaluations have the same size and kind.
    for (const int forgotten : {3, 4, 5}) {
        INFO("exchange " << forgotten << ", from 0, is not gathered");
        cudaopt::Minimiser<double> s(10, 5, CUDA_OPT_BACKEND_HOST);
        s.set_ranks(0, 1, 0, 10);
        double x[10] = {}, g[10] = {}, f = 0;
        void *send, *receive;
        int64_t bytes = 0;
        int task, exchanges = 0;
        while ((task = s.solve(x, &f, g)) > 0) {
            if (task == CUDA_OPT_EXCHANGE) {
                if (exchanges++ == forgotten) continue;
                REQUIRE(cuda_opt_gather(s, &send, &receive, &bytes) == 0);
                std::memcpy(receive, send, static_cast<std::size_t>(bytes));
            } else {
                f = 0;
                for (int i = 0; i < 10; i++) g[i] = std::exp(x[i]) - i - 1, f += std::exp(x[i]) - (i + 1) * x[i];
            }
        }
        CHECK(exchanges == forgotten + 1);
        CHECK(task == CUDA_OPT_MISUSE);
        CHECK(contains(s.message(), "each exchange has to gather the present packets"));
    }
}

TEST_CASE("A failed rank returns the same best iterate as the other ranks") {
    // f exceeds its value at the start by no more than rounding errors, and g is orthogonal to the last step, so that
    // steps are accepted and the best iterate is saved.
    std::vector<cudaopt::Minimiser<double>> s;
    for (int rank = 0; rank < 2; rank++) {
        s.emplace_back(2, 5, CUDA_OPT_BACKEND_HOST).set_ranks(rank, 2, rank, 1);
        s[rank].set_int(CUDA_OPT_F_PART, CUDA_OPT_F_WHOLE).set_real(CUDA_OPT_PGTOL, 0).set_real(CUDA_OPT_FACTR, 0);
    }
    double x[2] = {}, before[2] = {}, g[2] = {0.1, 0}, f = 0, elsewhere = 0;
    int evaluations = 0, tasks[2];
    for (;;) {
        const bool fails = evaluations == 6 && tasks[0] == CUDA_OPT_EVALUATE_FG;
        for (int rank = 0; rank < 2; rank++)
            tasks[rank] = s[rank].solve(&x[rank], fails && rank == 1 ? &elsewhere : &f, &g[rank]);
        REQUIRE(tasks[0] == tasks[1]);
        if (tasks[0] <= 0) break;
        if (tasks[0] == CUDA_OPT_EXCHANGE) {
            void *send[2], *receive[2];
            int64_t bytes = 0;
            for (int rank = 0; rank < 2; rank++)
                REQUIRE(cuda_opt_gather(s[rank], &send[rank], &receive[rank], &bytes) == 0);
            for (void *to : receive)
                for (int rank = 0; rank < 2; rank++)
                    std::memcpy(static_cast<char *>(to) + rank * bytes, send[rank], static_cast<std::size_t>(bytes));
            continue;
        }
        f = ++evaluations == 1 ? 1 : 1 + 1e-13;
        if (evaluations == 1) continue;
        const double a = x[0] - before[0], b = x[1] - before[1];
        const double scale = (a * x[1] > b * x[0] ? 0.1 : -0.1) / std::hypot(a, b);
        g[0] = -b * scale, g[1] = a * scale;
        before[0] = x[0], before[1] = x[1];
    }
    INFO(s[0].message());
    CHECK(tasks[0] == CUDA_OPT_MISUSE);
    CHECK(s[0].get_int(CUDA_OPT_ITERATIONS) > 1);
    for (const auto &one : s) CHECK(one.get_real(CUDA_OPT_F) == 1);
    CHECK(x[0] == 0);
}

TEST_CASE("cuda_opt_save and cuda_opt_load refuse a handle that is a rank") {
    cudaopt::Minimiser<double> s(10, 5, CUDA_OPT_BACKEND_HOST);
    REQUIRE(cuda_opt_set_ranks(s, 1, 2, 4, 6) == 0);
    int64_t bytes = 0;
    double x[10] = {}, g[10] = {}, f;
    CHECK(cuda_opt_save(s, nullptr, &bytes) == CUDA_OPT_MISUSE);
    CHECK(contains(s.message(), "rank 1 of 2 has no checkpoint"));
    CHECK(cuda_opt_load(s, "", 0, x, &f, g) == CUDA_OPT_MISUSE);
}

} // namespace ranks_interface
