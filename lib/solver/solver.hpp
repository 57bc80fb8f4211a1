// A solve on the host's side: it lets the sweeps perform what the state machine asks for, until the caller is asked.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "lbfgsb/state_machine.hpp"
#include "ranks/ranks.hpp"
#include "boundary/message.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

class Solver {
  public:
    // What makes the sweeps, for elements of S and Y of so many bits, on the handle's device.
    using MakeSweeps = std::unique_ptr<Sweeps> (*)(int backend, int64_t n, int history_bits, int device);

    // bits: of the caller's vectors
    Solver(int64_t n, int m, int bits, int backend, int device, MakeSweeps make_sweeps);

    Settings &settings() { return state_->settings; }
    const Settings &settings() const { return state_->settings; }
    const Results &results() const { return state_->results; }
    const StateMachine &state() const { return *state_; }
    int64_t dimension() const { return state_->n; } // all variables
    int64_t own_dimension() const { return ranks_ ? ranks_->part().n : dimension(); }
    int memory() const { return state_->matrix().capacity(); }
    int64_t pairs() const { return state_->matrix().pairs(); }
    Sweeps &sweeps() { return *sweeps_; }
    const Sweeps &sweeps() const { return *sweeps_; }
    bool started() const { return state_->started() || exchanging(); }
    bool ended() const { return state_->has_ended(); }
    double seconds() const {
        const double own = sweeps_->seconds();
        return own >= 0 ? own : host_seconds_;
    }
    void set_log(void (*write)(void *, const char *), void *user) { log_write_ = write, log_user_ = user; }
    bool writing_log() const { return writing_log_; } // the caller's function is at work, in a call of resume()

    // What has happened last: an event of the solve, which is put into words here, or what a caller of new_message()
    // has set.
    const Message &message() const;
    Message &new_message() {
        message_pending_ = false;
        return message_;
    }

    // The caller's arrays, checked at the API boundary: each call of one solve passes the same arrays.
    UserArrays arrays{};
    void *stream = nullptr; // CUDA

    int resume();

    // The handle is one of several, and holds these variables of dimension() (rank.cpp). Throws.
    void become_rank(const Part &part) {
        ranks_ = std::make_unique<Ranks>(part);
        own_n_ = -1;
    }
    Ranks *ranks() { return ranks_.get(); }
    const Ranks *ranks() const { return ranks_.get(); }
    // Whether the caller has been asked for an exchange.
    bool exchanging() const { return ranks_ && ranks_->packets().current_exchange() != Exchange::none; }
    // The exchange could not be done: the solve ends here.
    int end_without_exchange(const char *why);

    void reset() { begin_anew(false); }
    // As reset(), but the pairs stay.
    void warm_start();

    // A checkpoint (checkpoint.cpp), with the caller's arrays in it; its bytes alone while `to` is NULL. There is none
    // of a solve that has not begun, or that a failure of the machine ended or, on a rank, will end.
    bool can_save() const { return state_->started() && !state_->broken() && !(ranks_ && ranks_->failed()); }
    int64_t save(unsigned char *to);
    // On to where the solve was that was saved. 0, or a negative code with its message.
    int load(const unsigned char *from, int64_t bytes);
    // The diagonal of H_0 as the newest model has it, to host memory; Real is the precision of the handle.
    template <class Real> void read_diagonal(Real *to) {
        const double scale = 1 / state_->model_theta();
        if (own_dimension() == 0) return;
        if (state_->weighted()) sweeps_->fetch({HeldVector::diagonal}, to);
        else std::fill_n(to, own_dimension(), Real(1));
        std::transform(to, to + own_dimension(), to, [=](Real h) { return static_cast<Real>(scale * h); });
    }
    std::atomic<bool> stop_requested{false};

  private:
    using Clock = CancellationToken::Clock;
    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };

    // Uses calloc, so that the gigabyte that a thousand pairs need is not touched before it is used.
    static void *zero_bytes(int64_t count);

    void begin_anew(bool keep_pairs);
    int call();
    int run(Request request);
    int call_as_rank();
    int continue_as_rank();
    int run_as_rank(Request request);
    int end_as_rank(int code);
    int break_off_as_rank(int code, const Message &sentence);
    template <class Action> void attempt(const Action &action);
    void perform_own(const Request &request);
    void allocate_as_rank();
    void perform(const Request &request);
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - first_call_).count(); }
    void move_into_box();
    void allocate(const Settings &settings);
    bool recognise(const unsigned char *from, int64_t bytes);
    std::unique_ptr<void, Free> read_state(const unsigned char *from, int64_t bytes);
    bool fits_bounds(const StateMachine &state, const unsigned char *x);
    template <class Visit> static void each_vector(const StateMachine &state, const Visit &visit);
    int64_t bytes_of_vectors(const StateMachine &state) const;
    void log_start();
    void log_iterate();
    void log_end();
    bool row_is_due() const;
    void log_row();
    void log_vector(const char *name, const void *vector);
    void write_line(const char *line);
    void log_line(const char *pattern, ...) __attribute__((format(printf, 2, 3)));

    const std::unique_ptr<void, Free> block_; // the state's
    StateMachine *const state_;
    const int backend_, device_;
    const MakeSweeps make_sweeps_;
    const int bits_;               // of the caller's vectors
    int64_t history_bits_, own_n_; // of the sweeps there are
    bool by_segments_ = false;     // whether they are told of which part of the segments they are
    std::unique_ptr<Sweeps> sweeps_;
    std::unique_ptr<Ranks> ranks_;   // NULL: the handle has all variables
    Reply reply_;                    // to the state's last request
    DirectionSums direction_sums_{}; // in it
    mutable Message message_;
    mutable bool message_pending_ = false;
    bool resumed_ = false;     // the last task is to be told again
    double own_f_ = 0;         // what the caller has put there, on a rank
    bool stop_agreed_ = false; // all ranks know that one of them wants it
    int end_code_ = 0;         // of a rank's solve, while the last exchange is done
    int origin_ = -1;          // the rank that is the reason of the end; -1: none alone
    Clock::time_point first_call_{};
    CancellationToken cancellation_{stop_requested};
    double host_seconds_ = 0;
    void (*log_write_)(void *, const char *) = nullptr;
    void *log_user_ = nullptr;
    bool writing_log_ = false;
};

} // namespace cudaopt
