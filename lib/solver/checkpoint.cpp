// A solve as bytes: a header, the solver's numbers, the vectors, a checksum. The bytes do not depend on the backend.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

struct Header {
    char magic[8];
    uint32_t version, byte_order;
    int64_t bytes, n, memory, precision; // bytes: all, from the header to the checksum
};
constexpr char magic[8] = {'c', 'u', 'd', 'a', '_', 'o', 'p', 't'};
constexpr uint32_t version = 1, byte_order = 0x01020304;

// Two sums over 64-bit words, of which the second knows their order (Fletcher, IEEE Trans. Commun. 30 (1982) 247).
struct Checksum {
    uint64_t sum = 1, of_sums = 0;
    bool operator!=(const Checksum &o) const { return sum != o.sum || of_sums != o.of_sums; }
};

Checksum checksum(const unsigned char *bytes, int64_t count) {
    Checksum check;
    for (int64_t at = 0; at < count; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes + at, static_cast<std::size_t>(std::min<int64_t>(8, count - at)));
        check.sum += word;
        check.of_sums += check.sum;
    }
    return check;
}

// What goes through a solver's numbers, in one order: to count their bytes, to write them, to read them.
struct Counter {
    int64_t bytes = 0;
    template <class T> void operator()(T &) { bytes += sizeof(T); }
    void array(double *, int count) { bytes += count * static_cast<int64_t>(sizeof(double)); }
};

struct Writer {
    unsigned char *to;
    template <class T> void operator()(const T &value) {
        static_assert(std::is_trivially_copyable_v<T>, "a number, or a record of numbers");
        std::memcpy(to, &value, sizeof(T));
        to += sizeof(T);
    }
    void array(const double *values, int count) {
        std::memcpy(to, values, count * sizeof(double));
        to += count * sizeof(double);
    }
};

struct Reader {
    const unsigned char *from;
    template <class T> void operator()(T &value) {
        std::memcpy(static_cast<void *>(&value), from, sizeof(T));
        from += sizeof(T);
    }
    void array(double *values, int count) {
        std::memcpy(values, from, count * sizeof(double));
        from += count * sizeof(double);
    }
};

} // namespace

// All that outlives a call, but for what belongs to the machine.
template <class Archive> void Solver::exchange(Archive &archive) {
    archive(settings), archive(results_), archive(message_), archive(phase_), archive(task_);
    archive(bounded_), archive(boxed_), archive(host_seconds_);
    memory_.exchange(archive);
    subspace_.exchange(archive);
    archive(line_), archive(panel_);
    archive(direction_.panel), archive(direction_.gradient_coefficient), archive(direction_.step);
    archive(direction_.spare_slot), archive(direction_.truncate), archive(direction_.cauchy_t);
    archive(direction_.alpha);
    archive(f_base_), archive(slope_base_), archive(step_), archive(unit_), archive(cauchy_free_);
    archive(cauchy_breakpoints_), archive(f_previous_), archive(f_best_), archive(best_);
    archive(best_is_aside_), archive(f_refreshed_), archive(pg_refreshed_), archive(direction_sums_);
    archive(pair_unfinished_), archive(refreshes_in_vain_), archive(in_vain_), archive(f_noted_), archive(pg_noted_),
        archive(reached_), archive(postponed_);
    archive(search_evaluations_), archive(cuts_in_a_row_), archive(fresh_start_), archive(direction_judged_);
    archive(search_started_), archive(exhausted_), archive(returning_);
}

template <class Visit> void Solver::each_vector(const Visit &visit) {
    for (const auto kind : {HeldVector::x, HeldVector::f, HeldVector::g}) visit(HeldVector{kind});
    if (phase_ == Phase::searching)
        for (const auto kind : {HeldVector::x_base, HeldVector::s_column, HeldVector::y_column})
            visit(HeldVector{kind, direction_.spare_slot});
    if (best_is_aside_)
        for (const auto kind : {HeldVector::aside_x, HeldVector::aside_g}) visit(HeldVector{kind});
    for (int pair = 0; pair < memory_.pairs(); pair++)
        for (const auto kind : {HeldVector::s_column, HeldVector::y_column})
            visit(HeldVector{kind, memory_.slot(pair)});
}

int64_t Solver::save(unsigned char *to) {
    // Between the calls the sums of a direction are on their way with the next gather: fetch them with one in vain.
    if (to && phase_ == Phase::searching && !direction_judged_ && !direction_sums_) {
        GatherRequest panel = memory_.tentative_panel();
        panel.masked = bounded_;
        sweeps_->gather(panel);
        direction_sums_ = sweeps_->direction_sums();
    }
    const double seconds_passed = std::chrono::duration<double>(Clock::now() - first_call_).count();
    Counter counter;
    exchange(counter);
    int64_t vectors = 0;
    each_vector([&](const HeldVector &which) { vectors += sweeps_->bytes_of(which); });
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = version;
    header.byte_order = byte_order;
    header.bytes =
        static_cast<int64_t>(sizeof(Header) + sizeof seconds_passed + sizeof(Checksum)) + counter.bytes + vectors;
    header.n = n_;
    header.memory = memory_.capacity();
    header.precision = sweeps_->bytes_of({HeldVector::x}) / n_ * 8;
    if (!to) return header.bytes;

    Writer writer{to};
    writer(header);
    writer(seconds_passed);
    exchange(writer);
    each_vector([&](const HeldVector &which) {
        sweeps_->fetch(which, writer.to);
        writer.to += sweeps_->bytes_of(which);
    });
    writer(checksum(to, writer.to - to));
    return header.bytes;
}

// Whether the bytes are a checkpoint of such a solve, whole and undamaged; else why not.
bool Solver::recognise(const unsigned char *from, int64_t bytes) {
    const auto least = static_cast<int64_t>(sizeof(Header) + sizeof(Checksum));
    Header header{};
    if (bytes >= least) std::memcpy(&header, from, sizeof header);
    if (bytes < least || std::memcmp(header.magic, magic, sizeof magic) != 0) {
        message_.set("these %lld bytes are no checkpoint", static_cast<long long>(bytes));
        return false;
    }
    if (header.version != version || header.byte_order != byte_order) {
        message_.set("the checkpoint is of version %u and byte order %#x, but this library reads version %u and %#x",
                     header.version, header.byte_order, version, byte_order);
        return false;
    }
    const int64_t precision = sweeps_->bytes_of({HeldVector::x}) / n_ * 8;
    if (header.n != n_ || header.memory != memory_.capacity() || header.precision != precision) {
        message_.set("the checkpoint is of n = %lld, m = %lld and %lld bits, but the handle of n = %lld, m = %d and "
                     "%lld bits",
                     static_cast<long long>(header.n), static_cast<long long>(header.memory),
                     static_cast<long long>(header.precision), static_cast<long long>(n_), memory_.capacity(),
                     static_cast<long long>(precision));
        return false;
    }
    if (header.bytes != bytes) {
        message_.set("the checkpoint is torn: it had %lld bytes, and %lld are here",
                     static_cast<long long>(header.bytes), static_cast<long long>(bytes));
        return false;
    }
    const int64_t checked = bytes - static_cast<int64_t>(sizeof(Checksum));
    Checksum written;
    std::memcpy(static_cast<void *>(&written), from + checked, sizeof written);
    if (written != checksum(from, checked)) {
        message_.set("the checkpoint is damaged: the checksum of its %lld bytes is not what it was",
                     static_cast<long long>(bytes));
        return false;
    }
    return true;
}

int Solver::load(const unsigned char *from, int64_t bytes) {
    if (!recognise(from, bytes)) return CUDA_OPT_IMPROPER_INPUT;
    const Settings before = settings;
    Reader reader{from + sizeof(Header)};
    double seconds_passed = 0;
    reader(seconds_passed);
    exchange(reader);
    settings.threads = before.threads; // the machine may be another
    const auto passed = std::chrono::duration<double>(seconds_passed);
    first_call_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(passed);
    direction_.coefficients = subspace_.coefficients();
    const auto refuse = [&](int code) {
        reset();
        settings = before;
        return code;
    };
    if (settings.user_diagonal && !arrays.diagonal) {
        message_.set("the solve that was saved has a diagonal, but cuda_opt_set_diagonal has given no array");
        return refuse(CUDA_OPT_MISUSE);
    }
    allocate();
    each_vector([&](const HeldVector &which) {
        sweeps_->store(which, reader.from);
        reader.from += sweeps_->bytes_of(which);
    });
    const StartReport report = sweeps_->start();
    const bool same_kind = (report.bounded > 0) == bounded_ && (report.boxed == n_) == boxed_;
    if (!report.usable(n_) || report.projected > 0 || !same_kind) {
        message_.set("the bounds are not those of the solve that was saved: %lld of %lld components lie outside, and "
                     "%lld have a bound",
                     static_cast<long long>(report.projected), static_cast<long long>(n_),
                     static_cast<long long>(report.bounded));
        return refuse(CUDA_OPT_IMPROPER_INPUT);
    }
    resumed_ = true;
    return 0;
}

} // namespace cudaopt
