// How many threads to share a work among that comes again and again, learned from the time it takes.
#pragma once

#include <algorithm>
#include <array>

namespace cudaopt {

// The numbers in question are 1, 2, 4, ... and the most. The one in use gives way to a neighbour whose times are less
// in the mean, late threads and all: beside other processes it is these that decide, and a single turn says nothing; or
// to 1, where nobody can be late. They are tried now and then. What a trial costs more is paid from a 45th part of the
// time, for each of the three, so that trials make the whole no slower than by a fifteenth.
class TeamSize {
  public:
    // Of at most so many threads; begins with the smallest number that is not below `first`.
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

    // Threads for the next time.
    int next() {
        if (tried_ != level_) return threads_at(tried_); // a trial goes on
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

    // What it took, with that many.
    void took(double seconds) {
        Times &times = times_[level_];
        const bool first = turns_++ == 0; // it may have had to make the threads, or to wake them
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
            if (trial_ < 2) saved_[trial_] = least_of_trial * loss(level_); // at once on the same way
        }
        tried_ = level_;
    }

  private:
    static constexpr int least_of_trial = 2, window = 64; // turns
    // A thread that is late is late by milliseconds; a process that was halted for seconds says nothing.
    static constexpr double longest = 100; // times the mean

    // The mean of the last turns, so to speak, and that of the squares.
    struct Times {
        double mean = 0, square = 0;
        int turns = 0;

        void count(double seconds) {
            turns = std::min(turns + 1, window);
            const double counted = turns == 1 ? seconds : std::min(seconds, longest * mean);
            mean += (counted - mean) / turns;
            square += (counted * counted - square) / turns;
        }
        // What is to come counts more than what was.
        void age() { turns -= turns / 4; }
        double variance() const { return std::max(square - mean * mean, 0.0); }
        // By more than the standard error of the difference. The larger variance is taken for both, as a few turns
        // among which no thread was late show none.
        bool less_than(const Times &other) const {
            const double difference = other.mean - mean;
            const double variance_of_means = std::max(variance(), other.variance()) * (1.0 / turns + 1.0 / other.turns);
            return difference > 0 && difference * difference > variance_of_means;
        }
    };

    int threads_at(int level) const { return std::min(most_, 1 << level); }
    // What a turn with another number is expected to take more. Something also where it seems to be no worse, or is not
    // known: it is not tried all the time. 1 may take as many times as long as there are threads now.
    double loss(int other) const {
        const double mean = times_[level_].mean;
        const bool unknown_jump = times_[other].turns == 0 && level_ - other > 1;
        return std::max(times_[other].mean - mean, unknown_jump ? mean * (threads_at(level_) - 1) / 4 : mean / 8);
    }

    int most_ = 1, top_ = 0, level_ = 0; // numbers, of which level 0 is 1
    int tried_ = 0, turns_ = 0;          // the level of the next time, and the turns since the beginning or a trial's
    std::array<Times, 14> times_{};
    std::size_t trial_ = 0;
    std::array<double, 3> saved_{}; // what may be lost by trying fewer, more, and 1
};

} // namespace cudaopt
