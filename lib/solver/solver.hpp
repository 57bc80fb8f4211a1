// Runs a solve on the host: it executes the state machine's requests until the caller must evaluate f and g or perform
// another task. The requests are executed by the sweeps object, the backend's implementation of all operations on
// vectors of n elements (sweeps/sweeps.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lbfgsb/state_machine.hpp"
#include "operator/operator_sweeps.hpp"
#include "ranks/ranks.hpp"
#include "boundary/message.hpp"
#include "scaling/scaled_variables.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// Forms the message that describes the last event of a solve (sentence.cpp).
void describe(const Iteration &it, Message &message);

class Solver {
  public:
    // A function that creates the Sweeps of a backend on the handle's device. history_bits: the precision of S and Y.
    using MakeSweeps = std::unique_ptr<Sweeps> (*)(int backend, int64_t n, int history_bits, int device);

    // bits: the precision of the caller's vectors, 32 or 64
    Solver(int64_t n, int m, int bits, int backend, int device, MakeSweeps make_sweeps);

    Settings &settings() { return state_->settings; }
    const Settings &settings() const { return state_->settings; }
    const Results &results() const { return state_->results; }
    const StateMachine &state() const { return *state_; }
    int64_t dimension() const { return state_->n; } // the number of variables on all ranks
    int64_t own_dimension() const { return ranks_ ? ranks_->part().n : dimension(); }
    int memory() const { return state_->matrix().capacity(); }
    int64_t pairs() const { return state_->matrix().pairs(); }
    Sweeps &sweeps() { return *sweeps_; }
    bool started() const { return state_->started() || exchanging(); }
    bool ended() const { return state_->has_ended(); }
    double seconds() const {
        const double own = sweeps_->seconds();
        return own >= 0 ? own : host_seconds_;
    }
    void set_log(void (*write)(void *, const char *), void *user) { log_write_ = write, log_user_ = user; }
    bool writing_log() const { return writing_log_; } // whether the caller's log function is being called

    // Returns the current message. It describes either the last event of the solve or an error whose text was set
    // through new_message(). The former is formatted when this function is called.
    const Message &message() const;
    Message &new_message() {
        message_pending_ = false;
        return message_;
    }

    // The caller's arrays. The API boundary checks that all calls of one solve pass the same arrays.
    UserArrays arrays{};
    void *stream = nullptr; // the CUDA stream; not used on the host

    int resume();

    // Makes this handle one of several ranks, which stores the given part of the dimension() variables (rank.cpp). The
    // function may throw.
    void become_rank(const Part &part) {
        ranks_ = std::make_unique<Ranks>(part);
        scaled_.reset();
        own_n_ = -1;
    }
    Ranks *ranks() { return ranks_.get(); }
    const Ranks *ranks() const { return ranks_.get(); }
    // Returns whether an exchange has been requested from the caller and is not complete.
    bool exchanging() const { return ranks_ && ranks_->packets().current_exchange() != Exchange::none; }
    // Ends the solve because an exchange between ranks failed.
    int end_without_exchange(const char *why);

    void reset() { begin_anew(false); }
    // Begins a new solve like reset(), but keeps the correction pairs.
    void warm_start();

    // save() writes a checkpoint, which includes the caller's arrays (checkpoint.cpp). If `to` is NULL, it only returns
    // the size of the checkpoint. A solve cannot be saved before its start, after a failure of the backend, or on a
    // rank after any failure.
    bool can_save() const { return state_->started() && !state_->broken() && !(ranks_ && ranks_->failed()); }
    int64_t save(unsigned char *to);
    // Restores a saved solve. Returns 0, or a negative code and sets the message.
    int load(const unsigned char *from, int64_t bytes);
    // Copies the diagonal of H_0 of the newest quadratic model to host memory. Real is the precision of the handle.
    template <class Real> void read_diagonal(Real *to) {
        const double scale = 1 / state_->model_theta();
        if (own_dimension() == 0) return;
        if (state_->weighted()) sweeps_->fetch({HeldVector::diagonal}, to);
        else std::fill_n(to, own_dimension(), Real(1));
        std::transform(to, to + own_dimension(), to, [=](Real h) { return static_cast<Real>(scale * h); });
        if (!scaled_) return;
        // x = s z, so that an element of the diagonal for x is s^2 times that for z.
        const std::vector<double> s = scales();
        for (std::size_t i = 0; i < s.size(); i++) to[i] = static_cast<Real>(to[i] * s[i] * s[i]);
    }
    int64_t workspace_bytes() const {
        return sweeps_->workspace_bytes() + (scaled_ ? scaled_->workspace_bytes() : 0) +
               (operator_ ? operator_->workspace_bytes() : 0);
    }
    // Returns whether the initial Hessian is an operator.
    bool uses_operator() const { return settings().metric == Metric::callers_operator; }
    std::atomic<bool> stop_requested{false};

  private:
    using Clock = CancellationToken::Clock;
    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };

    // Allocates the state with calloc(), so that the memory pages are not touched before they are used: a thousand
    // pairs need a gigabyte.
    using StateBlock = std::unique_ptr<void, Free>;
    static StateBlock zero_bytes(int64_t count);

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
    void prepare(const Request &request);
    void perform(const Request &request);
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - first_call_).count(); }
    void move_into_box();
    void bind_arrays();
    int prepare_scales(bool with_x);
    void scale_input();
    void unscale_output();
    std::vector<double> scales();
    uint64_t scales_checksum();
    int check_scales(uint64_t saved);
    Resources resources() { return {static_cast<int>(settings().threads), stream, cancellation_}; }
    void allocate(const Settings &settings);
    int recognise(const unsigned char *from, int64_t bytes);
    int read_state(const unsigned char *from, int64_t bytes, StateBlock &block);
    int check_bounds(const StateMachine &state, const unsigned char *x);
    template <class Visit> static void each_vector(const StateMachine &state, const Visit &visit);
    int64_t bytes_of_vectors(const StateMachine &state) const;
    void log_state();
    void log_start();
    void log_iterate();
    void log_end();
    bool row_is_due() const;
    void log_row();
    void log_vector(const char *name, const void *vector);
    void write_line(const char *line);
    void log_line(const char *pattern, ...) __attribute__((format(printf, 2, 3)));

    const StateBlock block_; // the memory of the state machine
    StateMachine *const state_;
    const int backend_, device_;
    const MakeSweeps make_sweeps_;
    const int bits_; // the precision of the caller's vectors
    // The history precision and the number of variables with which the object sweeps_ was created. If a setting changes
    // one of them, the object is replaced.
    int64_t history_bits_, own_n_;
    bool by_segments_ = false; // whether the sweeps form one sum per segment of the index range (sweeps/segments.hpp)
    std::unique_ptr<Sweeps> sweeps_;
    std::unique_ptr<OperatorSweeps> operator_;      // NULL: the initial Hessian is no operator
    std::unique_ptr<ScaledVariables> scaled_;       // NULL: the solve is not in scaled variables
    bool x_is_new_ = false, g_is_restored_ = false; // whether z or s g has changed since the last conversion to x or g
    std::unique_ptr<Ranks> ranks_;                  // NULL: this handle stores all variables
    Reply reply_;                                   // the reply to the last request of the state machine
    DirectionSums direction_sums_{}; // the sums over the direction; reply_.direction points to them or is NULL
    mutable Message message_;
    mutable bool message_pending_ = false;
    bool resumed_ = false;     // whether the last task must be returned again, after a checkpoint was loaded
    double own_f_ = 0;         // on a rank: the contribution to f that its caller supplied
    bool stop_agreed_ = false; // all ranks have learned that one of them requests a stop
    int end_code_ = 0;         // on a rank: the return code, kept during the last exchange
    int origin_ = -1;          // the rank that caused the termination, or -1 if no single rank did
    Clock::time_point first_call_{};
    CancellationToken cancellation_{stop_requested};
    double host_seconds_ = 0;
    void (*log_write_)(void *, const char *) = nullptr;
    void *log_user_ = nullptr;
    bool writing_log_ = false;
};

} // namespace cudaopt
