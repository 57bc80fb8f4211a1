// L-BFGS-B by reverse communication. All state is in the object: resume() goes to the phase it stopped in, does that
// phase's short work, and returns the next task. It never loops over n; Sweeps do.
//
//   start -> first_point -> [diagonal] -> searching -> ... -> [reporting] -> [diagonal] -> searching -> ... -> ended
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "lbfgsb/box.hpp"
#include "lbfgsb/subspace.hpp"
#include "line_search/more_thuente.hpp"
#include "solver/message.hpp"
#include "solver/settings.hpp"

namespace cudaopt {

class Solver {
  public:
    Solver(int64_t n, int m, std::unique_ptr<Sweeps> sweeps);

    Settings settings;
    const Results &results() const { return results_; }
    Message &message() { return message_; }
    const Message &message() const { return message_; }
    int64_t pairs() const { return memory_.pairs(); }
    int64_t dimension() const { return n_; }
    int64_t memory() const { return memory_.capacity(); }
    Sweeps &sweeps() { return *sweeps_; }
    const Sweeps &sweeps() const { return *sweeps_; }
    bool started() const { return phase_ != Phase::start; }
    bool ended() const { return phase_ == Phase::ended; }
    double seconds() const {
        const double own = sweeps_->seconds();
        return own >= 0 ? own : host_seconds_;
    }
    void set_log(void (*write)(void *, const char *), void *user) { log_write_ = write, log_user_ = user; }

    // The caller's arrays, checked by the rim: each call of one solve brings the same.
    UserArrays arrays{};
    void *stream = nullptr; // CUDA

    int resume();
    void reset();
    std::atomic<bool> stop_requested{false};

  private:
    enum class Phase { start, first_point, searching, reporting, diagonal, ended };
    using Clock = std::chrono::steady_clock;

    int dispatch();
    int begin();
    int judge_start();
    int judge_trial();
    void note_direction(const DirectionSums &sums);
    int accept(const PanelSums &sums);
    int judge_iterate();
    int next_direction();
    bool direction_from(const PanelSums *sums);
    int truncate_direction();
    int search_again(double step);
    int refresh_or_fail();
    int ask_evaluation();
    int end(int code);
    int end_at_limit(bool at_iterate);
    void note_iterate(const PanelSums &sums);
    void log_header();
    void log_iterate();
    void log_end();
    void log_vector(const char *name, const void *vector);
    void log_line(const char *format, ...) __attribute__((format(printf, 2, 3)));
    bool logs() const { return log_write_ && settings.log_frequency >= 0; }

    const int64_t n_;
    std::unique_ptr<Sweeps> sweeps_;
    Results results_;
    Message message_;
    Phase phase_ = Phase::start;
    Clock::time_point first_call_{};
    double host_seconds_ = 0;
    void (*log_write_)(void *, const char *) = nullptr;
    void *log_user_ = nullptr;

    bool bounded_ = false, boxed_ = false;
    LimitedMemory memory_;
    CauchySearch cauchy_;
    Subspace subspace_;
    MoreThuente line_;
    GatherRequest panel_{};               // of the gather that the next direction starts from
    const PanelSums *gathered_ = nullptr; // its sums, while they still stand
    DirectionRequest direction_{};
    double f_base_ = 0, slope_base_ = 0;               // at x_base, along d
    int64_t cauchy_free_ = 0, cauchy_breakpoints_ = 0; // of the direction under way
    double f_previous_ = 0;
    double f_refreshed_ = infinity, pg_refreshed_ = infinity; // at the last refresh that a search made necessary
    int64_t search_evaluations_ = 0, cuts_in_a_row_ = 0;
    bool search_started_ = false;
};

} // namespace cudaopt
