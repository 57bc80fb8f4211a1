// The handlers of XLA's foreign function interface with which a compiled program performs a solve, on the host and on
// CUDA:
//
//     number, waiting, x = begin(x, lower, upper)
//     waiting, x = advance(number, f, g), repeated while waiting > 0
//     info, x, g, pairs = end(number, x)
//
// `number` identifies the solve: a 64-bit integer in two 32-bit elements, because JAX has no 64-bit integers by
// default. `waiting` says how many problems wait for f and g at x. x, g and the bounds have the shape (n,), or more
// axes for several problems; f then has 8 bytes per problem, those of a double. info has a row of solves.hpp's Info per
// problem, and pairs the rows of Solve::read_pairs(), or no elements.
//
// A solve is found by its number and not by the address of an array. On CUDA the number is in device memory, and to
// read it takes a wait. Only the first advance() of a solve waits. It notes the place of the number, and a later call
// at the same place continues the same solve at once, while the device sends the number to the host. The call ends with
// an error if this number is another one.
#include <exception>
#include <limits>

#include "cuda_opt_batch.h"
#include "store.hpp"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

using namespace cudaopt::xla;
using Array = ffi::AnyBuffer;
using Arrays = ffi::Result<ffi::AnyBuffer>;

// Never destroyed: a program may still run while the process ends.
Store &store() {
    static Store *const one = new Store;
    return *one;
}

// Where a call comes from: a program on the host, or on CUDA the stream of a program, and the number of its execution.
struct Origin {
    bool on_cuda = false;
    void *stream = nullptr;
    int64_t run = 0;
};

// Performs a call. An exception becomes XLA's error.
template <class Call> ffi::Error guarded(const Origin &origin, const Call &call) {
    try {
        if (origin.on_cuda) call(Memory(origin.stream));
        else call(Memory());
    } catch (const std::exception &error) {
        return {ffi::ErrorCode::kInternal, std::string("cuda_opt: ") + error.what()};
    }
    return ffi::Error::Success();
}

void require_elements(const Array &array, int64_t count, const char *name) {
    if (static_cast<int64_t>(array.element_count()) != count)
        throw std::runtime_error(std::string(name) + " has " + std::to_string(array.element_count()) +
                                 " elements, but the solve needs " + std::to_string(count));
}

template <class Value>
std::vector<std::pair<int32_t, Value>> pairs_of(ffi::Span<const int64_t> keys, ffi::Span<const Value> values) {
    std::vector<std::pair<int32_t, Value>> pairs;
    for (std::size_t i = 0; i < keys.size(); i++) pairs.emplace_back(static_cast<int32_t>(keys[i]), values[i]);
    return pairs;
}

std::shared_ptr<Solve> create(const Kind &kind) {
    if (kind.single) return std::make_shared<SolveOf<float>>(kind);
    return std::make_shared<SolveOf<double>>(kind);
}

std::shared_ptr<Solve> solve_of(const Kind &kind) {
    if (std::shared_ptr<Solve> solve = store().take_ended(kind)) return solve;
    try {
        return create(kind);
    } catch (const cudaopt::Error &error) {
        if (error.code() != CUDA_OPT_OUT_OF_MEMORY) throw;
    }
    store().delete_ended();
    return create(kind);
}

ffi::Error begin(const Origin &origin, Array x, Array lower, Array upper, Arrays words, Arrays waiting, Arrays x_out,
                 int32_t m, int32_t kept_pairs, bool batches, bool bounded, ffi::Span<const int64_t> integer_keys,
                 ffi::Span<const int64_t> integers, ffi::Span<const int64_t> real_keys, ffi::Span<const double> reals) {
    return guarded(origin, [&](const Memory &memory) {
        const auto elements = static_cast<int64_t>(x.element_count()), n = x.dimensions().back();
        for (const Array &bound : {lower, upper}) require_elements(bound, elements, "a bound");
        const std::shared_ptr<Solve> solve =
            solve_of({memory.context(), elements / n, n, x.element_type() == ffi::DataType::F32, m, bounded,
                      batches && x.dimensions().size() > 1, kept_pairs, pairs_of(integer_keys, integers),
                      pairs_of(real_keys, reals)});
        const int32_t count = solve->begin(memory, x.untyped_data(), lower.untyped_data(), upper.untyped_data());
        solve->read_x(memory, x_out->untyped_data());
        const int64_t number = store().add(solve);
        int32_t halves[2];
        std::memcpy(halves, &number, sizeof number);
        for (int i = 0; i < 2; i++) memory.write(static_cast<int32_t *>(words->untyped_data()) + i, halves[i]);
        memory.write(waiting->untyped_data(), count);
    });
}

// The solve of a call of advance() or end(), which are the only ones that have it at this time.
class Lent {
  public:
    Lent(const Memory &memory, int64_t run, const Array &words) : memory_(memory) {
        const void *const address = words.untyped_data();
        const Place place{run, memory.stream(), address};
        number_ = memory.on_cuda() ? store().number_at(place) : 0;
        const bool is_guess = number_ != 0;
        if (!is_guess) {
            memory.copy(&number_, address, sizeof number_);
            memory.wait();
            if (memory.on_cuda()) store().note_place(number_, place);
        }
        solve_ = store().lend(number_);
        if (!solve_)
            throw std::runtime_error("there is no solve " + std::to_string(number_) +
                                     ": it has ended or failed, another call has it, or " +
                                     std::to_string(Store::most) + " other solves have been used since its last call");
        if (!is_guess) return;
        *solve_->seen().address() = unseen;
        memory.copy(const_cast<int64_t *>(solve_->seen().address()), address, sizeof number_);
        is_seen_ = false;
    }
    // A solve whose call ends by an exception cannot be continued.
    ~Lent() {
        if (solve_ && !is_done_) store().remove(number_);
    }
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;

    Solve &solve() { return *solve_; }
    // Ends the call. Throws std::runtime_error if the device has another number than the one of the solve.
    void done() {
        if (!is_seen_) {
            if (*solve_->seen().address() == unseen) memory_.wait();
            const int64_t seen = *solve_->seen().address();
            if (seen != number_)
                throw std::runtime_error("the solve " + std::to_string(number_) + " was continued for the solve " +
                                         std::to_string(seen) + ", because XLA has moved its number");
        }
        is_done_ = true;
    }
    // Ends the solve.
    void finish() {
        done();
        store().remove(number_);
        store().keep_ended(std::move(solve_), memory_);
    }

  private:
    static constexpr int64_t unseen = std::numeric_limits<int64_t>::min();
    const Memory &memory_;
    int64_t number_ = 0;
    std::shared_ptr<Solve> solve_;
    bool is_seen_ = true, is_done_ = false;
};

ffi::Error advance(const Origin &origin, Array words, Array f, Array g, Arrays waiting, Arrays x_out) {
    return guarded(origin, [&](const Memory &memory) {
        Lent lent(memory, origin.run, words);
        const Kind &kind = lent.solve().kind();
        if (f.size_bytes() != static_cast<std::size_t>(kind.rows) * sizeof(double))
            throw std::runtime_error("f has " + std::to_string(f.size_bytes()) + " bytes, but there are " +
                                     std::to_string(kind.rows) + " problems with 8 bytes each");
        for (const Array &array : {g, *x_out}) require_elements(array, kind.rows * kind.n, "x or g");
        const int32_t count = lent.solve().advance(memory, f.untyped_data(), g.untyped_data());
        lent.solve().read_x(memory, x_out->untyped_data());
        memory.write(waiting->untyped_data(), count);
        lent.done();
    });
}

// x is an argument so that XLA runs this call after the loop.
ffi::Error end(const Origin &origin, Array words, Array, Arrays info_out, Arrays x_out, Arrays g_out, Arrays pairs) {
    return guarded(origin, [&](const Memory &memory) {
        Lent lent(memory, origin.run, words);
        const Kind &kind = lent.solve().kind();
        require_elements(*info_out, kind.rows * info_size, "info");
        for (const Array &array : {*x_out, *g_out}) require_elements(array, kind.rows * kind.n, "x or g");
        require_elements(*pairs, kind.kept_pairs > 0 ? kind.rows * (2 * kind.kept_pairs + 1) * kind.n : 0, "pairs");
        const std::vector<int32_t> info = lent.solve().info();
        memory.copy(info_out->untyped_data(), info.data(), info.size() * sizeof(int32_t));
        lent.solve().read_x(memory, x_out->untyped_data());
        lent.solve().read_g(memory, g_out->untyped_data());
        if (kind.kept_pairs > 0) lent.solve().read_pairs(memory, pairs->untyped_data());
        memory.wait(); // `info` must outlive the copy, and another solve may use the arrays of this one at once
        lent.finish();
    });
}

struct OnHost {};
struct OnCuda {};

} // namespace

// How the interface finds the Origin of a call.
namespace xla::ffi {

template <> struct CtxDecoding<OnHost> {
    using Type = Origin;
    static std::optional<Type> Decode(const XLA_FFI_Api *, XLA_FFI_ExecutionContext *, DiagnosticEngine &) {
        return Origin{};
    }
};

template <> struct CtxDecoding<OnCuda> {
    using Type = Origin;
    static std::optional<Type> Decode(const XLA_FFI_Api *api, XLA_FFI_ExecutionContext *context,
                                      DiagnosticEngine &diagnostic) {
        const auto stream = CtxDecoding<PlatformStream<void *>>::Decode(api, context, diagnostic);
        const auto run = CtxDecoding<RunId>::Decode(api, context, diagnostic);
        if (!stream || !run) return std::nullopt;
        return Origin{true, *stream, run->run_id};
    }
};

} // namespace xla::ffi

namespace {

template <class Where> auto begin_of() {
    return ffi::Ffi::Bind()
        .Ctx<Where>()
        .template Arg<Array>() // x
        .template Arg<Array>() // lower
        .template Arg<Array>() // upper
        .template Ret<Array>() // number
        .template Ret<Array>() // waiting
        .template Ret<Array>() // x
        .template Attr<int32_t>("m")
        .template Attr<int32_t>("kept_pairs")
        .template Attr<bool>("batches")
        .template Attr<bool>("bounded")
        .template Attr<ffi::Span<const int64_t>>("integer_keys")
        .template Attr<ffi::Span<const int64_t>>("integers")
        .template Attr<ffi::Span<const int64_t>>("real_keys")
        .template Attr<ffi::Span<const double>>("reals");
}

template <class Where> auto advance_of() {
    return ffi::Ffi::Bind()
        .Ctx<Where>()
        .template Arg<Array>()  // number
        .template Arg<Array>()  // f
        .template Arg<Array>()  // g
        .template Ret<Array>()  // waiting
        .template Ret<Array>(); // x
}

template <class Where> auto end_of() {
    return ffi::Ffi::Bind()
        .Ctx<Where>()
        .template Arg<Array>()  // number
        .template Arg<Array>()  // x
        .template Ret<Array>()  // info
        .template Ret<Array>()  // x
        .template Ret<Array>()  // g
        .template Ret<Array>(); // pairs
}

} // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_begin_cpu, begin, begin_of<OnHost>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_advance_cpu, advance, advance_of<OnHost>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_end_cpu, end, end_of<OnHost>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_begin_CUDA, begin, begin_of<OnCuda>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_advance_CUDA, advance, advance_of<OnCuda>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_end_CUDA, end, end_of<OnCuda>());

extern "C" {
// Returns the version of XLA's interface with which this file was compiled. XLA refuses handlers that are newer than
// itself, and then the whole backend fails.
int cuda_opt_xla_version() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }
// Returns the number of solves that wait for their next call, for tests.
int64_t cuda_opt_xla_waiting() { return store().size(); }
}
