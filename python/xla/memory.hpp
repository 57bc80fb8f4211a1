// The memory that contains the arrays of a call: that of the host, or that of the CUDA device of a stream.
//
// The driver's library is opened at run time. Neither CUDA's headers nor its libraries are needed to compile this file,
// and on a machine without a GPU nothing of it runs.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace cudaopt::xla {

// The functions of CUDA's driver API that are used here.
struct Driver {
    using Address = unsigned long long;
    int (*cuMemcpyAsync)(Address to, Address from, std::size_t bytes, void *stream) = nullptr;
    int (*cuMemsetD32Async)(Address to, unsigned value, std::size_t count, void *stream) = nullptr;
    int (*cuStreamSynchronize)(void *stream) = nullptr;
    int (*cuStreamGetCtx)(void *stream, void **context) = nullptr;
    int (*cuCtxPushCurrent)(void *context) = nullptr;
    int (*cuCtxPopCurrent)(void **context) = nullptr;
    int (*cuMemGetInfo)(std::size_t *free, std::size_t *total) = nullptr;

    static const Driver &get() {
        static const Driver driver;
        return driver;
    }

  private:
    Driver() {
        void *const library = dlopen("libcuda.so.1", RTLD_NOW);
        if (!library) throw std::runtime_error(std::string("the CUDA driver was not found: ") + dlerror());
        const auto find = [&](auto &function, std::initializer_list<const char *> names) {
            for (const char *name : names)
                if (void *const found = dlsym(library, name)) {
                    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
                    return;
                }
            throw std::runtime_error(std::string("the CUDA driver has no function ") + *names.begin());
        };
        find(cuMemcpyAsync, {"cuMemcpyAsync"});
        find(cuMemsetD32Async, {"cuMemsetD32Async"});
        find(cuStreamSynchronize, {"cuStreamSynchronize"});
        find(cuStreamGetCtx, {"cuStreamGetCtx"});
        find(cuCtxPushCurrent, {"cuCtxPushCurrent_v2", "cuCtxPushCurrent"});
        find(cuCtxPopCurrent, {"cuCtxPopCurrent_v2", "cuCtxPopCurrent"});
        find(cuMemGetInfo, {"cuMemGetInfo_v2", "cuMemGetInfo"});
    }
};

// On CUDA the context of the stream is the current one of this thread while the object exists, as the library requires,
// and all work is asynchronous, in the order of the stream.
class Memory {
  public:
    // The memory of the host.
    Memory() = default;
    // The memory of the device of this stream. Throws std::runtime_error if the driver fails, as do all other members.
    explicit Memory(void *stream) : driver_(&Driver::get()), stream_(stream) {
        check(driver_->cuStreamGetCtx(stream, &context_), "cuStreamGetCtx");
        check(driver_->cuCtxPushCurrent(context_), "cuCtxPushCurrent");
    }
    ~Memory() {
        void *context;
        if (driver_) driver_->cuCtxPopCurrent(&context);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    bool on_cuda() const { return driver_ != nullptr; }
    void *stream() const { return stream_; }
    // Distinguishes the devices. NULL for the host.
    void *context() const { return context_; }
    // Copies between arrays of this memory, or between such an array and host memory, unless both are one array.
    void copy(void *to, const void *from, std::size_t bytes) const {
        if (to == from) return;
        if (!driver_) std::memcpy(to, from, bytes);
        else check(driver_->cuMemcpyAsync(address(to), address(from), bytes, stream_), "cuMemcpyAsync");
    }
    void write(void *to, int32_t value) const {
        if (!driver_) std::memcpy(to, &value, sizeof value);
        else
            check(driver_->cuMemsetD32Async(address(to), static_cast<unsigned>(value), 1, stream_), "cuMemsetD32Async");
    }
    void wait() const {
        if (driver_) check(driver_->cuStreamSynchronize(stream_), "cuStreamSynchronize");
    }
    // Returns whether an array of this size would take less than an eighth of the device's free memory.
    bool has_plenty(double bytes) const {
        std::size_t free = 0, total = 0;
        check(driver_->cuMemGetInfo(&free, &total), "cuMemGetInfo");
        return 8 * bytes < static_cast<double>(free);
    }

  private:
    static Driver::Address address(const void *pointer) { return reinterpret_cast<Driver::Address>(pointer); }
    static void check(int code, const char *function) {
        if (code != 0)
            throw std::runtime_error(std::string(function) + " returned the CUDA error " + std::to_string(code));
    }

    const Driver *driver_ = nullptr;
    void *stream_ = nullptr, *context_ = nullptr;
};

} // namespace cudaopt::xla
