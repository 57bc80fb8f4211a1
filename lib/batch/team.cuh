// Implements a team of 32 lanes, which are the threads of one warp on a CUDA device.
#pragma once

#include <cstring>
#include <type_traits>

#include "batch/team.hpp"

namespace cudaopt::batch {

struct Warp {
    static constexpr int width = 32;
    __device__ int lane() const { return static_cast<int>(threadIdx.x) % width; }
    __device__ void sync() const { __syncwarp(); }
    template <class F> __device__ __forceinline__ int of_first(const F &f) const {
        int result = 0;
        if (lane() == 0) result = f();
        __syncwarp();
        return __shfl_sync(~0u, result, 0);
    }
    template <class Record> __device__ Record join(const Record &mine) const {
        static_assert(std::is_trivially_copyable_v<Record>, "a record travels between lanes as its bytes");
        constexpr int words = static_cast<int>((sizeof(Record) + sizeof(unsigned) - 1) / sizeof(unsigned));
        Record joined = mine;
        for (int delta = width / 2; delta > 0; delta /= 2) {
            unsigned bytes[words] = {};
            memcpy(bytes, &joined, sizeof(Record));
            for (unsigned &word : bytes) word = __shfl_xor_sync(~0u, word, delta);
            Record other;
            memcpy(&other, bytes, sizeof(Record));
            joined.join(other);
        }
        return joined;
    }
    __device__ double sum(double mine) const {
        for (int delta = width / 2; delta > 0; delta /= 2) mine += __shfl_xor_sync(~0u, mine, delta);
        return mine;
    }
    __device__ int append(bool yes, int value, int *list, int count) const {
        const unsigned mask = __ballot_sync(~0u, yes), before = (1u << lane()) - 1;
        if (yes) list[count + __popc(mask & before)] = value;
        return count + __popc(mask);
    }
};

} // namespace cudaopt::batch
