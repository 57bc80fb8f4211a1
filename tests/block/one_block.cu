#include "one_block.hpp"

#include "../support/device_memory.cuh"

namespace block_test {

using cudaopt_test::check;
using cudaopt_test::DeviceMemory;

namespace {

struct Place {
    Job job;
    double *block;
};

__global__ void solve_kernel(Place *places) {
    if (threadIdx.x == 0) places[blockIdx.x].job.run(places[blockIdx.x].block);
}

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
    const DeviceMemory<double> blocks(doubles);
    const DeviceMemory<Place> at(solves.size());
    std::vector<Place> places;
    doubles = 0;
    for (const OnDevice &one : solves) {
        blocks.store(*one.block, doubles);
        places.push_back({*one.job, blocks.data() + doubles});
        doubles += one.block->size();
    }
    at.store(places);

    const Stack stack;
    solve_kernel<<<static_cast<unsigned>(solves.size()), 32>>>(at.data());
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());

    at.fetch(places);
    for (std::size_t k = 0; k < solves.size(); k++) {
        *solves[k].job = places[k].job;
        blocks.fetch(*solves[k].block, static_cast<std::size_t>(places[k].block - blocks.data()));
    }
}

} // namespace block_test
