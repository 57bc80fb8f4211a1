// The common part of the fuzzers: episodes, each drawn from one seed, a watchdog over each call of the library, and
// the record of faults.
//
//     fuzz_X [--seed S] [--calls N] [--seconds T] [--kind NAME] [--trace]
//
// runs episodes with the seeds S, S + 1, ... until N calls have been made or T seconds have passed; --kind selects the
// episodes of one kind. A fault is reported in a line with the seed and the step. `--seed S --calls 1` repeats that
// episode alone, and --trace prints its calls. The exit status is 0, or 1 after a fault, 2 for a usage error, or 3 if a
// call does not return, which ends the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"

namespace fuzz {

// Run::fault throws this, because a fault ends its episode.
struct EndOfEpisode {};

class Run {
  public:
    explicit Run(uint64_t seed) : random(seed), seed_(seed) {}
    Random random;

    // Makes one call of the library under the watchdog, which prints the name if the call does not return.
    template <class Action> auto call(const char *name, const Action &action) {
        const Watched watched(name, seed_, ++step_);
        return action();
    }
    // Records a fault and ends the episode. kind: one word, by which faults are counted
    [[noreturn]] void fault(const std::string &kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
    // Records a fault after which the episode continues.
    void lesser_fault(const std::string &kind, const char *format, ...) const __attribute__((format(printf, 3, 4)));
    void require(bool holds, const char *kind, const char *what) {
        if (!holds) fault(kind, "%s", what);
    }
    // Prints a line if --trace is given.
    void trace(const char *format, ...) const __attribute__((format(printf, 2, 3)));
    uint64_t seed() const { return seed_; }
    int64_t steps() const { return step_; }

    // The statistics of the episode. A call counts as inside a solve if f was evaluated in that solve before.
    struct Counts {
        int64_t inside = 0, ended = 0, damaged = 0; // calls, solves, checkpoints
    };
    void begin_solve() {
        solve_began_ = step_;
        evaluated_ = false;
    }
    void note_evaluation() { evaluated_ = true; }
    void end_solve(bool ended) {
        if (evaluated_) counts_.inside += step_ - solve_began_;
        counts_.ended += ended && evaluated_;
    }
    // Counts calls that other threads have made.
    void add_calls(int64_t calls) { step_ += calls; }
    void note_damaged_checkpoint() { counts_.damaged++; }
    const Counts &counts() const { return counts_; }

  private:
    void record(const std::string &kind, const char *text) const;
    struct Watched {
        Watched(const char *name, uint64_t seed, int64_t step);
        ~Watched();
    };
    const uint64_t seed_;
    int64_t step_ = 0, solve_began_ = 0;
    bool evaluated_ = false;
    Counts counts_;
};

// A kind of episode, and its relative frequency among all kinds.
struct Kind {
    const char *name;
    double share;
    void (*episode)(Run &);
};

// The main program.
int run_episodes(int count, char **arguments, const std::vector<Kind> &kinds);

} // namespace fuzz
