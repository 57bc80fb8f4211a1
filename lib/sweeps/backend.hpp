// The backends that the build put in. Each creates sweeps, and the API boundary uses nothing else.
#pragma once

#include <cstddef>
#include <memory>

#include "dense/bfloat16.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// Where a pointer points, as far as the backend can tell; device: the backend's own.
enum class Space { host, device, other_device, unknown };

// Memory in a backend's space; for the helpers of the C ABI. Failures are thrown as BackendFailure.
class MemorySpace {
  public:
    virtual ~MemorySpace() = default;
    virtual void *allocate(std::size_t bytes) = 0;
    virtual void release(void *pointer) = 0;
    virtual void copy_in(void *to, const void *from_host, std::size_t bytes, void *stream) = 0;
    virtual void copy_out(void *to_host, const void *from, std::size_t bytes, void *stream) = 0;
    virtual void synchronize(void *stream) = 0;
    // Whether x, f, g and the bounds may point there.
    virtual bool accepts(const void *pointer, Space &where) = 0;
    // The number of the backend's device, and of the one where a pointer points; -1: none.
    virtual int device() const { return -1; }
    virtual int device_of(const void *) const { return -1; }
};

// History, of S and Y: Real itself, or float or bfloat16 where they have fewer bits.
template <class Real, class History> std::unique_ptr<Sweeps> make_host_sweeps(int64_t n);
template <class Real, class History> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t n, int device);
// backend: CUDA_OPT_BACKEND_HOST or _CUDA; history_bits: 64 (of double alone), 32 or 16; device: MemorySpace::device().
template <class Real> std::unique_ptr<Sweeps> make_sweeps(int backend, int64_t n, int history_bits, int device);
std::unique_ptr<MemorySpace> make_host_memory();
std::unique_ptr<MemorySpace> make_cuda_memory();

// NULL when a CUDA device can be used; else one sentence why not.
const char *cuda_unavailable();
// Where a pointer points, by the CUDA runtime's word if CUDA is in use in this process; else unknown. Never starts it.
Space cuda_pointer_space(const void *pointer);

} // namespace cudaopt
