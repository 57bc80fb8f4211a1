// A solve as bytes: a header, the solver's numbers, the vectors, a checksum. The bytes do not depend on the backend.
#include <algorithm>
#include <cstring>

#include "cuda_opt.h"
#include "lbfgsb/advance.hpp"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

struct Header {
    char magic[8];
    uint32_t version, byte_order;
    int64_t bytes, n, memory, precision,
        state; // bytes: all, from the header to the checksum; state: those of the state
};
constexpr char magic[8] = {'c', 'u', 'd', 'a', '_', 'o', 'p', 't'};
// Of a solve's time: since it began, and in calls.
struct Clocks {
    double seconds_passed, host_seconds;
};
constexpr uint32_t version = 5, byte_order = 0x01020304;

// Two sums over words, of which the second knows their order (Fletcher, IEEE Trans. Commun. 30 (1982) 247). Words of
// half the sums' bits, for of two words as wide as the sums both highest bits could turn over unseen: two signs.
struct Checksum {
    uint64_t sum = 1, of_sums = 0;
    bool operator!=(const Checksum &o) const { return sum != o.sum || of_sums != o.of_sums; }
};

Checksum checksum(const unsigned char *bytes, int64_t count) {
    Checksum check;
    constexpr auto size = static_cast<int64_t>(sizeof(uint32_t));
    for (int64_t at = 0; at < count; at += size) {
        uint32_t word = 0;
        std::memcpy(&word, bytes + at, static_cast<std::size_t>(std::min(size, count - at)));
        check.sum += word;
        check.of_sums += check.sum;
    }
    return check;
}

} // namespace

template <class Visit> void Solver::each_vector(const Visit &visit) {
    for (const auto kind : {HeldVector::x, HeldVector::f, HeldVector::g}) visit(HeldVector{kind});
    if (state_->stage() == State::Stage::trial_point)
        for (const auto kind : {HeldVector::x_base, HeldVector::s_column, HeldVector::g_base})
            visit(HeldVector{kind, state_->spare_slot()});
    if (state_->best_is_aside())
        for (const auto kind : {HeldVector::aside_x, HeldVector::aside_g}) visit(HeldVector{kind});
    if (state_->metric().exists()) visit(HeldVector{HeldVector::diagonal});
    const LimitedMemory &memory = state_->memory();
    for (int pair = 0; pair < memory.pairs(); pair++) {
        const int slot = memory.slot(pair);
        const bool unfinished = state_->pair_unfinished() && slot == memory.newest_slot();
        for (const auto kind : {HeldVector::s_column, unfinished ? HeldVector::g_base : HeldVector::y_column})
            visit(HeldVector{kind, slot});
    }
}

int64_t Solver::save(unsigned char *to) {
    // Between the calls the sums of a direction are on their way with the next inner products: fetch them with some in
    // vain.
    if (to && state_->awaits_direction_sums()) {
        sweeps_->inner_products(state_->products_at_trial()); // without weights, and nothing learned
        state_->know_direction_sums(sweeps_->direction_sums());
    }
    const Clocks clocks{seconds_passed(), host_seconds_};
    const int64_t numbers = state_bytes(memory());
    int64_t vectors = 0;
    each_vector([&](const HeldVector &which) { vectors += sweeps_->bytes_of(which); });
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = version;
    header.byte_order = byte_order;
    header.bytes = static_cast<int64_t>(sizeof(Header) + sizeof(Clocks) + sizeof(Checksum)) + numbers + vectors;
    header.n = dimension();
    header.memory = memory();
    header.precision = sweeps_->bytes_of({HeldVector::x}) / header.n * 8;
    header.state = numbers;
    if (!to) return header.bytes;

    unsigned char *next = to;
    const auto write = [&](const void *from, int64_t bytes) {
        std::memcpy(next, from, static_cast<std::size_t>(bytes));
        next += bytes;
    };
    write(&header, sizeof header);
    write(&clocks, sizeof clocks);
    write(block_.get(), numbers);
    each_vector([&](const HeldVector &which) {
        sweeps_->fetch(which, next);
        next += sweeps_->bytes_of(which);
    });
    const Checksum check = checksum(to, next - to);
    write(&check, sizeof check);
    return header.bytes;
}

// Whether the bytes are a checkpoint of such a solve, whole and undamaged; else why not.
bool Solver::recognise(const unsigned char *from, int64_t bytes) {
    const auto least = static_cast<int64_t>(sizeof(Header) + sizeof(Checksum));
    Header header{};
    if (bytes >= least) std::memcpy(&header, from, sizeof header);
    if (bytes < least || std::memcmp(header.magic, magic, sizeof magic) != 0) {
        new_message().set("these %lld bytes are no checkpoint", static_cast<long long>(bytes));
        return false;
    }
    if (header.version != version || header.byte_order != byte_order) {
        new_message().set(
            "the checkpoint is of version %u and byte order %#x, but this library reads version %u and %#x",
            header.version, header.byte_order, version, byte_order);
        return false;
    }
    const int64_t precision = sweeps_->bytes_of({HeldVector::x}) / dimension() * 8;
    if (header.n != dimension() || header.memory != memory() || header.precision != precision) {
        new_message().set(
            "the checkpoint is of n = %lld, m = %lld and %lld bits, but the handle of n = %lld, m = %d and "
            "%lld bits",
            static_cast<long long>(header.n), static_cast<long long>(header.memory),
            static_cast<long long>(header.precision), static_cast<long long>(dimension()), memory(),
            static_cast<long long>(precision));
        return false;
    }
    if (header.state != state_bytes(memory())) {
        new_message().set("the checkpoint is of another version of the library: its state has %lld bytes, here it has "
                          "%lld",
                          static_cast<long long>(header.state), static_cast<long long>(state_bytes(memory())));
        return false;
    }
    if (header.bytes != bytes) {
        new_message().set("the checkpoint is torn: it had %lld bytes, and %lld are here",
                          static_cast<long long>(header.bytes), static_cast<long long>(bytes));
        return false;
    }
    const int64_t checked = bytes - static_cast<int64_t>(sizeof(Checksum));
    Checksum written;
    std::memcpy(static_cast<void *>(&written), from + checked, sizeof written);
    if (written != checksum(from, checked)) {
        new_message().set("the checkpoint is damaged: the checksum of its %lld bytes is not what it was",
                          static_cast<long long>(bytes));
        return false;
    }
    return true;
}

int Solver::load(const unsigned char *from, int64_t bytes) {
    if (!recognise(from, bytes)) return CUDA_OPT_IMPROPER_INPUT;
    const Settings before = settings();
    const auto refuse = [&](int code) {
        reset();
        settings() = before;
        return code;
    };
    from += sizeof(Header);
    const auto read = [&](void *to, int64_t count) {
        std::memcpy(to, from, static_cast<std::size_t>(count));
        from += count;
    };
    Clocks clocks{};
    read(&clocks, sizeof clocks);
    read(block_.get(), state_bytes(memory()));
    state_->forget_products();
    settings().threads = before.threads; // the machine may be another
    settings().timed = before.timed;
    first_call_ = Clock::now() -
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(clocks.seconds_passed));
    host_seconds_ = clocks.host_seconds;
    if (settings().metric == Metric::callers && !arrays.diagonal) {
        new_message().set("the solve that was saved has a diagonal, but cuda_opt_set_diagonal has given no array");
        return refuse(CUDA_OPT_MISUSE);
    }
    allocate();
    each_vector([&](const HeldVector &which) {
        sweeps_->store(which, from);
        from += sweeps_->bytes_of(which);
    });
    const StartReport report = sweeps_->check_start();
    const int64_t n = dimension();
    const bool same_kind = (report.bounded > 0) == state_->bounded() && (report.boxed == n) == state_->boxed();
    if (!report.usable(n) || report.projected > 0 || !same_kind) {
        new_message().set("the bounds are not those of the solve that was saved: %lld of %lld components lie outside, "
                          "and %lld have a bound",
                          static_cast<long long>(report.projected), static_cast<long long>(n),
                          static_cast<long long>(report.bounded));
        return refuse(CUDA_OPT_IMPROPER_INPUT);
    }
    resumed_ = event_untold_ = true;
    return 0;
}

} // namespace cudaopt
