// Sweep 2 on the GPU, and the search for crossed rows.
#pragma once

#include "backend/cuda_gather.cuh"
#include "exec/map_reduce_cuda.cuh"

namespace cudaopt {

// The coefficients q, in the kernel's parameters where they fit, else in device memory.
struct CoefficientsByValue {
    static constexpr int capacity = 64;
    double q[capacity];
    __device__ double operator[](int i) const { return q[i]; }
};
struct CoefficientsInMemory {
    const double *q;
    __device__ double operator[](int i) const { return q[i]; }
};

// a g + w'q of row i: the way from x to the subspace minimiser, were there no bounds.
template <class Real, class Coefficients>
__device__ double subspace_move(const DeviceVectors<Real> &v, const DirectionRequest &request, const Coefficients &q,
                                int64_t i, double g, double h) {
    const GatherRequest &p = request.panel;
    double from_y = request.gradient_coefficient * g, from_s = 0;
    int slot = p.newest_slot;
    if (p.pairs > 0) {
        const double y = static_cast<double>(v.y(slot)[i]);
        from_y += q[0] * (p.fresh ? g - y : y);
        from_s += q[1] * static_cast<double>(v.s(slot)[i]);
    }
#pragma unroll 4
    for (int age = 1; age < p.pairs; age++) {
        slot = slot == 0 ? v.m : slot - 1;
        from_y += q[panel::y_column(age)] * static_cast<double>(v.y(slot)[i]);
        from_s += q[panel::s_column(age)] * static_cast<double>(v.s(slot)[i]);
    }
    return p.weighted ? h * from_y + from_s : from_y + from_s;
}

template <class Real, class Coefficients> struct TakeDirection { // sweep 2: 2 pairs + 9 n-vectors
    DeviceVectors<Real> v;
    DirectionRequest request;
    Coefficients q;
    TrialArrays<Real> to;
    __device__ void operator()(int64_t i, DirectionRecord &record) const {
        const Row at = v.row(i);
        const double h = request.panel.weighted ? static_cast<double>(v.diagonal[i]) : 1.0;
        store_trial(to, i, at, request, h, subspace_move(v, request, q, i, at.g, h), record);
    }
};

template <class Real, class Coefficients> struct FindTruncation {
    DeviceVectors<Real> v;
    DirectionRequest request;
    Coefficients q;
    __device__ void operator()(int64_t i, Min &alpha) const {
        const Row at = v.row(i);
        const double h = request.panel.weighted ? static_cast<double>(v.diagonal[i]) : 1.0;
        alpha.add(truncation_of_row(at, request, h, subspace_move(v, request, q, i, at.g, h)));
    }
};

// A crossed row as it comes to the host; its panel entries stand beside, columns apart.
struct CrossedHead {
    double t, g, z;
    int64_t index;
};

// Rows with lo < breakpoint <= hi: counted, and the first crossed_capacity to arrive written to host memory, the whole
// warp writing one row's entries after the other. Their order is left to the host's sort.
template <class Real, bool weighted>
__global__ void __launch_bounds__(gather_threads)
find_crossed(DeviceVectors<Real> v, GatherRequest request, double lo, double hi, int columns, CrossedHead *heads,
             double *entries, unsigned long long *count, unsigned *arrivals, unsigned long long *count_to,
             unsigned *flag, unsigned ticket) {
    const int lane = threadIdx.x % 32;
    const int64_t tiles = (v.n + 31) / 32, warps = static_cast<int64_t>(gridDim.x) * gather_warps;
    for (int64_t tile = (static_cast<int64_t>(blockIdx.x) * gather_threads + threadIdx.x) / 32; tile < tiles;
         tile += warps) {
        const int64_t i = tile * 32 + lane;
        Row at{};
        double h = 1, t = 0;
        if (i < v.n) {
            at = v.row(i);
            if (weighted) h = v.diagonal[i];
            t = breakpoint(at.x, h * at.g, at.l, at.u);
        }
        const bool inside = t > lo && t <= hi;
        for (unsigned left = __ballot_sync(~0u, inside); left; left &= left - 1) {
            const int owner = __ffs(left) - 1;
            unsigned long long place = 0;
            if (lane == owner) place = atomicAdd(count, 1ull);
            place = __shfl_sync(~0u, place, owner);
            if (place >= crossed_capacity) continue;
            const int64_t row = tile * 32 + owner;
            const double root = weighted ? sqrt(__shfl_sync(~0u, h, owner)) : 1.0;
            const double g = __shfl_sync(~0u, at.g, owner);
            for (int j = lane; j < columns; j += 32) {
                const Real *column = v.column(request, j);
                if (!column) continue;
                double w = column[row];
                if (j == 0 && request.fresh) w = g - w;
                entries[place * columns + j] = j % 2 == 0 ? w * root : w / root;
            }
            if (lane == owner) heads[place] = {t, root * at.g, ((at.g < 0 ? at.u : at.l) - at.x) / root, row};
        }
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(arrivals, 1u) == gridDim.x - 1) {
        __threadfence();
        *count_to = *static_cast<volatile unsigned long long *>(count);
        *count = 0;
        *arrivals = 0;
        __threadfence_system();
        *static_cast<volatile unsigned *>(flag) = ticket;
    }
}

} // namespace cudaopt
