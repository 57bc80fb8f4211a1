// This header transfers variables from the GPU to the host. The Cauchy search on the host needs the variables whose
// breakpoints it passes.
#pragma once

#include "sweeps/cuda/support/device_variables.cuh"

namespace cudaopt {

// CrossedHead describes a variable that is sent to the host: its breakpoint, index, gradient and displacement to the
// bound.
struct CrossedHead {
    double t;
    int64_t index;
    double g, z;
};

// CrossedVariables is host memory for the variables that the device sends, at most crossed_capacity and in any order.
// It contains an array of breakpoints and one record per variable. A record contains the index of the variable, its
// elements of the columns y and s, its gradient g and its displacement z. Records begin at multiples of 128 bytes,
// because the bus transfers such a block as one packet. The counter *count in device memory is the number of variables
// that have been sent.
struct CrossedVariables {
    double *t, *records;
    unsigned long long *count;

    __host__ __device__ static constexpr int record_size(int columns) { return (1 + columns + 15) / 16 * 16; }
};

// Each lane describes one variable by `head`. The variables of the lanes whose argument `inside` is true are sent. The
// whole warp writes one record after the other, so all lanes must call the function. The function entry(variable, j)
// returns the variable's element of panel column j. It is not called for the columns g and z, whose elements are in
// `head`.
template <class Entry>
__device__ void send_variables(bool inside, const CrossedHead &head, int columns, const Entry &entry,
                               const CrossedVariables &to) {
    const int lane = threadIdx.x % 32;
    unsigned left = __ballot_sync(~0u, inside);
    if (left == 0) return;
    unsigned long long place = 0;
    if (lane == 0) place = atomicAdd(to.count, static_cast<unsigned long long>(__popc(left)));
    place = __shfl_sync(~0u, place, 0);
    const unsigned long long own_place = place + __popc(left & ((1u << lane) - 1));
    if (inside && own_place < crossed_capacity) to.t[own_place] = head.t;
    for (; left && place < crossed_capacity; left &= left - 1, place++) {
        const int owner = __ffs(left) - 1;
        const int64_t variable = __shfl_sync(~0u, head.index, owner);
        const double g = __shfl_sync(~0u, head.g, owner), z = __shfl_sync(~0u, head.z, owner);
        double *const record = to.records + place * CrossedVariables::record_size(columns);
// The loop is not unrolled, because an unrolled loop would need more registers in sweep 1.
#pragma unroll 1
        for (int k = lane; k <= columns; k += 32) {
            const int j = k - 1;
            record[k] = k == 0                     ? __longlong_as_double(variable)
                        : j == panel::gradient     ? g
                        : j == panel::displacement ? z
                                                   : entry(variable, j);
        }
    }
}

// SendAhead describes which variables sweep 1 sends before the host requests them: those with breakpoints up to an
// estimate of what the Cauchy search will need. In most iterations, the host then has the variables for its Cauchy
// search as soon as it has the inner products.
struct SendAhead {
    // Sweep 1 sends the variables with breakpoints up to `below` to the host. If `below` is 0, it sends none.
    double below;
    float reach; // `below` in single precision, slightly enlarged
    CrossedVariables to;
};

// Counts the variables with lo < breakpoint <= hi and writes the first crossed_capacity of them to host memory. Their
// order is arbitrary, because the host sorts them.
template <class Real, class History>
__global__ void __launch_bounds__(products_threads)
    find_crossed(DeviceVectors<Real, History> v, PanelRequest request, double lo, double hi, int columns,
                 CrossedVariables to, unsigned *arrivals, unsigned long long *count_to, unsigned *flag,
                 unsigned ticket) {
    const int lane = threadIdx.x % 32;
    const bool weighted = request.weighted;
    const int64_t tiles = (v.n + 31) / 32, warps = static_cast<int64_t>(gridDim.x) * products_warps;
    const auto weight_at = [&](int64_t variable) { return weighted ? static_cast<double>(v.diagonal[variable]) : 1.0; };
    const auto entry = [&](int64_t variable, int j) {
        const History *const column = v.column(request, j);
        // If the panel contains no pairs, its columns y and s count as 0.
        if (!column) return 0.0;
        const bool fresh = j == panel::y_column(0) && request.fresh;
        const double w =
            fresh ? gradient_change<History>(v.g[variable], v.g_base(request.newest_slot)[variable]) : column[variable];
        return weighted ? scaling_of(weight_at(variable)).of(j) * w : w;
    };
    for (int64_t tile = (static_cast<int64_t>(blockIdx.x) * products_threads + threadIdx.x) / 32; tile < tiles;
         tile += warps) {
        const int64_t i = tile * 32 + lane;
        CrossedHead head{0, i, 0, 0};
        if (i < v.n) {
            const double h = weight_at(i);
            const PathVariable at = on_path(v.variable(i), h, weighted ? scaling_of(h) : panel::Scaling{1, 1});
            head = {at.t, i, at.g, at.z};
        }
        send_variables(head.t > lo && head.t <= hi, head, columns, entry, to);
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(arrivals, 1u) == gridDim.x - 1) {
        __threadfence();
        *count_to = *static_cast<volatile unsigned long long *>(to.count);
        *to.count = 0;
        *arrivals = 0;
        __threadfence_system();
        *static_cast<volatile unsigned *>(flag) = ticket;
    }
}

} // namespace cudaopt
