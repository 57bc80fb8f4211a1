// This file implements the memory space of the host backend, which the memory functions of the C ABI use.
#include <cstring>

#include "sweeps/backend.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

namespace {

class HostMemory final : public MemorySpace {
  public:
    void *allocate(std::size_t bytes) override { return allocate_on_host(static_cast<int64_t>(bytes)); }
    void release(void *pointer) override { std::free(pointer); }
    void copy_in(void *to, const void *from_host, std::size_t bytes, void *) override {
        std::memcpy(to, from_host, bytes);
    }
    void copy_out(void *to_host, const void *from, std::size_t bytes, void *) override {
        std::memcpy(to_host, from, bytes);
    }
    void synchronize(void *) override {}
    bool accepts(const void *pointer, Space &where) override {
        where = cuda_pointer_space(pointer);
        return where != Space::device;
    }
};

} // namespace

std::unique_ptr<MemorySpace> make_host_memory() { return std::make_unique<HostMemory>(); }

} // namespace cudaopt
