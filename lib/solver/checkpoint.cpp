// A checkpoint consists of a header, the state of the solver, the vectors and a checksum. Its format does not depend on
// the backend.
#include <cstring>
#include <vector>

#include "cuda_opt.h"
#include "lbfgsb/loaded.hpp"
#include "boundary/checksum.hpp"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

struct Header {
    char magic[8] = {'c', 'u', 'd', 'a', '_', 'o', 'p', 't'};
    uint32_t version = 20, byte_order = 0x01020304;
    // bytes: size of the checkpoint from header to checksum; state: size of the state
    int64_t bytes = 0, n = 0, memory = 0, precision = 0, state = 0;
    uint64_t scales = 0; // checksum of the scales of the variables; 0: there are no scales
    // Times of the solve in seconds: since its start, and within calls of the library.
    double seconds_passed = 0, host_seconds = 0;

    // Returns false if a time is NaN, negative or so large that the integers of the clock would overflow.
    bool has_consistent_times() const {
        constexpr double longest = 1e9; // 31 years
        return dense::is_within(0.0, seconds_passed, longest) && dense::is_within(0.0, host_seconds, longest);
    }
};
constexpr int64_t header_bytes = sizeof(Header), check_bytes = sizeof(uint64_t);

Header header_of(const unsigned char *from) {
    Header header;
    std::memcpy(&header, from, sizeof header);
    return header;
}

} // namespace

template <class Visit> void Solver::each_vector(const StateMachine &state, const Visit &visit) {
    for (const auto kind : {HeldVector::x, HeldVector::f, HeldVector::g}) visit(HeldVector{kind});
    if (state.is_at_trial())
        for (const auto kind : {HeldVector::x_base, HeldVector::s_column, HeldVector::g_base})
            visit(HeldVector{kind, state.spare_slot()});
    if (state.best_saved)
        for (const auto kind : {HeldVector::aside_x, HeldVector::aside_g}) visit(HeldVector{kind});
    if (state.learned_diagonal().exists()) visit(HeldVector{HeldVector::diagonal});
    const CompactMatrix<0> &memory = state.matrix();
    for (int pair = 0; pair < memory.pairs(); pair++) {
        const int slot = memory.slot(pair);
        const bool unfinished = state.pair_unfinished() && slot == memory.newest_slot();
        for (const auto kind : {HeldVector::s_column, unfinished ? HeldVector::g_base : HeldVector::y_column})
            visit(HeldVector{kind, slot});
    }
}

// Returns the number of bytes that the vectors of a solve occupy in a checkpoint.
int64_t Solver::bytes_of_vectors(const StateMachine &state) const {
    const int64_t whole = dimension() * (bits_ / 8), stored = dimension() * (state.settings.history_bits / 8);
    int64_t bytes = 0;
    each_vector(state, [&](const HeldVector &which) {
        const bool column = which.kind == HeldVector::s_column || which.kind == HeldVector::y_column;
        bytes += which.kind == HeldVector::f ? static_cast<int64_t>(sizeof(double)) : column ? stored : whole;
    });
    return bytes;
}

int64_t Solver::save(unsigned char *to) {
    // If the caller has already performed the last task, g has not been converted to the scaled variables yet.
    if (to) scale_input();
    // On a GPU, the sums over a direction are formed only with the next inner products. Therefore form inner products
    // here, and use only the sums over the direction.
    if (to && state_->awaits_direction_sums()) {
        sweeps_->inner_products(state_->products_at_trial()); // without weights and without an update of the diagonal
        state_->set_direction_sums(sweeps_->direction_sums());
    }
    Header header;
    header.seconds_passed = seconds_passed();
    header.host_seconds = host_seconds_;
    header.n = dimension();
    header.memory = memory();
    header.precision = bits_;
    header.state = state_bytes(memory());
    header.bytes = header_bytes + header.state + bytes_of_vectors(*state_) + check_bytes;
    if (!to) return header.bytes;
    header.scales = scales_checksum();

    unsigned char *next = to;
    const auto write = [&](const void *from, int64_t bytes) {
        std::memcpy(next, from, static_cast<std::size_t>(bytes));
        next += bytes;
    };
    write(&header, header_bytes);
    write(block_.get(), header.state);
    each_vector(*state_, [&](const HeldVector &which) {
        sweeps_->fetch(which, next);
        next += sweeps_->bytes_of(which);
    });
    const uint64_t check = checksum(to, next - to);
    write(&check, check_bytes);
    return header.bytes;
}

// Returns 0 if the bytes are a complete, undamaged checkpoint of a solve with this n, m and precision. Otherwise it
// sets the message and returns a negative code, as the next two functions do.
int Solver::recognise(const unsigned char *from, int64_t bytes) {
    const Header own;
    if (bytes < header_bytes + check_bytes || std::memcmp(from, own.magic, sizeof own.magic) != 0)
        return new_message().refuse_input("these %lld bytes are not a checkpoint", shown(bytes));
    const Header header = header_of(from);
    if (header.version != own.version || header.byte_order != own.byte_order)
        return new_message().refuse_input(
            "the checkpoint is of version %u and byte order %#x, but this library reads version %u and %#x",
            header.version, header.byte_order, own.version, own.byte_order);
    if (header.n != dimension() || header.memory != memory() || header.precision != bits_)
        return new_message().refuse_input("the checkpoint is of n = %lld, m = %lld and %lld bits, but the handle has n "
                                          "= %lld, m = %d and %d bits",
                                          shown(header.n), shown(header.memory), shown(header.precision),
                                          shown(dimension()), memory(), bits_);
    if (header.state != state_bytes(memory()))
        return new_message().refuse_input("the checkpoint is of another version of the library: its state has %lld "
                                          "bytes, here it has %lld",
                                          shown(header.state), shown(state_bytes(memory())));
    if (header.bytes != bytes)
        return new_message().refuse_input("the checkpoint is %s: it has to have %lld bytes, but %lld were given",
                                          bytes < header.bytes ? "incomplete" : "too long", shown(header.bytes),
                                          shown(bytes));
    const int64_t checked = bytes - check_bytes;
    uint64_t written;
    std::memcpy(&written, from + checked, sizeof written);
    if (written == checksum(from, checked)) return 0;
    return new_message().refuse_input("the checkpoint is damaged: its %lld bytes do not match their checksum",
                                      shown(bytes));
}

// Copies the state of a checkpoint that was recognised into a new block, if the state is valid for this handle.
int Solver::read_state(const unsigned char *from, int64_t bytes, StateBlock &block) {
    const int64_t numbers = state_bytes(memory()), of_vectors = bytes - header_bytes - numbers - check_bytes;
    block = zero_bytes(numbers);
    const bool all_there = of_vectors >= 0;
    if (all_there) std::memcpy(block.get(), from + header_bytes, static_cast<std::size_t>(numbers));
    StateMachine &state = *static_cast<StateMachine *>(block.get());
    if (!all_there || !state.is_consistent(dimension(), memory(), bits_))
        return new_message().refuse_input("the checkpoint is inconsistent: its state is not one of n = %lld and m = %d",
                                          shown(dimension()), memory());
    if (bytes_of_vectors(state) == of_vectors) return 0;
    return new_message().refuse_input(
        "the checkpoint is inconsistent: its vectors have %lld bytes, but its state needs %lld", shown(of_vectors),
        shown(bytes_of_vectors(state)));
}

// Checks that the current bounds are consistent with the saved solve and its x. If not, the caller's x is restored.
int Solver::check_bounds(const StateMachine &state, const unsigned char *x) {
    std::vector<unsigned char> own(static_cast<std::size_t>(sweeps_->bytes_of({HeldVector::x})));
    sweeps_->fetch({HeldVector::x}, own.data());
    sweeps_->store({HeldVector::x}, x);
    const StartReport report = sweeps_->check_start();
    const int64_t n = dimension();
    const bool same_kind = (report.bounded > 0) == state.bounded && (report.boxed == n) == state.boxed;
    if (report.usable(n) && report.projected == 0 && same_kind) return 0;
    sweeps_->store({HeldVector::x}, own.data());
    return new_message().refuse_input("the bounds are not those of the solve that was saved, which had %s: now %lld of "
                                      "%lld variables are outside their bounds, and %lld have a bound",
                                      state.boxed     ? "two bounds for each variable"
                                      : state.bounded ? "bounds for some variables"
                                                      : "no bounds",
                                      shown(report.projected), shown(n), shown(report.bounded));
}

// Nothing in the handle changes before the whole checkpoint has been validated. After that only allocations and CUDA
// calls can fail.
int Solver::load(const unsigned char *from, int64_t bytes) {
    if (const int code = recognise(from, bytes)) return code;
    StateBlock block;
    if (const int code = read_state(from, bytes, block)) return code;
    StateMachine &saved = *static_cast<StateMachine *>(block.get());
    const Settings before = settings();
    // The number of threads of this handle is kept, because the machine may have another number of processors than the
    // one that saved the checkpoint.
    saved.settings.threads = before.threads;
    saved.settings.timed = before.timed;
    if (saved.settings.metric == Metric::callers && !arrays.diagonal)
        return new_message().refuse_call(
            "the solve that was saved has a diagonal, but cuda_opt_set_diagonal has given no array");
    const Header header = header_of(from);
    if (!header.has_consistent_times())
        return new_message().refuse_input(
            "the checkpoint is inconsistent: its solve has taken %g seconds, %g of them in calls",
            header.seconds_passed, header.host_seconds);
    from += header_bytes + header.state;
    try {
        // The pairs of a warm start are kept until the whole checkpoint has been validated.
        allocate(pairs() > 0 ? before : saved.settings);
        if (const int code = prepare_scales(false)) return code;
        if (const int code = check_scales(header.scales)) return code;
        if (const int code = check_bounds(saved, from)) return code;
        allocate(saved.settings);
        each_vector(saved, [&](const HeldVector &which) {
            sweeps_->store(which, from);
            from += sweeps_->bytes_of(which);
        });
        if (scaled_ && saved.settings.metric == Metric::callers) scaled_->scale_diagonal();
        x_is_new_ = g_is_restored_ = true;
        unscale_output();
    } catch (...) { // the correction pairs may already have been overwritten
        begin_anew(false);
        throw;
    }
    std::memcpy(block_.get(), block.get(), static_cast<std::size_t>(state_bytes(memory())));
    state_->forget_products();
    first_call_ = Clock::now() -
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(header.seconds_passed));
    host_seconds_ = header.host_seconds;
    resumed_ = message_pending_ = true;
    return 0;
}

} // namespace cudaopt
