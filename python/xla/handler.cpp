// The handlers of XLA's foreign function interface with which a compiled program performs a solve, on the host and on
// CUDA:
//
//     number = begin()
//     token, x, f, g = advance(number, x, f, g, lower, upper), repeated while token is the first element of number
//     info, pairs = end(number, x)
//
// `number` identifies the solve: a 64-bit integer in two 32-bit elements, because JAX has no 64-bit integers by
// default. begin() only reserves it. f and g are the values at x. x, g and the bounds have the shape (n,), or more axes
// for several problems; f has 8 bytes per problem, those of a double. The first advance() creates the solve and starts
// it at x, which has to be in the box. The program evaluates f and g at each x that advance() returns. info has a row
// of solves.hpp's Info per problem, and pairs the rows of Owned::pairs(), or no elements.
//
// A solve is identified by its number. On CUDA the number is in device memory, and the host has to wait to read it.
// advance() therefore reads it only once, and notes the execution of the program, the stream and the address of the
// number: a later call with the same three continues the same solve without reading the number. If XLA has put another
// number there, advance() returns a token that does not fit this number, so that the loop ends. end() then reads the
// number, finds a solve that has not ended, and returns an error, with which the whole program ends.
#include <exception>

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

// What the handlers know of the calling program: whether it runs on CUDA, its stream there, and the number of its
// execution.
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

std::shared_ptr<Owned> create(const Kind &kind) {
    if (kind.single) return std::make_shared<OwnedOf<float>>(kind);
    return std::make_shared<OwnedOf<double>>(kind);
}

std::shared_ptr<Owned> solve_of(const Kind &kind) {
    if (std::shared_ptr<Owned> solve = store().take_ended(kind)) return solve;
    try {
        return create(kind);
    } catch (const cudaopt::Error &error) {
        if (error.code() != CUDA_OPT_OUT_OF_MEMORY) throw;
    }
    store().delete_ended();
    return create(kind);
}

// Reads the number of a solve, which takes a wait on CUDA.
int64_t number_in(const Memory &memory, const Array &words) {
    int64_t number = 0;
    memory.copy(&number, words.untyped_data(), sizeof number);
    memory.wait();
    return number;
}

// Has the exclusive use of a solve during one call.
class Lent {
  public:
    Lent(int64_t number) : number_(number) {
        if (!store().lend(number, solve_))
            throw std::runtime_error("there is no solve " + std::to_string(number) +
                                     ": it has ended or failed, another call has it, or " +
                                     std::to_string(Store::most) + " other solves have been used since its last call");
    }
    // A solve whose call ends by an exception cannot be continued.
    ~Lent() {
        if (is_lent_) store().remove(number_);
    }
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;

    std::shared_ptr<Solve> &solve() { return solve_; } // empty before it has begun
    void put_back() {
        store().put_back(number_, std::move(solve_));
        is_lent_ = false;
    }

  private:
    const int64_t number_;
    std::shared_ptr<Solve> solve_;
    bool is_lent_ = true;
};

ffi::Error begin(const Origin &origin, Arrays words) {
    return guarded(origin, [&](const Memory &memory) {
        const int64_t number = store().draw();
        int32_t halves[2];
        std::memcpy(halves, &number, sizeof number);
        for (int i = 0; i < 2; i++) memory.write(static_cast<int32_t *>(words->untyped_data()) + i, halves[i]);
    });
}

ffi::Error advance(const Origin &origin, Array words, Array x, Array f, Array g, Array lower, Array upper, Arrays token,
                   Arrays x_out, Arrays f_out, Arrays g_out, int32_t m, int32_t kept_pairs, bool batches, bool bounded,
                   bool chooses_hessian, ffi::Span<const int64_t> integer_keys, ffi::Span<const int64_t> integers,
                   ffi::Span<const int64_t> real_keys, ffi::Span<const double> reals) {
    return guarded(origin, [&](const Memory &memory) {
        const Place place{origin.run, memory.stream(), words.untyped_data()};
        int64_t number = memory.on_cuda() ? store().number_at(place) : 0;
        const bool is_read = number == 0;
        if (is_read) number = number_in(memory, words);
        Lent lent(number);
        if (is_read && memory.on_cuda()) store().note_place(number, place);
        std::shared_ptr<Solve> &solve = lent.solve();
        const auto elements = static_cast<int64_t>(x.element_count()), n = x.dimensions().back();
        for (const Array &array : {g, lower, upper}) require_elements(array, elements, "g or a bound");
        if (f.size_bytes() != static_cast<std::size_t>(elements / n) * sizeof(double))
            throw std::runtime_error("f has " + std::to_string(f.size_bytes()) + " bytes, but there are " +
                                     std::to_string(elements / n) + " problems with 8 bytes each");
        void *const arrays[] = {x_out->untyped_data(), f_out->untyped_data(), g_out->untyped_data()};
        memory.copy(arrays[0], x.untyped_data(), x.size_bytes());
        memory.copy(arrays[1], f.untyped_data(), f.size_bytes());
        memory.copy(arrays[2], g.untyped_data(), g.size_bytes());
        if (!solve) {
            const bool as_batch = batches && x.dimensions().size() > 1;
            auto settings = pairs_of(integer_keys, integers);
            // On CUDA a batch uses the scalar by default, because it takes less time.
            if (as_batch && memory.on_cuda() && !chooses_hessian)
                for (auto &[key, value] : settings)
                    if (key == CUDA_OPT_INITIAL_HESSIAN) value = CUDA_OPT_INITIAL_HESSIAN_SCALAR;
            solve = solve_of({memory.context(), elements / n, n, x.element_type() == ffi::DataType::F32, m, bounded,
                              as_batch, kept_pairs, settings, pairs_of(real_keys, reals)});
        }
        require_elements(x, solve->rows * solve->n, "x");
        solve->call(memory, arrays[0], arrays[1], arrays[2], lower.untyped_data(), upper.untyped_data());
        memory.write(token->untyped_data(), solve->has_ended() ? 0 : static_cast<int32_t>(number));
        const auto owned = std::dynamic_pointer_cast<Owned>(solve);
        if (!owned || !owned->has_ended()) return lent.put_back();
        store().put_result(number, {owned->info(), kept_pairs > 0 ? owned->pairs() : std::vector<char>()});
        memory.wait(); // from now on another solve may use this workspace
        store().keep_ended(owned, memory);
    });
}

// x is an argument so that XLA runs this call after the loop.
ffi::Error end(const Origin &origin, Array words, Array, Arrays info_out, Arrays pairs) {
    return guarded(origin, [&](const Memory &memory) {
        const int64_t number = number_in(memory, words);
        Result result;
        if (!store().take_result(number, result)) {
            Lent lent(number); // throws if there is no such solve
            throw std::runtime_error("the solve " + std::to_string(number) +
                                     " has not ended: XLA has put its number where that of another solve was");
        }
        require_elements(*info_out, static_cast<int64_t>(result.info.size()), "info");
        if (pairs->size_bytes() != result.pairs.size())
            throw std::runtime_error("pairs has " + std::to_string(pairs->size_bytes()) + " bytes, not " +
                                     std::to_string(result.pairs.size()));
        memory.copy(info_out->untyped_data(), result.info.data(), result.info.size() * sizeof(int32_t));
        if (!result.pairs.empty()) memory.copy(pairs->untyped_data(), result.pairs.data(), result.pairs.size());
        memory.wait(); // the result must outlive the copies
    });
}

struct OnHost {};
struct OnCuda {};

} // namespace

// The interface calls these functions to obtain the Origin of a call.
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
    return ffi::Ffi::Bind().Ctx<Where>().template Ret<Array>(); // number
}

template <class Where> auto advance_of() {
    return ffi::Ffi::Bind()
        .Ctx<Where>()
        .template Arg<Array>() // number
        .template Arg<Array>() // x
        .template Arg<Array>() // f
        .template Arg<Array>() // g
        .template Arg<Array>() // lower
        .template Arg<Array>() // upper
        .template Ret<Array>() // token
        .template Ret<Array>() // x
        .template Ret<Array>() // f
        .template Ret<Array>() // g
        .template Attr<int32_t>("m")
        .template Attr<int32_t>("kept_pairs")
        .template Attr<bool>("batches")
        .template Attr<bool>("bounded")
        .template Attr<bool>("chooses_hessian")
        .template Attr<ffi::Span<const int64_t>>("integer_keys")
        .template Attr<ffi::Span<const int64_t>>("integers")
        .template Attr<ffi::Span<const int64_t>>("real_keys")
        .template Attr<ffi::Span<const double>>("reals");
}

template <class Where> auto end_of() {
    return ffi::Ffi::Bind()
        .Ctx<Where>()
        .template Arg<Array>()  // number
        .template Arg<Array>()  // x
        .template Ret<Array>()  // info
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
// Returns the number under which a program continues the solve of a handle of Python, or 0 if memory is exhausted. The
// other arguments are those of the handle's solve, which has not begun; `is_batch`: the handle is one of a batch.
int64_t cuda_opt_xla_lend(cuda_opt *handle, void *x, void *f, void *g, int64_t rows, int64_t n, int32_t single,
                          int32_t is_batch) {
    try {
        return store().add(std::make_shared<Borrowed>(handle, x, f, g, rows, n, single != 0, is_batch != 0));
    } catch (const std::exception &) {
        return 0;
    }
}
// Waits until no call uses the handle, and removes its solve from the store. Returns its last task or code, or
// CUDA_OPT_MISUSE if a call has failed. `stream` receives the stream of its first call, `evaluations` the number of its
// calls with f and g.
int cuda_opt_xla_take_back(int64_t number, void **stream, int64_t *evaluations) {
    const auto borrowed = std::dynamic_pointer_cast<Borrowed>(store().take(number));
    *stream = borrowed ? borrowed->stream() : nullptr;
    *evaluations = borrowed ? borrowed->evaluations() : 0;
    return borrowed ? borrowed->task() : CUDA_OPT_MISUSE;
}
// Returns the number of solves in progress and of results that end() has not fetched, for tests.
int64_t cuda_opt_xla_waiting() { return store().size(); }
}
