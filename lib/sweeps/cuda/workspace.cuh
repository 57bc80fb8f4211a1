// CudaWorkspace contains the resources of a CUDA backend that the first call of a handle allocates. The constructor
// allocates all of them or throws.
#pragma once

#include <cstring>

#include "sweeps/cuda/direction/direction.cuh"
#include "sweeps/cuda/support/prefetched_variables.cuh"
#include "sweeps/cuda/support/posted_numbers.hpp"
#include "sweeps/cuda/support/stream_clock.cuh"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

// Kernels write the struct FromDevice to host memory, and the host reads it.
template <class Real> struct FromDevice {
    unsigned flag;
    unsigned long long crossed;
    alignas(8) unsigned char record[sizeof(StartRecord)];
    Real elements[64]; // of a vector, for the log
};

template <class Real, class History> struct CudaWorkspace {
    // The argument `pitch` is the number of elements per vector, and `columns` is the number of columns of the widest
    // panel.
    CudaWorkspace(int64_t pitch, int m, int columns, int64_t partial_sums, int direction_records, int numbers_posted,
                  cudaStream_t stream) {
        vectors.allocate(WorkVectors<Real, History>::bytes(m, pitch));
        partials.allocate(partial_sums);
        scratch.allocate(map_reduce_scratch_bytes<StartRecord>());
        counters.allocate(4);
        zero_tiles.allocate((pitch + variables_of_warp<Real, History> - 1) / variables_of_warp<Real, History>);
        if (columns > Coefficients::capacity) {
            coefficients.allocate(columns);
            staged_coefficients.allocate(columns);
        }
        directions.allocate(direction_records);
        from_device.allocate(1);
        posted.allocate(numbers_posted);
        sent.allocate(columns);
        found.allocate();
        numbers.resize(numbers_posted);
        std::memset(static_cast<void *>(from_device.get()), 0, from_device.bytes());
        std::memset(static_cast<void *>(posted.get()), 0, posted.bytes());
        // Tiles extend past n, and their elements there must be 0.
        check(cudaMemsetAsync(vectors.get(), 0, vectors.bytes(), stream), "cudaMemsetAsync");
        check(cudaMemsetAsync(scratch.get(), 0, scratch.bytes(), stream), "cudaMemsetAsync");
    }
    int64_t bytes() const {
        return vectors.bytes() + partials.bytes() + scratch.bytes() + counters.bytes() + coefficients.bytes() +
               directions.bytes() + zero_tiles.bytes();
    }

    CudaArray<unsigned char, Lives::on_device> vectors;
    CudaArray<ZeroColumns, Lives::on_device> zero_tiles;
    CudaArray<double, Lives::on_device> partials, coefficients;
    CudaArray<DirectionRecord, Lives::on_device> directions;
    CudaArray<unsigned char, Lives::on_device> scratch;
    // The first counter is the number of blocks of find_crossed() that have finished. The second one is the number of
    // variables that the device has sent to the host.
    CudaArray<unsigned long long, Lives::on_device> counters;
    CudaArray<FromDevice<Real>, Lives::on_host_mapped> from_device;
    CudaArray<double, Lives::on_host_mapped> staged_coefficients;
    CudaArray<Posted, Lives::on_host_mapped> posted;
    PrefetchedVariables sent;
    FoundVariables found;
    std::vector<double> numbers; // the numbers that the device has written to host memory
    StreamClock clock;
};

} // namespace cudaopt
