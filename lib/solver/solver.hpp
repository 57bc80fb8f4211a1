// L-BFGS-B by reverse communication. All state is in the object: resume() goes to the phase it stopped in, does that
// phase's short work, and returns the next task. It never loops over n; Sweeps do.
//
//   start -> first_point -> [diagonal] -> searching -> ... -> [reporting] -> [diagonal] -> searching -> ... -> ended
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "lbfgsb/box.hpp"
#include "lbfgsb/subspace.hpp"
#include "line_search/more_thuente.hpp"
#include "rim/message.hpp"
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
    // As reset(), but the pairs stay.
    void warm_start();

    // A checkpoint (checkpoint.cpp), with the caller's arrays in it; its bytes alone while `to` is NULL. There is none
    // of a solve that has not begun, or that a failure of the machine ended.
    bool can_save() const { return phase_ != Phase::start && !broken_; }
    int64_t save(unsigned char *to);
    // On to where the solve was that was saved. 0, or a negative code with its message.
    int load(const unsigned char *from, int64_t bytes);
    std::atomic<bool> stop_requested{false};

  private:
    enum class Phase { start, first_point, searching, reporting, diagonal, ended };
    using Clock = Patience::Clock;

    struct FirstStep {
        double theta, step;
    };
    using Ending = std::optional<int>; // the task or code to return instead of going on; CUDA_OPT_CONVERGED is 0
    enum class SearchFailure { no_descent, nothing_lower, lower_not_accepted, lower_not_found_again };

    int call();
    int dispatch();
    int give_up(int64_t iterations_before);
    int begin();
    int judge_start();
    int judge_trial();
    Ending judge_direction();
    bool satisfies_wolfe(double f, double slope) const;
    bool satisfies_approximate_wolfe(double f, double slope) const;
    void begin_line_search(bool first_accepted);
    int try_step(double step);
    int cut_back();
    int exhaust_search(const PanelSums &sums, bool warned);
    void note_direction(const DirectionSums &sums);
    int accept(const PanelSums &sums);
    void keep_best(double f);
    void note_progress();
    int judge_iterate();
    int stopping_test() const;
    double least_decrease() const;
    int converge(int test);
    int next_direction();
    FirstStep first_step() const;
    bool direction_from(const PanelSums *sums);
    int truncate_direction();
    int search_again(double step);
    int fail_search(SearchFailure failure);
    void tell_failure(SearchFailure failure);
    void refresh();
    void settle(bool at_iterate);
    void finish_pair();
    void begin_anew();
    void allocate();
    bool recognise(const unsigned char *from, int64_t bytes);
    template <class Archive> void exchange(Archive &archive);
    template <class Visit> void each_vector(const Visit &visit);
    int ask_evaluation();
    int end(int code);
    int stop();
    Ending end_at_limit(bool at_iterate);
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
    Patience patience_{stop_requested};
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
    double f_base_ = 0, slope_base_ = 0; // at x_base, along d
    double step_ = 0;                    // of the trial point, along d
    double unit_ = 1;                    // d as L-BFGS-B has it is d / unit_: results are told in steps along that
    int64_t cauchy_free_ = 0, cauchy_breakpoints_ = 0; // of the direction under way
    double f_previous_ = 0;
    double f_best_ = infinity; // of all iterates
    IterateFacts best_;        // while it is put aside
    bool best_is_aside_ = false;
    double f_refreshed_ = infinity, pg_refreshed_ = infinity; // at the last refresh that a search made necessary
    std::optional<DirectionSums> direction_sums_; // of the direction under way, where the sweeps no longer have them
    bool pair_unfinished_ = false;                // the newest pair's y is still g_base
    bool resumed_ = false;                        // task_ is to be told again
    bool broken_ = false;                         // the machine failed
    int task_ = 0;                                // the last one
    int refreshes_in_vain_ = 0;
    int in_vain_ = 0; // iterations since these two have fallen
    double f_noted_ = infinity, pg_noted_ = infinity;
    int reached_ = 0; // the test that holds at the iterate, while the solve goes on, for a lower f
    int postponed_ = 0;
    int64_t search_evaluations_ = 0, cuts_in_a_row_ = 0;
    bool fresh_start_ = false; // the next search goes along -g, at its own scale
    bool direction_judged_ = false, search_started_ = false;
    bool exhausted_ = false; // the search ended without a step that meets both conditions
    bool returning_ = false; // and the trial point is the lowest that it saw
};

} // namespace cudaopt
