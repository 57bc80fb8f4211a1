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

struct MultiplyAdd {
    __device__ double operator()(double v) const { return fma(v, 0.75, 0.25); }
};
struct InverseRoot {
    __device__ double operator()(double v) const { return rsqrt(v); }
};
struct Division {
    __device__ double operator()(double v) const { return 1 / v; }
};
struct Exponential {
    __device__ double operator()(double v) const { return exp(-v); }
};
struct SineAndCosine {
    __device__ double operator()(double v) const {
        double s, c;
        sincos(v, &s, &c);
        return s + c;
    }
};
struct ThereAndBack { // the factor keeps the pair of conversions from being taken out
    __device__ double operator()(double v) const { return static_cast<double>(static_cast<float>(v * 0.999)); }
};

constexpr int chains = 4, rounds = 256, threads = 256, blocks_per_processor = 8;

template <class Function> __global__ void apply(double *to, Function function) {
    double v[chains];
    for (int k = 0; k < chains; k++) v[k] = 1 + 1e-3 * (threadIdx.x + k);
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int k = 0; k < chains; k++) v[k] = function(v[k]);
    double sum = 0;
    for (int k = 0; k < chains; k++) sum += v[k];
    if (sum == -1) *to = sum; // never; but the compiler does not know
}

template <class Function> double seconds_of_one(const StreamClock &clock, double *to) {
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const int blocks = processors * blocks_per_processor;
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    const double seconds = clock.seconds([&] { apply<<<blocks, threads, 0, stream>>>(to, Function()); }, repetitions);
    return seconds / (double{chains} * rounds * threads * blocks);
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
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const auto stream = static_cast<cudaStream_t>(clock.stream());
    return clock.seconds(
        [&] {
            read_all<<<8 * processors, 256, 0, stream>>>(
                static_cast<const uint4 *>(from.at), bytes / int64_t{sizeof(uint4)}, static_cast<unsigned *>(to.at));
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

ArithmeticCosts device_arithmetic(const StreamClock &clock) {
    const DeviceBuffer buffer(sizeof(double));
    auto *to = static_cast<double *>(buffer.at);
    return {seconds_of_one<MultiplyAdd>(clock, to),   seconds_of_one<InverseRoot>(clock, to),
            seconds_of_one<Division>(clock, to),      seconds_of_one<Exponential>(clock, to),
            seconds_of_one<SineAndCosine>(clock, to), seconds_of_one<ThereAndBack>(clock, to) / 2};
}

} // namespace cudaopt::bench
