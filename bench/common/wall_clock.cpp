#include <algorithm>
#include <limits>

#include "stopwatch.hpp"
#include "stream_clock.hpp"

namespace cudaopt::bench {

double median(std::vector<double> values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double wall_seconds(const std::function<void()> &work, int repetitions) {
    std::vector<double> seconds;
    work();
    for (int k = 0; k < repetitions; k++) {
        const Stopwatch watch;
        work();
        seconds.push_back(watch.seconds());
    }
    return median(seconds);
}

} // namespace cudaopt::bench
