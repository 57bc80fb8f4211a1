#include "stream_clock.hpp"

#include <cuda_runtime.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace cudaopt::bench {

namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA failed: ") + cudaGetErrorString(status));
}

// The stream stands still until the host opens, or for about a second.
__global__ void hold(const volatile int *open) {
    const long long begin = clock64(), cancellation = 2000000000;
    while (!*open && clock64() - begin < cancellation) {
    }
}

} // namespace

struct StreamClock::Cuda {
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
    volatile int *open = nullptr;
    int device = 0;

    ~Cuda() {
        if (stream) cudaStreamSynchronize(stream);
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        cudaFreeHost(const_cast<int *>(open));
        if (stream) cudaStreamDestroy(stream);
    }
    void hold_back() {
        *open = 0;
        hold<<<1, 1, 0, stream>>>(open);
        check(cudaGetLastError());
        check(cudaEventRecord(begin, stream));
    }
    void let_go() {
        cudaEventRecord(end, stream);
        *open = 1;
    }
    double elapsed() const {
        float milliseconds = 0;
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        return 1e-3 * milliseconds;
    }
};

StreamClock::StreamClock() : cuda_(std::make_unique<Cuda>()) {
    void *flag = nullptr;
    check(cudaGetDevice(&cuda_->device));
    check(cudaStreamCreateWithFlags(&cuda_->stream, cudaStreamNonBlocking));
    check(cudaEventCreate(&cuda_->begin));
    check(cudaEventCreate(&cuda_->end));
    check(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocDefault));
    cuda_->open = static_cast<volatile int *>(flag);
    for (int once = 0; once < 2; once++) { // the kernel is loaded before it has to hold anything back
        cuda_->hold_back();
        cuda_->let_go();
        cuda_->elapsed();
    }
}

StreamClock::~StreamClock() = default;

void *StreamClock::stream() const { return cuda_->stream; }

double StreamClock::seconds(const std::function<void()> &work, int repetitions) const {
    std::vector<double> seconds;
    for (int k = -2; k < repetitions; k++) {
        if (k >= -1) cuda_->hold_back(); // nothing is held back while kernels may have to be loaded
        work();
        if (k >= -1) cuda_->let_go();
        check(cudaStreamSynchronize(cuda_->stream));
        if (k >= 0) seconds.push_back(cuda_->elapsed());
    }
    return median(seconds);
}

// A copy of pageable memory may hold the driver's lock until the stream goes on, so that the other thread cannot record
// the end. A second thread therefore opens the stream in any case.
double StreamClock::seconds_of_waiting(const std::function<void()> &work, int repetitions) const {
    std::vector<double> seconds;
    work();
    work();
    for (int k = 0; k < repetitions; k++) {
        cuda_->hold_back();
        std::thread later([this] {
            cudaSetDevice(cuda_->device);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            cuda_->let_go();
        });
        std::thread latest([this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
            *cuda_->open = 1;
        });
        const auto join = [&] { later.join(), latest.join(); };
        try {
            work();
        } catch (...) {
            join();
            throw;
        }
        join();
        seconds.push_back(cuda_->elapsed());
    }
    return median(seconds);
}

} // namespace cudaopt::bench
