// Implements the operations of HostExecutor on CUDA. All work is enqueued on one stream, without synchronisation.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "testfuncs/device_scratch.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

namespace cudaopt::testfuncs {

class CudaExecutor {
  public:
    CudaExecutor(DeviceScratch &scratch, void *stream) : stream_(static_cast<cudaStream_t>(stream)) {
        if (!scratch) scratch = make_scratch(stream_);
        scratch_ = static_cast<char *>(scratch.get());
    }

    template <class Record, class Rule, class Finish>
    void map_reduce(int64_t n, const Rule &rule, const Finish &finish) {
        static_assert(map_reduce_scratch_bytes<Record>() <= sum_bytes);
        check(map_reduce_cuda<Record>(n, rule, finish, scratch_ + passes_bytes, stream_));
    }

    template <class Record> Record *between_passes() {
        static_assert(sizeof(Record) <= passes_bytes);
        return reinterpret_cast<Record *>(scratch_);
    }

  private:
    struct LargestRecord {
        double v[8];
    };
    static constexpr std::size_t passes_bytes = 256;
    static constexpr std::size_t sum_bytes = map_reduce_scratch_bytes<LargestRecord>();

    static void check(cudaError_t status) {
        if (status != cudaSuccess)
            throw std::runtime_error(std::string("the evaluation failed on CUDA: ") + cudaGetErrorString(status));
    }

    static DeviceScratch make_scratch(cudaStream_t stream) {
        void *memory = nullptr;
        check(cudaMalloc(&memory, passes_bytes + sum_bytes));
        DeviceScratch scratch(memory, [](void *p) { cudaFree(p); });
        check(cudaMemsetAsync(memory, 0, passes_bytes + sum_bytes, stream));
        return scratch;
    }

    cudaStream_t stream_;
    char *scratch_;
};

// Evaluates the test function that `family`, a std::variant, contains.
template <class Family, class Real>
void evaluate_family(const Family &family, const Real *x, double *f, Real *g, DeviceScratch &scratch, void *stream) {
    CudaExecutor on(scratch, stream);
    std::visit([&](const auto &function) { function.evaluate(on, x, f, g); }, family);
}

} // namespace cudaopt::testfuncs
