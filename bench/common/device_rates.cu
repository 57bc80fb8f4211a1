#include "device_rates.hpp"

#include <cuda_runtime.h>

#include <limits>
#include <vector>

namespace cudaopt::bench {

namespace {

constexpr int repetitions = 21;

// Device memory for as long as it lives; null where there is none left.
struct DeviceBuffer {
    void *at = nullptr;
    explicit DeviceBuffer(int64_t bytes) {
        if (cudaMalloc(&at, bytes) != cudaSuccess) cudaGetLastError();
        else cudaMemset(at, 1, bytes);
    }
    ~DeviceBuffer() { cudaFree(at); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    DeviceBuffer &operator=(const DeviceBuffer &) = delete;
};

// The sum is stored only if it is a number that the memory's bytes cannot give, so that the reads have to be done.
__global__ void read_all(const uint4 *from, int64_t count, unsigned *to) {
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    unsigned seen = 0;
#pragma unroll 8
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 v = from[i];
        seen |= v.x | v.y | v.z | v.w;
    }
    if (seen == 0xffffffff) *to = seen;
}

constexpr int chains = 4, rounds = 256, threads = 256, blocks_per_processor = 8;

__global__ void multiply_and_add(double *to) {
    double v[chains];
    for (int k = 0; k < chains; k++) v[k] = 1 + 1e-3 * (threadIdx.x + k);
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int k = 0; k < chains; k++) v[k] = fma(v[k], 0.75, 0.25);
    double sum = 0;
    for (int k = 0; k < chains; k++) sum += v[k];
    if (sum == -1) *to = sum; // never; but the compiler does not know
}

int multiprocessors() {
    int device = 0, count = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count;
}

} // namespace

double device_copy_seconds(const StreamClock &clock, int64_t bytes) {
    const DeviceBuffer from(bytes), to(bytes);
    if (!from.at || !to.at) return std::numeric_limits<double>::quiet_NaN();
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    return clock.seconds([&] { cudaMemcpyAsync(to.at, from.at, bytes, cudaMemcpyDeviceToDevice, stream); },
                         repetitions);
}

double device_read_seconds(const StreamClock &clock, int64_t bytes) {
    const DeviceBuffer from(bytes), to(sizeof(unsigned));
    if (!from.at || !to.at) return std::numeric_limits<double>::quiet_NaN();
    const int blocks = 8 * multiprocessors();
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    return clock.seconds(
        [&] {
            read_all<<<blocks, 256, 0, stream>>>(static_cast<const uint4 *>(from.at), bytes / int64_t{sizeof(uint4)},
                                                 static_cast<unsigned *>(to.at));
        },
        repetitions);
}

double transfer_seconds(const StreamClock &clock, int64_t bytes, bool to_host, int64_t rows, int64_t pitch) {
    const DeviceBuffer device(pitch * (rows - 1) + bytes);
    std::vector<char> host(static_cast<std::size_t>(bytes * rows));
    if (!device.at) return std::numeric_limits<double>::quiet_NaN();
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    const auto width = static_cast<std::size_t>(bytes), between = static_cast<std::size_t>(rows > 1 ? pitch : bytes);
    return clock.seconds_of_waiting(
        [&] {
            if (to_host)
                cudaMemcpy2DAsync(host.data(), width, device.at, between, width, rows, cudaMemcpyDeviceToHost, stream);
            else cudaMemcpy2DAsync(device.at, between, host.data(), width, width, rows, cudaMemcpyHostToDevice, stream);
            cudaStreamSynchronize(stream);
        },
        repetitions);
}

double device_multiply_adds(const StreamClock &clock) {
    const DeviceBuffer buffer(sizeof(double));
    const int blocks = multiprocessors() * blocks_per_processor;
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    const double seconds = clock.seconds(
        [&] { multiply_and_add<<<blocks, threads, 0, stream>>>(static_cast<double *>(buffer.at)); }, repetitions);
    return double{chains} * rounds * threads * blocks / seconds;
}

} // namespace cudaopt::bench
