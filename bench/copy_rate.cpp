#include "copy_rate.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "device_copy.hpp"

namespace cudaopt::bench {

namespace {

constexpr int repetitions = 21;

double host_copy_seconds(const char *from, char *to, std::int64_t bytes, int threads) {
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int k = 0; k < threads; k++) {
        const std::int64_t first = bytes * k / threads, last = bytes * (k + 1) / threads;
        std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first));
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

double copy_rate(std::int64_t bytes, bool cuda, int threads) {
    std::vector<double> seconds;
    if (cuda) {
        seconds = device_copy_seconds(bytes, repetitions);
    } else {
        if (threads == 0) threads = omp_get_max_threads();
        const std::vector<char> from(static_cast<std::size_t>(bytes), 1);
        std::vector<char> to(static_cast<std::size_t>(bytes), 2);
        for (int k = 0; k < repetitions; k++)
            seconds.push_back(host_copy_seconds(from.data(), to.data(), bytes, threads));
    }
    if (seconds.empty()) return 0;
    std::sort(seconds.begin(), seconds.end());
    return 2.0 * static_cast<double>(bytes) / seconds[seconds.size() / 2];
}

} // namespace cudaopt::bench
