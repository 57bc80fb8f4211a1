// This header implements sweep 2 on the GPU for columns that are stored with fewer bits than x. Such columns have few
// bytes per variable. The registers of a thread do not hold enough variables for the loads in flight to saturate the
// memory bandwidth. Each warp therefore copies the pairs of a tile to shared memory, in groups of pairs_of_group, by
// asynchronous copies (ring.cuh), and adds one group while later ones are on their way.
#pragma once

#include "sweeps/cuda/direction/direction.cuh"
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

    // The warp processes the tiles `tile`, tile + step, ... below `end`. The address of its first buffer is `first`.
    __device__ PairGroups(const DeviceVectors<Real, History> &v, const PanelRequest &panel, unsigned char *first,
                          int tile, int step, int end)
        : v_(v), panel_(panel), first_(first), groups_(max(1, (panel.pairs + pairs_of_group - 1) / pairs_of_group)),
          step_(step), end_(end), ahead_tile_(tile) {
        ahead_bits_ = bits_of(tile);
        begin_tile();
        if (pairs_to_add(zeros_, 0) == 0) advance();
    }

    __device__ int count() const { return groups_; }
    // Returns the bits that mark the zero columns of a tile (zero_tiles.cuh), or 0 if zero tiles are not tracked or
    // there is no such tile. The second function converts them to bits by age.
    __device__ ZeroColumns bits_of(int tile) const {
        return v_.zero_tiles.are_kept() && tile < end_ ? v_.zero_tiles.columns(tile) : ZeroColumns();
    }
    __device__ ZeroColumns by_age(const ZeroColumns &bits) const {
        return v_.zero_tiles.are_kept() ? v_.zero_tiles.by_age(bits, panel_) : bits;
    }
    // Returns a mask of the pairs of a group in a tile that are not known to be 0. The argument `zeros` contains the
    // bits of the tile by age.
    __device__ unsigned pairs_to_add(const ZeroColumns &zeros, int group) const {
        const int first = group * pairs_of_group, count = min(pairs_of_group, panel_.pairs - first);
        return ((1u << count) - 1) & ~(first < 32 ? (zeros.of[zeros_of_y] & zeros.of[zeros_of_s]) >> first : 0);
    }
    // Starts the copy of the next group that has pairs to add. The warp calls this function once for each such group of
    // its tiles. The calls after the last one copy nothing. A column that is known to be 0 in the tile is not read.
    __device__ void ask() {
        // Eight lanes copy the 128 bytes of a column.
        constexpr int piece = 16 / sizeof(History), lanes = Tile::variables / piece, pairs_at_once = 32 / lanes / 2;
        static_assert(pairs_at_once == 2);
        const int lane = threadIdx.x % 32, which = lane / lanes % 2, own = lane % lanes * piece;
        const History *const from = (which == 0 ? v_.y(0) : v_.s(0)) + int64_t{ahead_tile_} * Tile::variables + own;
        const unsigned to = shared_address(column(first_ + ahead_buffer_ * buffer, lane / (2 * lanes), which) + own);
        const unsigned zeros = which == 0 ? zeros_.of[zeros_of_y] : zeros_.of[zeros_of_s];
        const unsigned to_add = ahead_tile_ < end_ ? pairs_to_add(zeros_, ahead_group_) : 0;
#pragma unroll
        for (int e = 0; e < pairs_of_group; e += pairs_at_once) {
            if ((to_add >> e & ((1u << pairs_at_once) - 1)) == 0) continue;
            const int in_group = e + lane / (2 * lanes), age = ahead_group_ * pairs_of_group + in_group;
            int slot = panel_.newest_slot - age;
            if (slot < 0) slot += v_.m + 1;
            if (to_add >> in_group & 1)
                copy16(to + 2 * e * Tile::column_bytes, from + slot * v_.pitch, age < 32 && zeros >> age & 1);
        }
        __pipeline_commit();
        ahead_buffer_ = ahead_buffer_ + 1 == groups_ahead ? 0 : ahead_buffer_ + 1;
        if (ahead_tile_ < end_) advance();
    }
    // Waits for the oldest requested group and returns its buffer. It may be overwritten when the warp has called
    // __syncwarp() and then ask().
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
    // Goes on to the next group that has pairs to add, if there is one.
    __device__ void advance() {
        do
            if (++ahead_group_ == groups_) {
                ahead_group_ = 0, ahead_tile_ += step_;
                begin_tile();
            }
        while (ahead_tile_ < end_ && pairs_to_add(zeros_, ahead_group_) == 0);
    }
    // Begins to request the groups of a tile, and reads the bits of the next tile.
    __device__ void begin_tile() {
        constexpr int tiles_ahead = 4;
        zeros_ = by_age(ahead_bits_);
        ahead_bits_ = bits_of(ahead_tile_ + step_);
        if (v_.zero_tiles.are_kept() && ahead_tile_ + tiles_ahead * step_ < end_)
            v_.zero_tiles.look_ahead(ahead_tile_ + tiles_ahead * step_);
    }

    const DeviceVectors<Real, History> &v_;
    const PanelRequest &panel_;
    unsigned char *const first_;
    const int groups_, step_, end_;
    ZeroColumns zeros_, ahead_bits_; // of the tile that is requested, by age, and of the next one
    int buffer_ = 0, ahead_buffer_ = 0, ahead_group_ = 0, ahead_tile_;
};

// LoadedVariables contains neighbouring variables of one lane.
template <class Real, int variables> struct LoadedVariables { Elements<Real, variables> x, g, l, u, h; };

// Computes the direction and the first trial point of the variables from i on, and stores them. The arguments from_y
// and from_s are the parts of w'q from Y and from S (subspace_move()). Returns the direction.
template <int variables, class Real, class History>
__device__ Elements<History, variables>
take_and_store(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
               const TrialArrays<Real, History> &to, bool aligned, int64_t i,
               const LoadedVariables<Real, variables> &at, const double (&from_y)[variables],
               const double (&from_s)[variables], DirectionRecord &record) {
    Elements<History, variables> d{};
    Elements<Real, variables> stepped{};
    const auto take = [&](int k, const DirectionRequest &requested) {
        const double weight = requested.panel.weighted ? at.h[k] : 1.0;
        const double move = subspace_move(requested, weight, at.g[k], from_y[k], from_s[k]);
        const auto trial =
            take_trial<Real, History>({at.x[k], at.g[k], at.l[k], at.u[k]}, requested, weight, move, record);
        d.v[k] = trial.d;
        stepped.v[k] = trial.x;
    };
    as_requested(request, [&](const DirectionRequest &requested) {
        if (i + variables <= v.n) {
#pragma unroll
            for (int k = 0; k < variables; k++) take(k, requested);
        } else {
            for (int k = 0; k < variables && i + k < v.n; k++) take(k, requested);
        }
    });
    if (aligned && i + variables <= v.n) {
        d.store(to.d + i);
        at.g.store(to.g_base + i);
        at.x.store(to.x_base + i);
        stepped.store(to.x + i);
    } else {
        for (int k = 0; k < variables && i + k < v.n; k++) {
            to.d[i + k] = d.v[k];
            to.g_base[i + k] = at.g.v[k];
            to.x_base[i + k] = at.x.v[k];
            to.x[i + k] = stepped.v[k];
        }
    }
    return d;
}

// Loads the variables from i on. Past the last variable, they are 0.
template <int variables, class Real, class History>
__device__ LoadedVariables<Real, variables> load_own(const DeviceVectors<Real, History> &v, bool weighted, bool aligned,
                                                     int64_t i) {
    using Loaded = Elements<Real, variables>;
    const auto all = [](double value) {
        Loaded e;
#pragma unroll
        for (int k = 0; k < variables; k++) e.v[k] = static_cast<Real>(value);
        return e;
    };
    const auto load_with = [&](const auto &load) -> LoadedVariables<Real, variables> {
        return {load(v.x), load(v.g), v.box.l ? load(v.box.l) : all(v.box.lower_all),
                v.box.u ? load(v.box.u) : all(v.box.upper_all), weighted ? load(v.diagonal) : all(1)};
    };
    if (aligned && i + variables <= v.n) return load_with([&](const Real *from) { return Loaded::load(from + i); });
    return load_with([&](const Real *from) {
        Loaded e{};
        for (int k = 0; k < variables && i + k < v.n; k++) e.v[k] = from[i + k];
        return e;
    });
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
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const BlockShare share = pieces.share(v.n, variables, blockIdx.x, gridDim.x, products_warps);
    const int end = static_cast<int>(share.end), step = static_cast<int>(share.step);
    const int first_tile = static_cast<int>(share.begin + share.offset + warp);
    Groups groups(v, request.panel, shared + warp * Groups::bytes, first_tile, step, end);
    for (int k = 0; k < groups_ahead - 1; k++) groups.ask();
    const auto load_tile = [&](int tile) {
        return load_own<lane_variables>(v, request.panel.weighted, aligned,
                                        int64_t{tile} * variables + lane * lane_variables);
    };
    LoadedVariables<Real, lane_variables> next{};
    ZeroColumns next_bits = groups.bits_of(first_tile);
    if (first_tile < end) next = load_tile(first_tile);
    DirectionRecord all, run;
    int until_joined = run_variables;
    for (int tile = first_tile; tile < end; tile += step) {
        const int64_t i = int64_t{tile} * variables + lane * lane_variables;
        const auto at = next;
        const ZeroColumns before = next_bits, zeros = groups.by_age(before);
        if (tile + step < end) next = load_tile(tile + step), next_bits = groups.bits_of(tile + step);
        double from_y[lane_variables] = {}, from_s[lane_variables] = {};
        bool changes = false; // whether y of the newest pair has an element that is not 0
        for (int group = 0; group < groups.count(); group++) {
            unsigned to_add = groups.pairs_to_add(zeros, group);
            if (to_add == 0) continue;
            groups.ask();
            unsigned char *const buffer = groups.await();
            const int first = group * pairs_of_group;
            struct Pair {
                Stored y, s;
            };
            const auto load_pair = [&](int pair) -> Pair {
                return {Stored::load(Groups::column(buffer, pair, 0) + lane * lane_variables),
                        Stored::load(Groups::column(buffer, pair, 1) + lane * lane_variables)};
            };
            const auto add_pair = [&](int pair, const Pair &at) {
                const double q_y = q[panel::y_column(first + pair)], q_s = q[panel::s_column(first + pair)];
#pragma unroll
                for (int k = 0; k < lane_variables; k++) from_y[k] += q_y * at.y[k], from_s[k] += q_s * at.s[k];
            };
            if (group == 0 && to_add & 1) changes = load_pair(0).y.any_not_zero();
            if (to_add == (1u << pairs_of_group) - 1) {
#pragma unroll
                for (int pair = 0; pair < pairs_of_group; pair++) add_pair(pair, load_pair(pair));
            } else {
                // Each iteration loads two pairs before it adds the first.
                while (to_add != 0) {
                    const int pair = __ffs(to_add) - 1;
                    to_add &= to_add - 1;
                    const int next_pair = to_add != 0 ? __ffs(to_add) - 1 : pair;
                    const Pair at_pair = load_pair(pair), at_next = load_pair(next_pair);
                    add_pair(pair, at_pair);
                    if (next_pair != pair) add_pair(next_pair, at_next);
                    to_add &= to_add - 1;
                }
            }
            // When all lanes have read the buffer, the next copy may overwrite it.
            __syncwarp();
        }
        const Stored d = take_and_store<lane_variables>(v, request, to, aligned, i, at, from_y, from_s, run);
        if (v.zero_tiles.are_kept() && (int64_t{tile} + 1) * variables <= v.n) {
            const bool zero_d = !__any_sync(~0u, d.any_not_zero()), zero_y = !__any_sync(~0u, changes);
            const ZeroColumns now = v.zero_tiles.with_y(before, request.panel.newest_slot, zero_y);
            if (lane == 0)
                v.zero_tiles.note(tile, before, v.zero_tiles.with_direction(now, request.spare_slot, zero_d));
        }
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
