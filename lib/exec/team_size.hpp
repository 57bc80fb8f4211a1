// This class selects the number of threads for an operation that is executed repeatedly. It measures the run time of
// the operation.
#pragma once

#include <algorithm>
#include <array>

namespace cudaopt {

// A TeamSize selects one of the candidates 1, 2, 4, ... and the maximum number of threads. It changes to a neighbouring
// candidate, or to 1 thread, if the mean run time with that candidate is lower. The mean includes delays of threads
// that were scheduled late. These delays dominate if other processes use the processors, so that a single measurement
// is not reliable. With 1 thread there is no such delay. Trials of other candidates are limited by a budget. Each of
// the three alternatives (fewer, more, 1 thread) may cost 1/45 of the total time, so that trials add at most 1/15.
class TeamSize {
  public:
    // Starts with the smallest candidate that is not below `first`. The maximum number of threads is `most`.
    void begin(int most, int first) {
        most_ = most;
        top_ = level_ = 0;
        while (threads_at(top_) < most) top_++;
        while (threads_at(level_) < std::min(most, first)) level_++;
        tried_ = level_;
        turns_ = 0;
        times_.fill({});
        saved_.fill(0);
    }

    // Returns the number of threads for the next execution.
    int next() {
        // A trial of another candidate is in progress.
        if (tried_ != level_) return threads_at(tried_);
        if (times_[level_].turns == 0) return threads_at(level_);
        const std::array<int, 3> others{level_ - 1, level_ + 1, level_ > 1 ? 0 : -1};
        for (std::size_t k = 0; k < others.size(); k++) {
            if (others[k] < 0 || others[k] > top_ || saved_[k] < least_of_trial * loss(others[k])) continue;
            tried_ = others[k];
            trial_ = k;
            turns_ = 0;
            times_[tried_].age();
            break;
        }
        return threads_at(tried_);
    }

    // Records the run time of the latest execution, which used the number of threads last returned by next().
    void took(double seconds) {
        Times &times = times_[level_];
        // The first measurement may include the time for creating or waking the threads.
        const bool first = turns_++ == 0;
        if (tried_ == level_) {
            if (first) return;
            for (double &saved : saved_) saved += seconds / 45;
            times.count(seconds);
            return;
        }
        double &saved = saved_[trial_];
        const double lost = std::min(seconds, longest * times.mean) - times.mean;
        saved -= lost;
        if (!first) times_[tried_].count(seconds);
        if (turns_ < least_of_trial) return;
        const bool better = times_[tried_].less_than(times);
        if (!better && turns_ < window && saved > lost) return;
        saved = std::min(saved, 0.0);
        if (better) {
            level_ = tried_;
            saved_.fill(0);
            // If more threads have just been found to be faster, the budget for a trial of still more threads is
            // provided at once, so that this trial begins without delay. The same holds for fewer threads.
            if (trial_ < 2) saved_[trial_] = least_of_trial * loss(level_);
        }
        tried_ = level_;
    }

  private:
    static constexpr int least_of_trial = 2, window = 64; // in executions
    // A run time is counted as at most this multiple of the mean. Threads that are scheduled late cause delays of
    // milliseconds. A process may also have been suspended for seconds, which says nothing about the number of threads.
    static constexpr double longest = 100;

    // Times contains exponentially weighted means of the run time and of its square, over about `window` executions.
    struct Times {
        double mean = 0, square = 0;
        int turns = 0;

        void count(double seconds) {
            turns = std::min(turns + 1, window);
            const double counted = turns == 1 ? seconds : std::min(seconds, longest * mean);
            mean += (counted - mean) / turns;
            square += (counted * counted - square) / turns;
        }
        // Reduces the weight of old measurements, so that new ones count for more.
        void age() { turns -= turns / 4; }
        double variance() const { return std::max(square - mean * mean, 0.0); }
        // Returns whether the mean of this candidate is lower by more than the standard error of the difference. The
        // larger of the two variances is used for both candidates. A few executions without a late thread would
        // underestimate the variance.
        bool less_than(const Times &other) const {
            const double difference = other.mean - mean;
            const double variance_of_means = std::max(variance(), other.variance()) * (1.0 / turns + 1.0 / other.turns);
            return difference > 0 && difference * difference > variance_of_means;
        }
    };

    int threads_at(int level) const { return std::min(most_, 1 << level); }
    // Returns the expected additional time of one execution with the number of threads of level `other` instead of the
    // current one. The result is positive even if the other level seems to be faster or has not been measured, so that
    // trials remain rare. With 1 thread an execution may take up to p times as long as with the current p threads. If 1
    // thread has not been measured and p > 2, the result is therefore a quarter of the largest additional time, which
    // is p - 1 times the current mean.
    double loss(int other) const {
        const double mean = times_[level_].mean;
        const bool unknown_jump = times_[other].turns == 0 && level_ - other > 1;
        return std::max(times_[other].mean - mean, unknown_jump ? mean * (threads_at(level_) - 1) / 4 : mean / 8);
    }

    // Level k denotes min(2^k, most_) threads.
    int most_ = 1, top_ = 0, level_ = 0;
    // The next execution uses level tried_, which differs from level_ during a trial. turns_ is the number of
    // executions since begin() or, later, since the latest trial began.
    int tried_ = 0, turns_ = 0;
    std::array<Times, 14> times_{};
    std::size_t trial_ = 0;
    // The time that may be spent on trials with fewer threads, with more threads, and with 1 thread.
    std::array<double, 3> saved_{};
};

} // namespace cudaopt
