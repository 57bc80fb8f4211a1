// This header implements sweep 2 on the GPU for columns that are stored with fewer bits than x. Such columns have few
// bytes per variable. The registers of a thread do not hold enough variables for the loads in flight to saturate the
// memory bandwidth. Each warp therefore copies the pairs of a tile to shared memory, in groups of pairs_of_group, by
// asynchronous copies (ring.cuh), and adds one group while later ones are on their way.
#pragma once

#include "sweeps/cuda/direction/take_and_store.cuh"
#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

constexpr int pairs_of_group = 8, groups_ahead = 5;

// The coefficients of the direction are a kernel parameter. All parameters of a kernel have at most 4 kB.
struct CoefficientsOfGroups {
    static constexpr int most_pairs = 199, capacity = panel::columns(most_pairs);
    double q[capacity];
    __device__ double operator[](int i) const { return q[i]; }
};

// PairGroups is the ring of buffers of one warp. A buffer contains the columns y and s of a group of pairs in a tile.
template <class Real, class History> class PairGroups {
  public:
    using Tile = Stage<Real, History>;
    static constexpr int buffer = 2 * pairs_of_group * Tile::column_bytes, bytes = groups_ahead * buffer;

    __device__ PairGroups(const DeviceVectors<Real, History> &v, const PanelRequest &panel, unsigned char *first)
        : v_(v), panel_(panel), first_(first), groups_((panel.pairs + pairs_of_group - 1) / pairs_of_group) {}

    __device__ int count() const { return groups_; }
    // Starts the copy of the next group. The warp processes the tiles first, first + step, ... below `end`, and calls
    // this function once for each group of each tile. The calls after the last group of the last tile copy nothing.
    __device__ void start_copy(int step, int end) {
        // Eight lanes copy the 128 bytes of a column.
        constexpr int piece = 16 / sizeof(History), lanes = Tile::variables / piece, pairs_at_once = 32 / lanes / 2;
        static_assert(pairs_at_once == 2);
        const int lane = threadIdx.x % 32, which = lane / lanes % 2, own = lane % lanes * piece;
        const History *const columns = which == 0 ? v_.y(0) : v_.s(0);
        unsigned char *const to = first_ + ahead_buffer_ * buffer;
#pragma unroll
        for (int e = 0; e < pairs_of_group; e += pairs_at_once) {
            const int in_group = e + lane / (2 * lanes), age = ahead_group_ * pairs_of_group + in_group;
            int slot = panel_.newest_slot - age;
            if (slot < 0) slot += v_.m + 1;
            if (ahead_tile_ < end && age < panel_.pairs)
                copy16(shared_address(column(to, in_group, which) + own),
                       columns + slot * v_.pitch + int64_t{ahead_tile_} * Tile::variables + own);
        }
        __pipeline_commit();
        ahead_buffer_ = ahead_buffer_ + 1 == groups_ahead ? 0 : ahead_buffer_ + 1;
        if (++ahead_group_ == groups_) ahead_group_ = 0, ahead_tile_ += step;
    }
    __device__ void begin(int tile) { ahead_tile_ = tile; }
    // Waits for the oldest requested group and returns its buffer. It may be overwritten when the warp has called
    // __syncwarp() and then start_copy().
    __device__ unsigned char *await() {
        __pipeline_wait_prior(groups_ahead - 1);
        __syncwarp();
        unsigned char *const now = first_ + buffer_ * buffer;
        buffer_ = buffer_ + 1 == groups_ahead ? 0 : buffer_ + 1;
        return now;
    }
    // Returns the column y (which = 0) or s (which = 1) of a pair in a buffer.
    __device__ static History *column(unsigned char *in, int pair, int which) {
        return reinterpret_cast<History *>(in + (2 * pair + which) * Tile::column_bytes);
    }

  private:
    const DeviceVectors<Real, History> &v_;
    const PanelRequest &panel_;
    unsigned char *const first_;
    const int groups_;
    int buffer_ = 0, ahead_buffer_ = 0, ahead_group_ = 0, ahead_tile_ = 0;
};

// Loads the variables from i on. Past the last variable, they are 0.
template <int variables, class Real, class History>
__device__ LoadedVariables<Real, variables> load_own(const DeviceVectors<Real, History> &v, bool weighted, bool aligned,
                                                     int64_t i) {
    using Loaded = Elements<Real, variables>;
    const auto load = [&](const Real *from, double for_all) {
        Loaded e{};
        if (from && aligned && i + variables <= v.n) return Loaded::load(from + i);
#pragma unroll
        for (int k = 0; k < variables; k++)
            if (i + k < v.n) e.v[k] = from ? from[i + k] : static_cast<Real>(for_all);
        return e;
    };
    return {load(v.x, 0), load(v.g, 0), load(v.box.l, v.box.lower_all), load(v.box.u, v.box.upper_all),
            load(weighted ? v.diagonal : nullptr, 1)};
}

// Executes sweep 2, which computes the direction and the first trial point. The column y of the newest pair must be
// stored.
template <class Real, class History>
__global__ void __launch_bounds__(products_threads, direction_resident)
    direction_pair_groups_kernel(DeviceVectors<Real, History> v, DirectionRequest request,
                                 const __grid_constant__ CoefficientsOfGroups q, TrialArrays<Real, History> to,
                                 Pieces pieces, bool aligned, DirectionRecord *records) {
    using Groups = PairGroups<Real, History>;
    constexpr int variables = Stage<Real, History>::variables, lane_variables = variables_of_lane<Real, History>;
    using Stored = Elements<History, lane_variables>;
    extern __shared__ __align__(16) unsigned char shared[];
    // The kernels of the caller's evaluation may now be scheduled early.
    trigger_programmatic_launch();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pairs = request.panel.pairs;
    const BlockShare share = pieces.share(v.n, variables, blockIdx.x, gridDim.x, products_warps);
    const int end = static_cast<int>(share.end), step = static_cast<int>(share.step);
    const int first_tile = static_cast<int>(share.begin + share.offset + warp);
    Groups groups(v, request.panel, shared + warp * Groups::bytes);
    groups.begin(first_tile);
    for (int k = 0; k < groups_ahead - 1; k++) groups.start_copy(step, end);
    DirectionRecord all, run;
    int until_joined = run_variables;
    for (int tile = first_tile; tile < end; tile += step) {
        const int64_t i = int64_t{tile} * variables + lane * lane_variables;
        const auto at = load_own<lane_variables>(v, request.panel.weighted, aligned, i);
        double from_y[lane_variables] = {}, from_s[lane_variables] = {};
        for (int group = 0; group < groups.count(); group++) {
            groups.start_copy(step, end);
            unsigned char *const buffer = groups.await();
            const int first = group * pairs_of_group;
            const auto add_pair = [&](int pair) {
                const Stored y = Stored::load(Groups::column(buffer, pair, 0) + lane * lane_variables),
                             s = Stored::load(Groups::column(buffer, pair, 1) + lane * lane_variables);
                const double q_y = q[panel::y_column(first + pair)], q_s = q[panel::s_column(first + pair)];
#pragma unroll
                for (int k = 0; k < lane_variables; k++) from_y[k] += q_y * y[k], from_s[k] += q_s * s[k];
            };
            if (first + pairs_of_group <= pairs) {
#pragma unroll
                for (int pair = 0; pair < pairs_of_group; pair++) add_pair(pair);
            } else {
                for (int pair = 0; first + pair < pairs; pair++) add_pair(pair);
            }
            // When all lanes have read the buffer, the next copy may overwrite it.
            __syncwarp();
        }
        take_and_store<lane_variables>(v, request, to, aligned, i, at, from_y, from_s, run);
        if (--until_joined == 0) {
            all.join(run);
            run = {};
            until_joined = run_variables;
        }
    }
    all.join(run);
    __pipeline_wait_prior(0);
    join_block(all);
    if (threadIdx.x == 0) records[pieces.place(blockIdx.x)] = all;
}

} // namespace cudaopt
