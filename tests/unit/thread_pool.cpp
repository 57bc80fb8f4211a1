// Tests of the parallel loops on host threads: the division into chunks, exceptions, and the life of the threads.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../support/living_threads.hpp"
#include "exec/thread_pool.hpp"

using namespace cudaopt;
using cudaopt_test::living_threads;

namespace {

int64_t sum_to(int64_t count, int threads) {
    std::atomic<int64_t> sum{0};
    share_host(
        count, [&](int64_t k, int) { sum += k; }, threads);
    return sum;
}

} // namespace

TEST_CASE("Each index is visited once in contiguous chunks whose lengths differ by at most 1", "[threads]") {
    for (const int threads : {1, 2, 3, 7, 16})
        for (const int64_t count : {0, 1, 2, 6, 7, 8, 1000, 1001}) {
            INFO(count << " for " << threads << " threads");
            std::vector<int> visits(count), place_of(count);
            std::vector<std::atomic<int>> within(threads);
            std::atomic<int> met{0};
            const auto visit = [&](int64_t k, int place) {
                met += within[place]++ != 0;
                visits[k]++;
                place_of[k] = place;
                within[place]--;
            };
            share_host(count, visit, threads);
            CHECK(met == 0);
            CHECK(visits == std::vector<int>(count, 1));
            CHECK(std::is_sorted(place_of.begin(), place_of.end()));
            for (int place = 0; place < threads; place++) {
                const int64_t length = std::count(place_of.begin(), place_of.end(), place);
                CHECK(length - count / threads >= 0);
                CHECK(length - count / threads <= 1);
            }
        }
}

TEST_CASE("Each index is visited once in repeated loops without a given number of threads", "[threads]") {
    const int64_t count = 5000;
    for (int round = 0; round < 300; round++) {
        std::vector<int> visits(count);
        std::atomic<int> outside{0};
        const auto visit = [&](int64_t k, int place) {
            visits[k]++;
            outside += place < 0 || place >= HostThreads(0).most;
        };
        share_host(count, visit, 0);
        REQUIRE(visits == std::vector<int>(count, 1));
        REQUIRE(outside == 0);
    }
}

TEST_CASE("A parallel loop within a chunk runs serially on the same thread", "[threads]") {
    std::atomic<int> elsewhere{0}, visits{0};
    const auto outer = [&](int64_t, int) {
        const std::thread::id self = std::this_thread::get_id();
        const auto inner = [&](int64_t, int) {
            visits++;
            elsewhere += std::this_thread::get_id() != self;
        };
        share_host(100, inner, 4);
    };
    share_host(8, outer, 4);
    CHECK(visits == 800);
    CHECK(elsewhere == 0);
}

TEST_CASE("An exception from a chunk is rethrown after all chunks have ended", "[threads]") {
    for (const int thrower : {0, 999}) { // in the caller's chunk, and in the chunk of another thread
        std::atomic<int> visits{0};
        const auto body = [&](int64_t k, int) {
            if (k == thrower) throw std::out_of_range("enough");
            visits++;
        };
        CHECK_THROWS_AS(share_host(1000, body, 4), std::out_of_range);
        CHECK(visits >= 750); // the other three chunks
        CHECK(sum_to(1000, 4) == 499500);
    }
}

TEST_CASE("Sleeping threads are woken by a loop with any number of threads", "[threads]") {
    for (const int threads : {4, 2, 9, 3, 4}) {
        CHECK(sum_to(100000, threads) == 4999950000);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        CHECK(sum_to(100000, threads) == 4999950000);
    }
}

TEST_CASE("Parallel loops of concurrent callers do not interfere", "[threads]") {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; caller++)
        callers.emplace_back([&wrong, caller] {
            const int64_t count = 1000 + caller;
            for (int round = 0; round < 500; round++) wrong += sum_to(count, 2 + caller) != count * (count - 1) / 2;
        });
    for (std::thread &caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("The thread pool of a thread ends with it", "[threads]") {
    sum_to(1000, 2);
    const int64_t before = living_threads();
    for (int caller = 0; caller < 5; caller++) std::thread([] { sum_to(1000, 8); }).join();
    // A joined thread may remain visible to the system for a moment.
    for (int wait = 0; wait < 60000 && living_threads() > before; wait++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(living_threads() <= before);
}

TEST_CASE("HostThreads keeps a given number and otherwise measures unless OMP_NUM_THREADS is set", "[threads]") {
    CHECK(HostThreads(3).most == 3);
    CHECK_FALSE(HostThreads(3).learned);
    CHECK(HostThreads(0).most >= 1);
    CHECK(HostThreads(0).most == HostThreads(0).most);
    CHECK(HostThreads(0).learned == (std::getenv("OMP_NUM_THREADS") == nullptr));
}
