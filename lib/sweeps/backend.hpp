// The interface of the backends in this build. A backend creates an object of class Sweeps, which performs all
// operations on vectors of n elements, and a MemorySpace, which allocates and copies memory.
#pragma once

#include <cstddef>
#include <memory>

#include "dense/bfloat16.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// The memory space that a pointer refers to, as far as the backend can determine it. Space::device is the memory of the
// backend's own device.
enum class Space { host, device, other_device, unknown };

// The memory space of a backend, for the memory functions of the C ABI. Failures are thrown as BackendFailure.
class MemorySpace {
  public:
    virtual ~MemorySpace() = default;
    virtual void *allocate(std::size_t bytes) = 0;
    virtual void release(void *pointer) = 0;
    virtual void copy_in(void *to, const void *from_host, std::size_t bytes, void *stream) = 0;
    virtual void copy_out(void *to_host, const void *from, std::size_t bytes, void *stream) = 0;
    virtual void synchronize(void *stream) = 0;
    // Returns whether x, f, g and the bounds may be stored at this address. where: receives the memory space.
    virtual bool accepts(const void *pointer, Space &where) = 0;
    // device() returns the number of the backend's device, and device_of() that of the device that a pointer refers to.
    // The result is -1 if there is none.
    virtual int device() const { return -1; }
    virtual int device_of(const void *) const { return -1; }
};

// Creates the sweeps of the host. History is the type of S and Y: Real, or float or bfloat16 if they have fewer bits.
template <class Real, class History> std::unique_ptr<Sweeps> make_host_sweeps(int64_t n);
template <class Real, class History> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t n, int device);
// Creates the sweeps of a backend. backend: CUDA_OPT_BACKEND_HOST or _CUDA; history_bits: 64 (only for double), 32 or
// 16; device: MemorySpace::device().
template <class Real> std::unique_ptr<Sweeps> make_sweeps(int backend, int64_t n, int history_bits, int device);
std::unique_ptr<MemorySpace> make_host_memory();
std::unique_ptr<MemorySpace> make_cuda_memory();

// Returns NULL if a CUDA device can be used; otherwise a sentence that explains why not.
const char *cuda_unavailable();
// Returns the memory space of a pointer according to the CUDA runtime, or unknown if this process does not use CUDA. It
// never initialises CUDA.
Space cuda_pointer_space(const void *pointer);

} // namespace cudaopt
