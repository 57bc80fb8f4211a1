// How many threads to share a work among that comes again and again, learned from the time it takes.
#pragma once

#include <algorithm>
#include <array>

namespace cudaopt {

// The numbers in question are 1, 2, 4, ... and the most. The one in use gives way to a neighbour whose times are less.
// The neighbours are tried now and then: a trial may cost, beyond what its turns would have cost anyway, the thirtieth
// part of the time since the last one, so that trials make the whole no slower than by a fifteenth.
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
        means_.fill(unknown);
        saved_.fill(0);
    }

    // Threads for the next time.
    int next() {
        if (turns_ > 0) return threads_at(tried_); // a trial goes on
        tried_ = level_;
        if (means_[level_] == unknown) return threads_at(level_);
        for (const int side : {0, 1}) {
            const int other = side == 0 ? level_ - 1 : level_ + 1;
            if (other < 0 || other > top_ || saved_[side] < turns_of_trial * loss(other)) continue;
            saved_[side] = 0;
            tried_ = other;
            turns_ = turns_of_trial;
            break;
        }
        return threads_at(tried_);
    }

    // What it took, with that many.
    void took(double seconds) {
        if (turns_ == 0)
            for (double &saved : saved_) saved += seconds / 30;
        else if (--turns_ > 0) return; // this turn may have had to wake the threads
        double &mean = means_[tried_];
        // A thread that is late is late by milliseconds; a process that was halted for seconds says nothing.
        mean = mean == unknown ? seconds : mean + (std::min(seconds, 100 * mean) - mean) / 4;
        const int tried_from = level_;
        for (const int other : {tried_from - 1, tried_from + 1})
            if (other >= 0 && other <= top_ && means_[other] != unknown && means_[other] < means_[level_])
                level_ = other;
    }

  private:
    static constexpr double unknown = -1;
    static constexpr int turns_of_trial = 2; // of which the last counts

    int threads_at(int level) const { return std::min(most_, 1 << level); }
    // What a turn with another number is expected to take more. Something also where it seems to be no worse, or is not
    // known: it is not tried all the time.
    double loss(int other) const {
        const double mean = means_[level_];
        return means_[other] == unknown ? mean / 4 : std::max(means_[other] - mean, mean / 8);
    }

    int most_ = 1, top_ = 0, level_ = 0; // numbers, of which level 0 is 1
    int tried_ = 0, turns_ = 0;          // the level of the next time, and the turns left of a trial
    std::array<double, 14> means_{};     // the times of each level, later ones weighing more
    std::array<double, 2> saved_{};      // what may be lost by trying fewer, and more
};

} // namespace cudaopt
