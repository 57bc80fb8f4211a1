// How the variables of sweep 1 reach shared memory: each warp has a ring of stages of its own, filled by asynchronous
// copies while it works on an earlier one, so that no warp waits for another.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "sweeps/cuda/device_variables.cuh"

namespace cudaopt {

// A stage holds a tile of the vectors that sweep 1 reads: first the stored columns, y_0, s_0, y_1, s_1, ..., which go
// on with zeros after n, then the caller's, which end at n: x, g, and as far as they are wanted l, u, h and g_base.
template <class Real, class History> struct Stage {
    static constexpr int variables = variables_of_warp<Real, History>;
    // Vectors lie so far apart that the lanes of an access to two variables fall on different banks.
    static constexpr int stride = variables + 8;
    static constexpr int column_bytes = stride * sizeof(History), vector_bytes = stride * sizeof(Real);
};

// Which vectors a stage holds, and the place of each of the caller's. A bound that is wanted and has no array has a
// place too, behind those that are copied: it holds the bound of all variables. g_base stands in the column of y_0, or
// where the columns are stored with fewer bits has a place.
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

    __device__ static int column_at(int k) { return k * Tile::column_bytes; } // bytes from the stage's beginning
    __device__ int vector_at(int k) const { return columns * Tile::column_bytes + k * Tile::vector_bytes; }
    __device__ static History *column(unsigned char *stage, int k) {
        return reinterpret_cast<History *>(stage + column_at(k));
    }
    __device__ Real *vector(unsigned char *stage, int k) const {
        return reinterpret_cast<Real *>(stage + vector_at(k));
    }
    // Of a column of the panel. z takes the place of x. What stands at the columns of absent pairs is not used.
    __device__ static bool of_caller(int j) { return j == panel::gradient || j == panel::displacement; }
    __device__ static int stored(int j) { return j < panel::gradient ? j : j - 2; }
    __device__ int panel_at(int j) const {
        return of_caller(j) ? vector_at(j == panel::gradient ? g : x) : column_at(stored(j));
    }
};

// Where each vector of a stage begins that is copied; a kernel's parameter. The caller's follow the columns, in one
// list where all have the same bits.
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
    // The caller's.
    __device__ const Real *vector(const StageLayout<Real, History> &place, int k) const {
        if constexpr (apart) return vectors[k];
        else return list[place.columns + k];
    }
};

// Stages a warp can have with so much shared memory for its block. How many there are changes no sum. Sweep 1 is as
// fast with 3 or 4 as with 2; sweep 2 of many pairs is a little faster with 3.
constexpr int stages_of_products = 2, stages_of_direction = 3;
inline int stages_within(int block_bytes, int stage_bytes, int most) {
    return std::max(1, std::min(most, block_bytes / (products_warps * stage_bytes)));
}

// Of the caller's vectors x, g, l, u, h and g_base, the most that a stage holds.
constexpr int most_beside(InnerProducts kind, bool apart) {
    return 2 + (over_free_variables(kind) ? 2 : 0) + (in_metric(kind) ? 1 : 0) + (apart ? 1 : 0);
}

__device__ inline unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from global to shared memory, which arrive while the thread goes on; past the first-level cache. zeros: in
// their place, and nothing is read.
__device__ inline void copy16(unsigned to_shared, const void *from, bool zeros = false) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_shared), "l"(from), "r"(zeros ? 0 : 16)
                 : "memory");
}

// Whether a ring leaves out tiles of zeros: never; always, for who is launched where such tiles are kept; or where they
// are.
enum class LeaveOutZeros { never, always, where_kept };

// always: where zeros are left out, columns that a stage has in any case; the others are not in it where all of them
// are 0 in a tile.
template <class Real, class History, int most_columns, int most_vectors, LeaveOutZeros zeros_are,
          int always = most_columns, int most_stages = stages_of_products>
class Ring {
  public:
    using Place = StageLayout<Real, History>;
    using From = Sources<Real, History, most_columns, most_vectors>;

    // Tiles from whole_tiles on are copied variable by variable.
    __device__ Ring(const From &sources, const Place &place, const DeviceVectors<Real, History> &v,
                    const PanelRequest &panel, int whole_tiles, unsigned char *first, int stages)
        : sources_(sources), place_(place), v_(v), panel_(panel), whole_tiles_(whole_tiles), first_(first),
          columns_to_(shared_address(Place::column(first, Columns::vector()) + Columns::variable())),
          vectors_to_(shared_address(place.vector(first, Vectors::vector()) + Vectors::variable())),
          size_(place.bytes()), end_(stages * size_) {
        // Else they would be formed anew for each copy.
        if constexpr (looks_for_zeros) asm volatile("" : "+r"(columns_to_), "+r"(vectors_to_));
        for (int k = place.copied; k < place.vectors; k++)
            for (int stage = 0; stage < end_; stage += size_)
                for (int variable = threadIdx.x % 32; variable < variables; variable += 32)
                    place.vector(first_ + stage, k)[variable] = bound_of_all(k);
    }

    // Those before it are copied 16 bytes at a time, of vectors that are aligned to that. A tile that goes past n
    // leaves zeros among the bounds of all variables; the warp that begins with it copies variable by variable, and
    // puts the bounds there anew, until its stage has had its next tile.
    __device__ static int whole_tiles(const Place &place, int64_t n, bool aligned, int first_tile,
                                      int tiles_until_next) {
        const bool zeros_left = place.copied < place.vectors && (int64_t{first_tile} + 1) * variables > n;
        return !aligned ? 0 : zeros_left ? first_tile - tiles_until_next : static_cast<int>(n / variables);
    }

    // The tile that will be asked for first.
    __device__ void look_ahead(int tile) {
        if (looks_for_zeros && tile >= 0 && zeros_are_kept()) zeros_[0] = v_.zero_tiles.slots(tile, own_zeros());
    }
    // Begin to copy a tile into the next free stage, and look at the one that will be asked for then. Of a negative one
    // there is nothing to copy.
    __device__ void ask(int tile, int then) {
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
            if (looks_for_zeros && zeros_are_kept()) {
                unsigned zero = v_.zero_tiles.by_age(zeros_[0], panel_); // by age, the lane's
                bool others = true;
                if constexpr (always < most_columns) {
                    const unsigned not_zero = ~zero & ((1u << panel_.pairs) - 1);
                    const bool of_y = own_zeros() == zeros_of_y;
                    const int from_age = of_y ? (always + 1) / 2 : always / 2;
                    const bool any_other = not_zero >> from_age, any = not_zero >> (of_y && panel_.fresh ? 1 : 0);
                    const unsigned told = __reduce_or_sync(~0u, (any_other ? 2 : 0) | (always > 0 && any ? 1 : 0));
                    others = told & 2;
                    if (!others) zeros_[0] |= others_zero;
                    if (always > 0 && !told) zeros_[0] |= all_zero;
                }
                zero >>= Columns::vector() / 2;
                const auto copy_column = [&](int k) {
                    if (k < count && k >= least) copy(k, k < 64 && zero >> k / 2 & 1);
                };
#pragma unroll
                for (int k = 0; k < std::min(always, From::in_list); k += Columns::at_once) copy_column(k);
                if (others) {
#pragma unroll
                    for (int k = first_of_others; k < From::in_list; k += Columns::at_once) copy_column(k);
                }
            } else {
                // Otherwise what count and least say of each column would be kept, in bits of registers, and be taken
                // out again each time.
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
        if constexpr (looks_for_zeros) {
#pragma unroll
            for (int s = most_stages; s > 0; s--) zeros_[s] = zeros_[s - 1];
            look_ahead(then);
        }
        __pipeline_commit();
        ahead_ = ahead_ + size_ == end_ ? 0 : ahead_ + size_;
    }

    // The stage of the oldest tile asked for, once it is there: all but the latest stages - 1 requests are complete.
    __device__ unsigned char *await() {
        if (size_ == end_) __pipeline_wait_prior(0);
        else if (most_stages == 3 && end_ == 3 * size_) __pipeline_wait_prior(2);
        else __pipeline_wait_prior(1);
        __syncwarp();
        unsigned char *const stage = first_ + now_;
        now_ = now_ + size_ == end_ ? 0 : now_ + size_;
        return stage;
    }

    // Which of the stored columns are 0 in the tile of the latest await(), by their slots: Y's or S's, as the lane has.
    __device__ unsigned zeros() const {
        return size_ == end_ ? zeros_[1] : most_stages == 3 && end_ == 3 * size_ ? zeros_[most_stages] : zeros_[2];
    }
    __device__ static int own_zeros() { return Columns::vector() % 2 == 0 ? zeros_of_y : zeros_of_s; }
    // Whether all columns of the tile are 0 but the first, `always`.
    __device__ bool others_are_zero() const { return looks_for_zeros && zeros() & others_zero; }
    // Whether these are, too, but for y where it is fresh.
    __device__ bool all_are_zero() const { return looks_for_zeros && zeros() & all_zero; }
    // Where the others are, for who reads them nevertheless.
    __device__ void clear_others(unsigned char *stage) const {
        for (int k = always; k < place_.columns; k++)
            for (int variable = threadIdx.x % 32; variable < variables; variable += 32)
                place_.column(stage, k)[variable] = History(0);
        __syncwarp();
    }
    // What the lanes have stored of one of the tile's columns, some of it not 0 or all. All lanes of a warp call it.
    __device__ void note_zeros(int tile, int which, int slot, bool not_zero) const {
        if (!zeros_are_kept() || (int64_t{tile} + 1) * variables > v_.n) return;
        const bool zero = !__any_sync(~0u, not_zero);
        if (threadIdx.x % 32 == (which == zeros_of_y ? 0 : Columns::lanes))
            v_.zero_tiles.note(tile, which, zeros() & ~ZeroTiles::marks, slot, zero);
    }

  private:
    using Tile = Stage<Real, History>;
    static constexpr bool looks_for_zeros = zeros_are != LeaveOutZeros::never;
    __device__ bool zeros_are_kept() const {
        return zeros_are == LeaveOutZeros::always ||
               (zeros_are == LeaveOutZeros::where_kept && v_.zero_tiles.are_kept());
    }
    static constexpr int variables = Tile::variables;
    static constexpr unsigned others_zero = 1u << 31, all_zero = 1u << 30;
    static_assert((others_zero | all_zero) == ZeroTiles::marks);

    // Some lanes copy a vector's tile, 16 bytes each, and a warp so many vectors at once.
    template <class Element> struct Share {
        static constexpr int piece = 16 / sizeof(Element), lanes = variables / piece, at_once = 32 / lanes;
        __device__ static int vector() { return threadIdx.x % 32 / lanes; }
        __device__ static int variable() { return threadIdx.x % lanes * piece; }
    };
    using Columns = Share<History>;
    static constexpr int first_of_others = (always + Columns::at_once - 1) / Columns::at_once * Columns::at_once;
    static_assert(Columns::at_once % 2 == 0, "a lane has columns of Y alone, or of S");
    using Vectors = Share<Real>;

    __device__ Real bound_of_all(int k) const {
        return static_cast<Real>(k == place_.l ? v_.box.lower_all : v_.box.upper_all);
    }

    // The caller's vectors where the tile goes past n, or where they are not aligned.
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
    unsigned columns_to_, vectors_to_; // where the lane's first copies go in the first stage
    const int size_, end_;             // bytes of a stage, and of all
    int now_ = 0, ahead_ = 0;
    unsigned zeros_[most_stages + 1] =
        {}; // of the tile that comes next, of the latest asked for, of the one before, ...
};

} // namespace cudaopt
