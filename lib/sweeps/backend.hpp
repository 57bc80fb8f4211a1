// This header declares the interface of the backends. A backend creates two kinds of object: Sweeps performs all
// operations on vectors of n elements, and MemorySpace allocates and copies memory.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda_opt.h"
#include "dense/bfloat16.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// Space is the kind of memory to which a pointer refers, as far as the backend can determine it. Space::device means
// the memory of the backend's own device.
enum class Space { host, device, other_device, unknown };

// MemorySpace implements the memory functions of the C ABI for one backend. A failure is thrown as BackendFailure.
class MemorySpace {
  public:
    virtual ~MemorySpace() = default;
    virtual void *allocate(std::size_t bytes) = 0;
    virtual void release(void *pointer) = 0;
    virtual void copy_in(void *to, const void *from_host, std::size_t bytes, void *stream) = 0;
    virtual void copy_out(void *to_host, const void *from, std::size_t bytes, void *stream) = 0;
    virtual void synchronize(void *stream) = 0;
    // Returns whether the caller's arrays x, f, g and the bounds may be stored at this address, and sets `where` to the
    // memory space of the address.
    virtual bool accepts(const void *pointer, Space &where) = 0;
    // The function device() returns the number of the backend's device. The function device_of() returns the number of
    // the device to which a pointer refers. The result is -1 if there is no such device.
    virtual int device() const { return -1; }
    virtual int device_of(const void *) const { return -1; }
};

// The next two functions create the Sweeps of the host and of CUDA. Real is the type of the caller's vectors, and
// History is the type of the stored columns of S and Y. History is either Real or a type with fewer bits (float or
// bfloat16).
template <class Real, class History> std::unique_ptr<Sweeps> make_host_sweeps(int64_t n);
template <class Real, class History> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t n, int device);
// Creates the Sweeps of a backend.
// backend: CUDA_OPT_BACKEND_HOST or CUDA_OPT_BACKEND_CUDA
// history_bits: 16, 32 or, only for Real = double, 64
// device: the number of the CUDA device, as returned by MemorySpace::device()
template <class Real> std::unique_ptr<Sweeps> make_sweeps(int backend, int64_t n, int history_bits, int device) {
    const auto make = [=](auto history) {
        using History = decltype(history);
        return backend == CUDA_OPT_BACKEND_CUDA ? make_cuda_sweeps<Real, History>(n, device)
                                                : make_host_sweeps<Real, History>(n);
    };
    if (history_bits == 16) return make(bfloat16());
    if (history_bits == 32) return make(float());
    return make(Real());
}
std::unique_ptr<MemorySpace> make_host_memory();
std::unique_ptr<MemorySpace> make_cuda_memory();

// Returns NULL if a CUDA device can be used. Otherwise it returns a sentence that explains why none can be used.
const char *cuda_unavailable();
// Returns the memory space of a pointer according to the CUDA runtime. If this process does not use CUDA, the result is
// Space::unknown. The function never initialises CUDA.
Space cuda_pointer_space(const void *pointer);

} // namespace cudaopt
