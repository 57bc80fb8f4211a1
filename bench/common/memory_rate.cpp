#include "memory_rate.hpp"

#include <omp.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "device_rates.hpp"

namespace cudaopt::bench {

namespace {

constexpr int repetitions = 21;

// work(first, last) for each thread's share of `count` elements.
template <class Work> void shared_out(int64_t count, int threads, const Work &work) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++) work(count * k / threads, count * (k + 1) / threads);
}

int all_if_none(int threads) { return threads == 0 ? omp_get_max_threads() : threads; }

} // namespace

double copy_rate(int64_t bytes, bool cuda, int threads) {
    const double moved = 2.0 * static_cast<double>(bytes);
    if (cuda) return moved / device_copy_seconds(StreamClock(), bytes);
    threads = all_if_none(threads);
    const std::vector<char> from(static_cast<std::size_t>(bytes), 1);
    std::vector<char> to(static_cast<std::size_t>(bytes), 2);
    const auto copy = [&](int64_t first, int64_t last) {
        std::memcpy(to.data() + first, from.data() + first, static_cast<std::size_t>(last - first));
    };
    return moved / wall_seconds([&] { shared_out(bytes, threads, copy); }, repetitions);
}

double read_rate(int64_t bytes, bool cuda, int threads) {
    if (cuda) return static_cast<double>(bytes) / device_read_seconds(StreamClock(), bytes);
    threads = all_if_none(threads);
    const auto count = bytes / int64_t{sizeof(int64_t)};
    const std::vector<int64_t> from(static_cast<std::size_t>(count), 1);
    volatile int64_t result = 0;
    const auto read = [&](int64_t first, int64_t last) {
        const int64_t sum = std::accumulate(from.data() + first, from.data() + last, int64_t{0});
#pragma omp critical
        result = result + sum;
    };
    return static_cast<double>(bytes) / wall_seconds([&] { shared_out(count, threads, read); }, repetitions);
}

} // namespace cudaopt::bench
