// This header implements the pipeline that copies the variables of a sweep to shared memory. Each warp has its own ring
// of stages, which are buffers in shared memory. Asynchronous copies fill one stage while the warp works on an earlier
// one, so that no warp waits for another.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "sweeps/cuda/support/device_variables.cuh"

namespace cudaopt {

// A stage holds one tile of the vectors that a sweep reads. The stored columns y_0, s_0, y_1, s_1, ... come first, and
// they are padded with zeros after the last variable. The caller's vectors x, g and, if they are needed, l, u, h and
// g_base follow. These have no padding.
template <class Real, class History> struct Stage {
    static constexpr int variables = variables_of_warp<Real, History>;
    // Vectors in a stage are separated by padding. Lanes that access two variables of different columns thus use
    // different banks of shared memory.
    static constexpr int stride = variables + 8;
    static constexpr int column_bytes = stride * sizeof(History), vector_bytes = stride * sizeof(Real);
};

// StageLayout describes which vectors a stage contains. The members x, g, l, u, h and g_base are the indices of the
// caller's vectors, or -1. If a bound is needed but has no array, it has a vector too, which contains the common value.
// Such vectors come after those that are copied. The vector g_base is in the column of y_0. If the columns have fewer
// bits than x, g_base has its own vector.
template <class Real, class History> struct StageLayout {
    using Tile = Stage<Real, History>;
    int columns, first_copied, x = 0, g = 1, l = -1, u = -1, h = -1, g_base = -1, copied = 2, vectors;

    __host__ __device__ StageLayout(const DeviceVectors<Real, History> &v, const PanelRequest &request)
        : columns(2 * request.pairs), first_copied(0) {
        const bool bounds = request.free_gram || request.in_metric();
        if (bounds && v.box.l) l = copied++;
        if (bounds && v.box.u) u = copied++;
        if (request.in_metric()) h = copied++;
        if (v.apart && request.fresh && columns > 0) g_base = copied++, first_copied = 1;
        vectors = copied;
        if (bounds && !v.box.l) l = vectors++;
        if (bounds && !v.box.u) u = vectors++;
    }
    __host__ __device__ int bytes() const { return columns * Tile::column_bytes + vectors * Tile::vector_bytes; }

    // Returns the byte offset of a column in the stage.
    __device__ static int column_at(int k) { return k * Tile::column_bytes; }
    __device__ int vector_at(int k) const { return columns * Tile::column_bytes + k * Tile::vector_bytes; }
    __device__ static History *column(unsigned char *stage, int k) {
        return reinterpret_cast<History *>(stage + column_at(k));
    }
    __device__ Real *vector(unsigned char *stage, int k) const {
        return reinterpret_cast<Real *>(stage + vector_at(k));
    }
    // These functions return the position of column j of the panel (y, s, g and z, lbfgsb/panel.hpp) in a stage, a
    // buffer in shared memory. The displacement z has no vector of its own and overwrites x. The positions of absent
    // pairs are not used.
    __device__ static bool of_caller(int j) { return j == panel::gradient || j == panel::displacement; }
    __device__ static int stored(int j) { return j < panel::gradient ? j : j - 2; }
    __device__ int panel_at(int j) const {
        return of_caller(j) ? vector_at(j == panel::gradient ? g : x) : column_at(stored(j));
    }
};

// Sources contains the addresses in global memory of the vectors that are copied to a stage. It is passed as a kernel
// parameter. If all vectors have the same precision, the columns and the caller's vectors form one list.
template <class Real, class History, int most_columns, int most_vectors> struct Sources {
    static constexpr bool apart = DeviceVectors<Real, History>::apart;
    static constexpr int in_list = apart ? most_columns : most_columns + most_vectors,
                         beside = apart ? most_vectors : 1;
    const History *list[in_list] = {};
    const Real *vectors[beside] = {};

    Sources(const DeviceVectors<Real, History> &v, const PanelRequest &request,
            const StageLayout<Real, History> &place) {
        const auto put = [&](int k, const Real *vector) {
            if constexpr (apart) vectors[k] = vector;
            else list[place.columns + k] = vector;
        };
        for (int k = 0; k < place.columns; k++) list[k] = v.column(request, k < panel::gradient ? k : k + 2);
        put(place.x, v.x), put(place.g, v.g);
        if (place.l >= 0 && v.box.l) put(place.l, v.box.l);
        if (place.u >= 0 && v.box.u) put(place.u, v.box.u);
        if (place.h >= 0) put(place.h, v.diagonal);
        if (place.g_base >= 0) put(place.g_base, v.g_base(request.newest_slot));
    }
    // Returns the address of one of the caller's vectors.
    __device__ const Real *vector(const StageLayout<Real, History> &place, int k) const {
        if constexpr (apart) return vectors[k];
        else return list[place.columns + k];
    }
};

// Returns the number of stages per warp, which does not change any sum. Sweep 1 is as fast with 3 or 4 stages as
// with 2.
inline int stages_within(int block_bytes, int stage_bytes) {
    return block_bytes >= 2 * products_warps * stage_bytes ? 2 : 1;
}

// Returns the largest number of the caller's vectors (x, g, l, u, h and g_base) in a stage.
constexpr int most_beside(InnerProducts kind, bool apart) {
    return 2 + (over_free_variables(kind) ? 2 : 0) + (in_metric(kind) ? 1 : 0) + (apart ? 1 : 0);
}

__device__ inline unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies 16 bytes asynchronously from global to shared memory, bypassing the L1 cache. If `zeros` is true, the function
// writes zeros and reads nothing.
__device__ inline void copy16(unsigned to_shared, const void *from, bool zeros = false) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_shared), "l"(from), "r"(zeros ? 0 : 16)
                 : "memory");
}

// Ring is the ring of stages of one warp. A stage is a buffer in shared memory that holds one tile of the vectors. The
// warp first calls start_copy() for its first stages - 1 tiles, which starts their copies. Then it repeats these steps
// for each tile. It calls start_copy() for the tile that is stages - 1 tiles ahead, waits for the copy of its own tile
// by await(), works on the returned stage and calls __syncwarp(). After that, the stage may be overwritten.
//
// The template argument `leaves_out` is relevant while zero tiles are tracked (zero_tiles.cuh). With zero_columns, a
// column that is 0 in a tile is not read, and zeros are written to the stage. With zero_tiles, moreover, only y of the
// newest pair is copied if all other columns are 0.
enum class LeaveOut { nothing, zero_columns, zero_tiles };
template <class Real, class History, int most_columns, int most_vectors, LeaveOut leaves_out> class Ring {
  public:
    using Place = StageLayout<Real, History>;
    using From = Sources<Real, History, most_columns, most_vectors>;

    // The argument `first` is the address of the ring's first stage. Tiles with the index whole_tiles or a larger one
    // are copied element by element.
    __device__ Ring(const From &sources, const Place &place, const DeviceVectors<Real, History> &v,
                    const PanelRequest &panel, int whole_tiles, unsigned char *first, int stages)
        : sources_(sources), place_(place), v_(v), panel_(panel), whole_tiles_(whole_tiles), first_(first),
          columns_to_(shared_address(Place::column(first, Columns::vector()) + Columns::variable())),
          vectors_to_(shared_address(place.vector(first, Vectors::vector()) + Vectors::variable())),
          size_(place.bytes()), end_(stages * size_) {
        // Without this empty asm statement, the compiler computes the addresses again for each copy.
        if constexpr (leaves_out != LeaveOut::nothing) asm volatile("" : "+r"(columns_to_), "+r"(vectors_to_));
        for (int k = place.copied; k < place.vectors; k++)
            for (int stage = 0; stage < end_; stage += size_)
                for (int variable = threadIdx.x % 32; variable < variables; variable += 32)
                    place.vector(first_ + stage, k)[variable] = bound_of_all(k);
    }

    // Returns the number of tiles that are copied by 16-byte accesses, which require aligned vectors. If a bound has
    // the same value for all variables, this value is written to each stage once. A tile that extends past the last
    // variable overwrites part of these values with zeros. The warp that begins with this tile therefore copies element
    // by element until the stage has received its next tile, which restores the values.
    __device__ static int whole_tiles(const Place &place, int64_t n, bool aligned, int first_tile,
                                      int tiles_until_next) {
        const bool zeros_left = place.copied < place.vectors && (int64_t{first_tile} + 1) * variables > n;
        return !aligned ? 0 : zeros_left ? first_tile - tiles_until_next : static_cast<int>(n / variables);
    }

    // Reads the bits that mark the zero columns of the first tile. This function is called before the first call of
    // start_copy(). A lane copies either columns of Y or columns of S.
    __device__ void look_ahead(int tile) {
        if (tile >= 0 && tracks_zeros())
            zeros_ = v_.zero_tiles.slots(tile, Columns::vector() % 2 == 0 ? zeros_of_y : zeros_of_s);
    }
    // Starts the copy of a tile to the next free stage. It also reads the bits that mark the zero columns of tile
    // `then`, which will be requested next. A negative index means that there is no tile.
    __device__ void start_copy(int tile, int then) {
        if (tile >= 0) {
            const bool whole = tile < whole_tiles_;
            const int count = place_.columns + (!From::apart && whole ? place_.copied : 0) - Columns::vector();
            const int least = From::apart ? place_.first_copied - Columns::vector() : 0;
            const int64_t base = int64_t{tile} * variables, column_row = base + Columns::variable(),
                          vector_row = base + Vectors::variable();
            const auto copy = [&](int k, bool zeros) {
                copy16(columns_to_ + ahead_ + k * Tile::column_bytes, sources_.list[Columns::vector() + k] + column_row,
                       zeros);
            };
            if (tracks_zeros()) {
                // Bit k is set if the lane's column of the pair of age k, counted from its first column, is 0 in the
                // tile.
                const unsigned zero_pairs = v_.zero_tiles.by_age(zeros_, panel_),
                               zero = zero_pairs >> Columns::vector() / 2;
                const bool of_y = Columns::vector() % 2 == 0;
                if (leaves_out == LeaveOut::zero_tiles &&
                    __all_sync(~0u, (zero_pairs | (of_y ? 1 : 0)) == (1u << panel_.pairs) - 1)) {
                    if (Columns::vector() == 0 && count > 0) copy(0, false);
                } else {
#pragma unroll
                    for (int k = 0; k < From::in_list; k += Columns::at_once)
                        if (k < count && k >= least) copy(k, k < 64 && zero >> k / 2 & 1);
                }
            } else {
                // Without this empty asm statement, the compiler keeps the results of the comparisons with `count` and
                // `least` as bits in registers, and extracts them for each column.
                int end = count, first = least;
                asm volatile("" : "+r"(end), "+r"(first));
#pragma unroll
                for (int k = 0; k < From::in_list; k += Columns::at_once)
                    if (k < end && k >= first) copy(k, false);
            }
#pragma unroll
            for (int k = 0; From::apart && k < From::beside; k += Vectors::at_once)
                if (whole && Vectors::vector() + k < place_.copied)
                    copy16(vectors_to_ + ahead_ + k * Tile::vector_bytes,
                           sources_.vectors[Vectors::vector() + k] + vector_row);
            if (!whole) copy_in_pieces(base);
        }
        look_ahead(then);
        __pipeline_commit();
        ahead_ = ahead_ + size_ == end_ ? 0 : ahead_ + size_;
    }

    // Waits for the oldest requested tile and returns its stage. After the call, only the latest stages - 1 requests
    // may be incomplete.
    __device__ unsigned char *await() {
        if (size_ == end_) __pipeline_wait_prior(0);
        else __pipeline_wait_prior(1);
        __syncwarp();
        unsigned char *const stage = first_ + now_;
        now_ = now_ + size_ == end_ ? 0 : now_ + size_;
        return stage;
    }

  private:
    using Tile = Stage<Real, History>;
    __device__ bool tracks_zeros() const { return leaves_out != LeaveOut::nothing && v_.zero_tiles.tracked(); }
    static constexpr int variables = Tile::variables;

    // Share describes how the lanes of a warp copy the tile of a vector. Each lane copies 16 bytes at a time, and a
    // warp copies several vectors at once.
    template <class Element> struct Share {
        static constexpr int piece = 16 / sizeof(Element), lanes = variables / piece, at_once = 32 / lanes;
        __device__ static int vector() { return threadIdx.x % 32 / lanes; }
        __device__ static int variable() { return threadIdx.x % lanes * piece; }
    };
    using Columns = Share<History>;
    static_assert(Columns::at_once % 2 == 0, "a lane has columns of Y alone, or of S");
    using Vectors = Share<Real>;

    __device__ Real bound_of_all(int k) const {
        return static_cast<Real>(k == place_.l ? v_.box.lower_all : v_.box.upper_all);
    }

    // Copies the caller's vectors element by element. This is needed if the tile extends past the last variable or the
    // vectors are not aligned.
    __device__ void copy_in_pieces(int64_t base) {
        for (int k = 0; k < place_.vectors; k++)
            for (int variable = threadIdx.x % 32; variable < variables; variable += 32) {
                Real *const element = place_.vector(first_ + ahead_, k) + variable;
                if (base + variable >= v_.n) *element = k == place_.h ? 1 : 0;
                else if (k >= place_.copied) *element = bound_of_all(k);
                else __pipeline_memcpy_async(element, sources_.vector(place_, k) + base + variable, sizeof(Real));
            }
    }

    const From &sources_;
    const Place place_;
    const DeviceVectors<Real, History> &v_;
    const PanelRequest &panel_;
    const int whole_tiles_;
    unsigned char *const first_;
    // The addresses in the first stage to which the lane makes its first copies: those of the stored columns and those
    // of the caller's vectors.
    unsigned columns_to_, vectors_to_;
    const int size_, end_; // the number of bytes of one stage and of all stages
    int now_ = 0, ahead_ = 0;
    unsigned zeros_ = 0; // a bit for each slot of the history whose column is 0 in the tile that is requested next
};

} // namespace cudaopt
