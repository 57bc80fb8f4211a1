// The handlers of XLA's foreign function interface with which a compiled program performs a solve:
//
//     number = begin()
//     info, x, f, g = advance(number, x, f, g, lower, upper), repeated while info says that a problem waits
//     rows = pairs(number, x), the correction pairs, if advance() had kept_pairs > 0
//
// `number` identifies the solve: a 64-bit integer in two 32-bit elements, because JAX has no 64-bit integers by
// default. f and g are the values at x. x, g and the bounds have the shape (n,), or more axes for several problems; f
// then has one number per problem, and info has a row of solves.hpp's Info per problem. begin() only reserves the
// number. The first advance() creates the solve and starts it at x. The program evaluates f and g at each x that
// advance() returns and calls advance() again, until info reports that all problems have ended.
#include <algorithm>
#include <exception>

#include "cuda_opt_batch.h"
#include "solves.hpp"
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

ffi::Error failure(const std::string &sentence) { return {ffi::ErrorCode::kInternal, "cuda_opt: " + sentence}; }

ffi::Error unknown(int64_t number) {
    return failure("there is no solve " + std::to_string(number) + ": it has ended or failed, or " +
                   std::to_string(Store::most) + " other solves have been used since its last call");
}

int64_t number_in(const Array &words) {
    int64_t number;
    std::memcpy(&number, words.untyped_data(), sizeof number); // under vmap there is a copy for each problem
    return number;
}

ffi::Error begin(ffi::Result<ffi::BufferR1<ffi::DataType::S32>> words) {
    try {
        const int64_t number = store().add();
        std::memcpy(words->untyped_data(), &number, sizeof number);
    } catch (const std::exception &error) {
        return failure(error.what());
    }
    return ffi::Error::Success();
}

std::vector<double> values_of(const Array &f) {
    if (f.element_type() == ffi::DataType::F32) {
        const auto *const values = static_cast<const float *>(f.untyped_data());
        return {values, values + f.element_count()};
    }
    const auto *const values = static_cast<const double *>(f.untyped_data());
    return {values, values + f.element_count()};
}

void write_values(const std::vector<double> &values, Array &f) {
    if (f.element_type() == ffi::DataType::F32)
        std::copy(values.begin(), values.end(), static_cast<float *>(f.untyped_data()));
    else std::copy(values.begin(), values.end(), static_cast<double *>(f.untyped_data()));
}

std::unique_ptr<Solve> solve_of(const Kind &kind) {
    if (std::unique_ptr<Solve> solve = store().take_ended(kind)) return solve;
    if (kind.single) return std::make_unique<SolveOf<float>>(kind);
    return std::make_unique<SolveOf<double>>(kind);
}

template <class Value>
std::vector<std::pair<int32_t, Value>> pairs_of(ffi::Span<const int64_t> keys, ffi::Span<const Value> values) {
    std::vector<std::pair<int32_t, Value>> pairs;
    for (std::size_t i = 0; i < keys.size(); i++) pairs.emplace_back(static_cast<int32_t>(keys[i]), values[i]);
    return pairs;
}

ffi::Error advance(Array words, Array x, Array f, Array g, Array lower, Array upper, Arrays info, Arrays x_out,
                   Arrays f_out, Arrays g_out, int32_t m, bool batches, int32_t kept_pairs,
                   ffi::Span<const int64_t> integer_keys, ffi::Span<const int64_t> integers,
                   ffi::Span<const int64_t> real_keys, ffi::Span<const double> reals) {
    const int64_t number = number_in(words);
    std::unique_ptr<Solve> solve;
    if (!store().take(number, solve)) return unknown(number);
    try {
        const auto elements = static_cast<int64_t>(x.element_count()), n = x.dimensions().back();
        Begun begun = Begun::ready;
        if (!solve) {
            solve = solve_of({elements / n, n, x.element_type() == ffi::DataType::F32, m,
                              batches && x.dimensions().size() > 1, kept_pairs, pairs_of(integer_keys, integers),
                              pairs_of(real_keys, reals)});
            begun = solve->begin(x.untyped_data(), lower.untyped_data(), upper.untyped_data());
        } else if (solve->kind().rows * solve->kind().n != elements) {
            return failure("the solve has " + std::to_string(solve->kind().rows) + " x " +
                           std::to_string(solve->kind().n) + " variables, but x has " + std::to_string(elements));
        }
        const bool waits =
            begun == Begun::ready ? solve->advance(values_of(f), g.untyped_data()) : begun == Begun::moved;
        solve->read_x(x_out->untyped_data());
        std::memcpy(info->untyped_data(), solve->info().data(), solve->info().size() * sizeof(int32_t));
        if (!waits || solve->kind().rows > 1) { // a single problem gets f and g at the next x from the program
            std::vector<double> values;
            solve->read_f_and_g(values, g_out->untyped_data());
            write_values(values, *f_out);
        }
        if (waits || kept_pairs > 0) store().put_back(number, std::move(solve));
        else store().keep_ended(std::move(solve));
    } catch (const std::exception &error) {
        return failure(error.what());
    }
    return ffi::Error::Success();
}

ffi::Error pairs(Array words, Array, Arrays rows) {
    std::unique_ptr<Solve> solve;
    if (!store().take(number_in(words), solve)) return unknown(number_in(words));
    const Kind &kind = solve->kind();
    if (static_cast<int64_t>(rows->element_count()) != kind.rows * (2 * kind.kept_pairs + 1) * kind.n)
        return failure("the array for the pairs of " + std::to_string(kind.rows) + " problems with " +
                       std::to_string(kind.n) + " variables has " + std::to_string(rows->element_count()) +
                       " elements");
    try {
        solve->read_pairs(rows->untyped_data());
        store().keep_ended(std::move(solve));
    } catch (const std::exception &error) {
        return failure(error.what());
    }
    return ffi::Error::Success();
}

} // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_begin, begin, ffi::Ffi::Bind().Ret<ffi::BufferR1<ffi::DataType::S32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_advance, advance,
                              ffi::Ffi::Bind()
                                  .Arg<Array>() // number
                                  .Arg<Array>() // x
                                  .Arg<Array>() // f
                                  .Arg<Array>() // g
                                  .Arg<Array>() // lower
                                  .Arg<Array>() // upper
                                  .Ret<Array>() // info
                                  .Ret<Array>() // x
                                  .Ret<Array>() // f
                                  .Ret<Array>() // g
                                  .Attr<int32_t>("m")
                                  .Attr<bool>("batches")
                                  .Attr<int32_t>("kept_pairs")
                                  .Attr<ffi::Span<const int64_t>>("integer_keys")
                                  .Attr<ffi::Span<const int64_t>>("integers")
                                  .Attr<ffi::Span<const int64_t>>("real_keys")
                                  .Attr<ffi::Span<const double>>("reals"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cuda_opt_xla_pairs, pairs,
                              ffi::Ffi::Bind()
                                  .Arg<Array>()   // number
                                  .Arg<Array>()   // the final x, so that XLA runs this call after the loop
                                  .Ret<Array>()); // rows

extern "C" {
// Returns the version of XLA's interface with which this file was compiled. XLA refuses handlers that are newer than
// itself, and then the whole backend fails.
int cuda_opt_xla_version() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }
// Returns the number of solves that wait for their next call, for tests.
int64_t cuda_opt_xla_waiting() { return store().size(); }
}
