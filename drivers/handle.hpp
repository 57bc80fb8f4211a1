/* The C ABI in C++: ownership, both precisions under one name, codes as exceptions. */
#pragma once

#include "cuda_opt.h"
#include "failure.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace driver {

/** The functions that come once for each precision. */
template <class Real> struct Abi;

template <> struct Abi<double> {
    static constexpr auto create = cuda_opt_create;
    static constexpr auto set_bounds = cuda_opt_set_bounds;
    static constexpr auto solve = cuda_opt_solve;
};

template <> struct Abi<float> {
    static constexpr auto create = cuda_opt_create_f32;
    static constexpr auto set_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto solve = cuda_opt_solve_f32;
};

/** Throw the handle's own message where a call failed. Improper input can only stem from the arguments. */
inline void check(const cuda_opt *s, int code)
{
    if (code < 0)
        throw Failure(code == CUDA_OPT_IMPROPER_INPUT ? exit_usage : exit_failed, cuda_opt_message(s));
}

class Handle {
public:
    Handle() = default;
    ~Handle() { cuda_opt_destroy(&handle_); }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;

    template <class Real> void create(std::int64_t n, std::int32_t m, int backend)
    {
        check(handle_, Abi<Real>::create(&handle_, n, m, backend));
    }
    operator cuda_opt *() const { return handle_; }

    std::int64_t integer(std::int32_t key) const
    {
        std::int64_t value = 0;
        check(handle_, cuda_opt_get_int(handle_, key, &value));
        return value;
    }
    double real(std::int32_t key) const
    {
        double value = 0;
        check(handle_, cuda_opt_get_real(handle_, key, &value));
        return value;
    }

private:
    cuda_opt *handle_ = nullptr;
};

/** Memory in the handle's memory space, for as long as the handle lives. */
template <class Value> class Array {
public:
    Array(const Handle &handle, std::int64_t size) : handle_(handle)
    {
        if (size > std::numeric_limits<std::int64_t>::max() / width)
            throw Failure(exit_failed, "out of memory: no machine holds " + std::to_string(size) + " variables");
        void *memory = nullptr;
        check(handle, cuda_opt_alloc(handle, &memory, size * width));
        data_ = static_cast<Value *>(memory);
    }
    ~Array() { cuda_opt_free(handle_, data_); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    Value *data() const { return data_; }
    void write(std::int64_t first, const Value *values, std::int64_t count)
    {
        check(handle_, cuda_opt_copy_in(handle_, data_ + first, values, count * width));
    }

private:
    static constexpr std::int64_t width = sizeof(Value);
    const Handle &handle_;
    Value *data_ = nullptr;
};

} // namespace driver
