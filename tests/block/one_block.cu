#include "one_block.hpp"

#include <stdexcept>

namespace block_test {

namespace {

struct Place {
    Job job;
    double *block;
};

__global__ void solve_kernel(Place *places) {
    if (threadIdx.x == 0) places[blockIdx.x].job.run(places[blockIdx.x].block);
}

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Memory of the device that frees itself.
template <class T> class Memory {
  public:
    explicit Memory(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { cudaFree(data_); }

    T *data() const { return data_; }
    void store(const T *from, std::size_t count, std::size_t to = 0) const {
        check(cudaMemcpy(data_ + to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    }
    void fetch(T *to, std::size_t count, std::size_t from = 0) const {
        check(cudaMemcpy(to, data_ + from, count * sizeof(T), cudaMemcpyDeviceToHost));
    }

  private:
    T *data_ = nullptr;
};

// The stack that the kernel needs, where it is more than a thread has; as it was, afterwards.
class Stack {
  public:
    Stack() {
        cudaFuncAttributes attributes;
        check(cudaFuncGetAttributes(&attributes, solve_kernel));
        check(cudaDeviceGetLimit(&before_, cudaLimitStackSize));
        if (attributes.localSizeBytes > before_)
            check(cudaDeviceSetLimit(cudaLimitStackSize, attributes.localSizeBytes));
    }
    Stack(const Stack &) = delete;
    Stack &operator=(const Stack &) = delete;
    ~Stack() { cudaDeviceSetLimit(cudaLimitStackSize, before_); }

  private:
    std::size_t before_ = 0;
};

} // namespace

void run_on_device(const std::vector<OnDevice> &solves) {
    std::size_t doubles = 0;
    for (const OnDevice &one : solves) doubles += one.block->size();
    const Memory<double> blocks(doubles);
    const Memory<Place> at(solves.size());
    std::vector<Place> places;
    doubles = 0;
    for (const OnDevice &one : solves) {
        blocks.store(one.block->data(), one.block->size(), doubles);
        places.push_back({*one.job, blocks.data() + doubles});
        doubles += one.block->size();
    }
    at.store(places.data(), places.size());

    const Stack stack;
    solve_kernel<<<static_cast<unsigned>(solves.size()), 32>>>(at.data());
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());

    at.fetch(places.data(), places.size());
    for (std::size_t k = 0; k < solves.size(); k++) {
        *solves[k].job = places[k].job;
        blocks.fetch(solves[k].block->data(), solves[k].block->size(),
                     static_cast<std::size_t>(places[k].block - blocks.data()));
    }
}

} // namespace block_test
