// How the rows of sweep 1 reach shared memory: each warp has a ring of stages of its own, filled by asynchronous copies
// while it works on an earlier one, so that no warp waits for another.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "sweeps/cuda/device_rows.cuh"

namespace cudaopt {

// A stage holds a tile of the vectors that sweep 1 reads: first the stored columns, y_0, s_0, y_1, s_1, ..., which go
// on with zeros after n, then the caller's, which end at n: x, g, and as far as they are wanted l, u, h and g_base.
template <class Real, class History> struct Stage {
    static constexpr int rows = 256 / sizeof(Real);
    // Vectors lie so far apart that the lanes of an access to two rows fall on different banks.
    static constexpr int stride = rows + 8;
    static constexpr int column_bytes = stride * sizeof(History), vector_bytes = stride * sizeof(Real);
};

// Which vectors a stage holds, and the place of each of the caller's. A bound that is wanted and has no array has a
// place too, behind those that are copied: it holds the bound of all rows. g_base stands in the column of y_0, or where
// the columns are stored with fewer bits has a place.
template <class Real, class History> struct StageLayout {
    using Tile = Stage<Real, History>;
    int columns, first_copied, x = 0, g = 1, l = -1, u = -1, h = -1, g_base = -1, copied = 2, vectors;

    __host__ __device__ StageLayout(const DeviceVectors<Real, History> &v, const PanelRequest &request)
        : columns(2 * request.pairs), first_copied(0) {
        const bool bounds = request.free_gram || request.weighted;
        if (bounds && v.box.l) l = copied++;
        if (bounds && v.box.u) u = copied++;
        if (request.weighted) h = copied++;
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

// Where each vector of a stage begins that is copied; a kernel's parameter.
template <class Real, class History, int most_columns> struct Sources {
    static constexpr int most_vectors = 6;
    const History *columns[most_columns] = {};
    const Real *vectors[most_vectors] = {};

    Sources(const DeviceVectors<Real, History> &v, const PanelRequest &request,
            const StageLayout<Real, History> &place) {
        for (int k = 0; k < place.columns; k++) columns[k] = v.column(request, k < panel::gradient ? k : k + 2);
        vectors[place.x] = v.x, vectors[place.g] = v.g;
        if (place.l >= 0 && v.box.l) vectors[place.l] = v.box.l;
        if (place.u >= 0 && v.box.u) vectors[place.u] = v.box.u;
        if (place.h >= 0) vectors[place.h] = v.diagonal;
        if (place.g_base >= 0) vectors[place.g_base] = v.g_base(request.newest_slot);
    }
};

// Stages a warp can have with so much shared memory for its block: 1, or so many. How many there are changes no sum.
template <class Real, class History> constexpr int most_stages = sizeof(History) < sizeof(Real) ? 3 : 2;
template <class Real, class History> int stages_within(int block_bytes, int stage_bytes) {
    return block_bytes / (products_warps * stage_bytes) < most_stages<Real, History> ? 1 : most_stages<Real, History>;
}

// 16 bytes from global to shared memory, which arrive while the thread goes on; past the first-level cache.
__device__ inline void copy16(unsigned to_shared, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
}

template <class Real, class History, int most_columns> class Ring {
  public:
    using Place = StageLayout<Real, History>;

    // Tiles from whole_tiles on are copied row by row.
    __device__ Ring(const Sources<Real, History, most_columns> &sources, const Place &place, const BoxArrays<Real> &box,
                    int64_t n, int64_t whole_tiles, unsigned char *first, int stages)
        : sources_(sources), place_(place), box_(box), n_(n), whole_tiles_(whole_tiles), first_(first),
          columns_to_(shared_address(Place::column(first, Columns::vector()) + Columns::row())),
          vectors_to_(shared_address(place.vector(first, Vectors::vector()) + Vectors::row())), size_(place.bytes()),
          end_(stages * size_) {
        for (int k = place.copied; k < place.vectors; k++)
            for (int stage = 0; stage < end_; stage += size_)
                for (int row = threadIdx.x % 32; row < rows; row += 32)
                    place.vector(first_ + stage, k)[row] = bound_of_all(k);
    }

    // Those before it are copied 16 bytes at a time, of vectors that are aligned to that. A tile that goes past n
    // leaves zeros among the bounds of all rows; the warp that begins with it copies row by row, and puts the bounds
    // there anew, until its stage has had its next tile.
    __device__ static int64_t whole_tiles(const Place &place, int64_t n, bool aligned, int64_t first_tile,
                                          int64_t tiles_until_next) {
        const bool zeros_left = place.copied < place.vectors && (first_tile + 1) * rows > n;
        return !aligned ? 0 : zeros_left ? first_tile - tiles_until_next : n / rows;
    }

    // Begin to copy a tile into the next free stage. Of a negative one there is nothing to copy.
    __device__ void ask(int64_t tile) {
        if (tile >= 0) {
            const int64_t row = tile * rows;
#pragma unroll
            for (int k = 0; k < most_columns; k += Columns::at_once) {
                const int column = Columns::vector() + k;
                if (column < place_.columns && (!apart || column >= place_.first_copied))
                    copy16(columns_to_ + ahead_ + k * Tile::column_bytes,
                           sources_.columns[column] + row + Columns::row());
            }
            if (tile < whole_tiles_) {
#pragma unroll
                for (int k = 0; k < Sources<Real, History, most_columns>::most_vectors; k += Vectors::at_once) {
                    const int vector = Vectors::vector() + k;
                    if (vector < place_.copied)
                        copy16(vectors_to_ + ahead_ + k * Tile::vector_bytes,
                               sources_.vectors[vector] + row + Vectors::row());
                }
            } else {
                copy_in_pieces(row);
            }
        }
        __pipeline_commit();
        ahead_ = ahead_ + size_ == end_ ? 0 : ahead_ + size_;
    }

    // The stage of the oldest tile asked for, once it is there: all but the latest stages - 1 requests are complete.
    __device__ unsigned char *await() {
        if (size_ == end_) __pipeline_wait_prior(0);
        else __pipeline_wait_prior(most_stages<Real, History> - 1);
        __syncwarp();
        unsigned char *const stage = first_ + now_;
        now_ = now_ + size_ == end_ ? 0 : now_ + size_;
        return stage;
    }

  private:
    using Tile = Stage<Real, History>;
    static constexpr int rows = Tile::rows;
    static constexpr bool apart = DeviceVectors<Real, History>::apart;

    // Some lanes copy a vector's tile, 16 bytes each, and a warp so many vectors at once.
    template <class Element> struct Share {
        static constexpr int piece = 16 / sizeof(Element), lanes = rows / piece, at_once = 32 / lanes;
        __device__ static int vector() { return threadIdx.x % 32 / lanes; }
        __device__ static int row() { return threadIdx.x % lanes * piece; }
    };
    using Columns = Share<History>;
    using Vectors = Share<Real>;

    __device__ static unsigned shared_address(const void *pointer) {
        return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
    }

    __device__ Real bound_of_all(int k) const {
        return static_cast<Real>(k == place_.l ? box_.lower_all : box_.upper_all);
    }

    // The caller's vectors where the tile goes past n, or where they are not aligned.
    __device__ void copy_in_pieces(int64_t base) {
        for (int k = 0; k < place_.vectors; k++)
            for (int row = threadIdx.x % 32; row < rows; row += 32) {
                Real *const element = place_.vector(first_ + ahead_, k) + row;
                if (base + row >= n_) *element = k == place_.h ? 1 : 0;
                else if (k >= place_.copied) *element = bound_of_all(k);
                else __pipeline_memcpy_async(element, sources_.vectors[k] + base + row, sizeof(Real));
            }
    }

    const Sources<Real, History, most_columns> &sources_;
    const Place place_;
    const BoxArrays<Real> &box_;
    const int64_t n_, whole_tiles_;
    unsigned char *const first_;
    const unsigned columns_to_, vectors_to_; // where the lane's first copies go in the first stage
    const int size_, end_;                   // bytes of a stage, and of all
    int now_ = 0, ahead_ = 0;
};

} // namespace cudaopt
