// This header defines arrays on the host that are aligned for vector instructions and freed automatically.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "cuda_opt.h"
#include "boundary/message.hpp"

namespace cudaopt {

// Vectors that fill huge pages are stored in them, because a sweep reads dozens of vectors at once and would otherwise
// often wait for the translation of addresses. Shorter vectors are stored in ordinary pages. Several of them
// would share a huge page, and the system would then provide memory for stored pairs that are never written if the
// solve ends after a few iterations.
constexpr std::size_t huge_page = std::size_t{2} << 20;
template <class Real> bool fill_huge_pages(int64_t n) { return n >= static_cast<int64_t>(huge_page / sizeof(Real)); }

inline void *allocate_on_host(int64_t size, bool in_huge_pages = false) {
    const std::size_t alignment = in_huge_pages ? huge_page : 64;
    const std::size_t bytes = (static_cast<std::size_t>(size) + alignment - 1) / alignment * alignment;
    void *memory = std::aligned_alloc(alignment, bytes);
    if (!memory) {
        char text[120];
        std::snprintf(text, sizeof text, "out of memory: %zu bytes of workspace were asked for on the host", bytes);
        throw BackendFailure(CUDA_OPT_OUT_OF_MEMORY, text);
    }
#if defined(MADV_HUGEPAGE)
    if (in_huge_pages)
        madvise(memory, bytes, MADV_HUGEPAGE); // a system without huge pages refuses, which is no failure
#endif
    return memory;
}

// An array that stores its size, or no array at first. The allocation does not write to the memory. Each page is first
// written by a thread that uses it, so that the system can place the page near the processor of this thread.
template <class T> class HostArray {
  public:
    HostArray() = default;
    explicit HostArray(int64_t count, bool in_huge_pages = false)
        : bytes_(count * static_cast<int64_t>(sizeof(T))),
          data_(static_cast<T *>(allocate_on_host(bytes_, in_huge_pages))) {}

    T *get() const { return data_.get(); }
    T &operator[](int64_t i) const { return get()[i]; }
    explicit operator bool() const { return get() != nullptr; }
    int64_t bytes() const { return bytes_; }
    void release() { *this = HostArray(); }

  private:
    struct Free {
        void operator()(void *p) const { std::free(p); }
    };
    int64_t bytes_ = 0;
    std::unique_ptr<T[], Free> data_;
};

} // namespace cudaopt
