// This header computes the inner products of the columns y, s and g (sweep 1) on the tensor cores in single precision,
// for columns stored in bfloat16. Each instruction processes sixteen variables. A product of two bfloat16 numbers is
// exact in single precision, and a sum of a few products is almost exact. Such sums are then added in double precision.
//
// The multiplied columns are y and s of the newest pair, three parts of the gradient g, and y and s of the older pairs.
// The gradient is rounded to single precision, whose significand of 24 bits is split exactly into three bfloat16
// numbers. Columns are grouped in octets of eight. The first octet contains y and s of the newest pair and the parts of
// g. Their products with all columns are needed over all variables, the other products only over the free variables.
// The panel column z (bound - x where a breakpoint was crossed) is omitted. It is 0, because these kernels are used
// only for the threshold 0, at which no breakpoint has been crossed.
#pragma once

#include "sweeps/cuda/support/ring.cuh"

namespace cudaopt {

constexpr int gradient_parts = 3;
constexpr int bfloat16_columns(int pairs) { return 2 * pairs + gradient_parts; }
// A kernel multiplies 2 to 6 octets of columns. With more octets, the products do not fit in the registers of a warp.
constexpr int least_octets = 2, most_octets = 6;
constexpr int bfloat16_octets(int pairs) { return (bfloat16_columns(pairs) + column_block - 1) / column_block; }

// Sums over the variables that one warp classifies, besides those of LaneSums. They are in double precision, because
// the line search needs this precision for the slope.
struct GradientSums {
    double slope = 0, square = 0; // g's_new and g'g
};

// Splits two neighbouring elements of g into three parts each. The parts are stored in three columns that are `stride`
// elements apart.
__device__ inline void store_parts(float first, float second, bfloat16 *to, int stride) {
#pragma unroll
    for (int part = 0; part < gradient_parts; part++) {
        const __nv_bfloat162 rounded = __floats2bfloat162_rn(first, second);
        const unsigned bits = reinterpret_cast<const unsigned &>(rounded);
        *reinterpret_cast<unsigned *>(to + part * stride) = bits;
        // These subtractions are exact: they subtract the leading eight bits of each number's significand.
        first -= __uint_as_float(bits << 16), second -= __uint_as_float(bits & 0xffff0000u);
    }
}

// Loads four matrices of 8 x 8. Lane i supplies the address of row i % 8 of matrix i / 8. Each lane receives two
// neighbouring elements of row lane / 4 of each matrix.
__device__ inline void load_matrices(unsigned shared_address, unsigned (&a)[2], unsigned (&b)[2]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(b[0]), "=r"(b[1])
                 : "r"(shared_address)
                 : "memory");
}

// Computes C += A B in single precision, where C is 16 x 8, A is 16 x 16 and B is 16 x 8. The arguments `upper` and
// `lower` are the lane's fragments of the upper and lower eight rows of A. Elements 0 and 1 of a fragment belong to the
// first and last eight indices of the inner dimension. The lane holds the same elements of C as in multiply_16x8x8().
__device__ inline void multiply_16x8x16(float (&c)[4], const unsigned (&upper)[2], const unsigned (&lower)[2],
                                        const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(upper[0]), "r"(lower[0]), "r"(upper[1]), "r"(lower[1]), "r"(b[0]), "r"(b[1]));
}

// Bfloat16Products holds the products that a warp accumulates. An octet is a group of eight columns. The octets are
// numbered 0, 1, ..., and octet 0 contains the leading columns. Each instruction multiplies two octets by a third one
// and gives a tile of 16 x 8 products. Tile j, one for each octet j, contains the products of octet 0 with octet j. Its
// upper half contains the sums over all variables. Its lower half contains the sums over the free variables, for which
// octet 0 is used a second time, with the other variables set to 0. All further tiles contain sums over the free
// variables only. They are the products of the octets i and i + 1, for i = 1, 3, 5, ..., with each octet j >= i.
template <int octets, bool free_gram> class Bfloat16Products {
  public:
    // The instruction ldmatrix loads two octets at a time, so the number of octets is rounded up.
    static constexpr int even = (octets + 1) / 2 * 2;

    // The octets after the first are grouped in twos, of which each begins with an octet of odd index. Returns the
    // number of tiles that precede the tiles of the two octets `first` and `first` + 1.
    __host__ __device__ static constexpr int tiles_before(int first) {
        return octets + (first - 1) / 2 * (octets - 1) - (first - 1) / 2 * ((first - 1) / 2 - 1);
    }
    static constexpr int tiles = free_gram ? tiles_before(octets % 2 == 0 ? octets + 1 : octets) : octets;
    static constexpr int tile_size = 2 * column_block * column_block, elements = tiles * tile_size;

    // Adds the products over sixteen variables. The argument w[b] is the lane's fragment of octet b, a matrix whose
    // eight rows are columns and whose sixteen columns are variables. The masks mask[0] and mask[1] belong to the first
    // and the last eight variables. The 16 bits of an element are set if its variable is free.
    __device__ void add(const unsigned (&w)[even][2], const unsigned (&mask)[2], bool any_free) {
        const unsigned over_free[2] = {w[0][0] & mask[0], w[0][1] & mask[1]};
#pragma unroll
        for (int j = 0; j < octets; j++) multiply_16x8x16(part_[j], w[0], over_free, w[j]);
        if constexpr (free_gram)
            if (any_free) add_over_free(w, mask);
    }
    // Adds the single-precision sums to the double-precision ones and clears them. Frequent calls keep the number of
    // terms in the single-precision sums small.
    __device__ void pass_on() {
#pragma unroll
        for (int t = 0; t < tiles; t++)
#pragma unroll
            for (int e = 0; e < 4; e++) sums_[t][e] += part_[t][e], part_[t][e] = 0;
    }
    // Writes the tiles one after the other. Element (row, column) of a tile has the index 8 row + column.
    __device__ void store(double *to) const {
        const int lane = threadIdx.x % 32, at = lane / 4 * column_block + lane % 4 * 2;
#pragma unroll
        for (int t = 0; t < tiles; t++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                to[t * tile_size + e / 2 * column_block * column_block + at + e % 2] = sums_[t][e];
    }

    // These functions return the index of the product of columns i and j in the array that store() writes. The columns
    // have the numbers with which they are multiplied. The function place_over_free() is for products over the free
    // variables, with i <= j. The function place_over_all() is for products over all variables, with column i in the
    // first octet.
    __device__ static int place_over_free(int i, int j) {
        if (i < column_block) return place(j / column_block, column_block + i, j);
        // The upper and the lower half of the tile belong to two consecutive octets, and `first` is the index of the
        // first one.
        const int first = (i / column_block - 1) / 2 * 2 + 1;
        return place(tiles_before(first) + j / column_block - first, i - first * column_block, j);
    }
    __device__ static int place_over_all(int i, int j) { return place(j / column_block, i, j); }

  private:
    __device__ void add_over_free(const unsigned (&w)[even][2], const unsigned (&mask)[2]) {
#pragma unroll
        for (int first = 1; first < octets; first += 2) {
            // If the number of octets is even, the last octet has no partner, and both halves of its tiles contain the
            // same products.
            const int second = first + 1 < octets ? first + 1 : first;
            const unsigned upper[2] = {w[first][0] & mask[0], w[first][1] & mask[1]},
                           lower[2] = {w[second][0] & mask[0], w[second][1] & mask[1]};
#pragma unroll
            for (int j = first; j < octets; j++)
                multiply_16x8x16(part_[tiles_before(first) + j - first], upper, lower, w[j]);
        }
    }
    __device__ static int place(int tile, int row, int column) {
        return tile * tile_size + row * column_block + column % column_block;
    }

    float part_[tiles][4] = {};
    double sums_[tiles][4] = {};
};

} // namespace cudaopt
