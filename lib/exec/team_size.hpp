// Selects the number of threads for an operation that is executed repeatedly, by measuring its run time.
#pragma once

#include <algorithm>
#include <array>

namespace cudaopt {

// Selects a number of threads. The candidates are 1, 2, 4, ... and the maximum. The current candidate is replaced by a
// neighbour, or by 1, if the mean run time of the latter is lower. The mean includes delays of threads that were
// scheduled late. If other processes use the processors, these delays dominate, and a single measurement says little.
// With 1 thread there is no such delay. Trials of other candidates are limited by a budget: each of the three
// alternatives may cost 1/45 of the total time, so that trials increase the total by at most 1/15.
class TeamSize {
  public:
    // Starts with the smallest candidate that is not below `first`; `most` is the maximum.
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
        if (tried_ != level_) return threads_at(tried_); // a trial is in progress
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

    // Records the run time of the execution that used the number of threads last returned by next().
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
            // If the number of threads has just been increased (reduced), the next larger (smaller) candidate gets its
            // budget in advance, so that its trial need not wait.
            if (trial_ < 2) saved_[trial_] = least_of_trial * loss(level_);
        }
        tried_ = level_;
    }

  private:
    static constexpr int least_of_trial = 2, window = 64; // in executions
    // Run times are clipped to this multiple of the mean. A thread that is scheduled late is late by milliseconds, but
    // a process may also have been suspended for seconds, which says nothing about the number of threads.
    static constexpr double longest = 100; // multiple of the mean

    // Exponentially weighted means of the run time and of its square, over about `window` executions.
    struct Times {
        double mean = 0, square = 0;
        int turns = 0;

        void count(double seconds) {
            turns = std::min(turns + 1, window);
            const double counted = turns == 1 ? seconds : std::min(seconds, longest * mean);
            mean += (counted - mean) / turns;
            square += (counted * counted - square) / turns;
        }
        // Gives new measurements more weight than old ones.
        void age() { turns -= turns / 4; }
        double variance() const { return std::max(square - mean * mean, 0.0); }
        // Returns whether the mean is lower by more than the standard error of the difference. The larger of the two
        // variances is used for both, because a few executions without a late thread underestimate the variance.
        bool less_than(const Times &other) const {
            const double difference = other.mean - mean;
            const double variance_of_means = std::max(variance(), other.variance()) * (1.0 / turns + 1.0 / other.turns);
            return difference > 0 && difference * difference > variance_of_means;
        }
    };

    int threads_at(int level) const { return std::min(most_, 1 << level); }
    // Returns the expected additional time of one execution with another candidate, compared with the current one. The
    // result is positive even if the candidate appears to be faster or is unknown, so that it is not tried all the
    // time. With one thread, the run time may be as many times longer as there are threads now.
    double loss(int other) const {
        const double mean = times_[level_].mean;
        const bool unknown_jump = times_[other].turns == 0 && level_ - other > 1;
        return std::max(times_[other].mean - mean, unknown_jump ? mean * (threads_at(level_) - 1) / 4 : mean / 8);
    }

    int most_ = 1, top_ = 0, level_ = 0; // level k stands for min(2^k, most_) threads
    // tried_ is the level of the next execution. turns_ counts executions since the last change or since a trial began.
    int tried_ = 0, turns_ = 0;
    std::array<Times, 14> times_{};
    std::size_t trial_ = 0;
    std::array<double, 3> saved_{}; // the time that may be spent on trials with fewer threads, with more, and with 1
};

} // namespace cudaopt
