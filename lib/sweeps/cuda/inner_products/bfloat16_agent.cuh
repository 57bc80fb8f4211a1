// Bfloat16Agent multiplies the columns in sweep 1, the kernel that computes inner products (inner_products.cuh). It
// works in single precision, for a history stored in bfloat16. It is used if the request permits single precision, the
// initial Hessian is not a diagonal, and the threshold is 0. All variables that are not active are then free.
#pragma once

#include "sweeps/cuda/inner_products/bfloat16_products.cuh"

namespace cudaopt {

constexpr int bfloat16_resident(int octets) { return octets <= 3 ? 2 : 1; }
constexpr int most_bfloat16_stored(int octets) { return (octets * column_block - gradient_parts) / 2 * 2; }
// Returns whether the products may be formed in single precision, from columns in bfloat16. With more than most_octets
// octets of columns, another kernel forms them (rectangles.cuh).
inline bool may_multiply_bfloat16(const PanelRequest &request) {
    return request.single && !request.in_metric() && request.pairs > 0 && request.threshold == 0;
}
// A warp adds its single-precision sums to its double-precision ones after every 2 tiles of 64 variables.
constexpr int tiles_passed_on = 2;

template <class Real_, int octets, InnerProducts kind_> class Bfloat16Agent {
  public:
    using Real = Real_;
    using History = bfloat16;
    using Products = Bfloat16Products<octets, over_free_variables(kind_)>;
    static constexpr InnerProducts kind = kind_;
    static constexpr bool apart = true, crosses_breakpoints = false;
    // The columns are multiplied in octets, which are groups of eight columns. The first octet consists of y and s of
    // the newest pair, three parts of g, y and s of the next older pair, and y of the pair after that.
    static constexpr int resident = bfloat16_resident(octets), most_columns = most_bfloat16_stored(octets),
                         variables = Stage<Real, bfloat16>::variables,
                         lane_variables = variables_of_lane<Real, bfloat16>;
    static_assert(lane_variables == 2);
    // Each warp has a ring of stages, which are buffers for tiles (ring.cuh). In addition, it stores the three parts of
    // g and a mask of the free variables of the current tile in shared memory.
    static constexpr int stride = Stage<Real, bfloat16>::stride, beside_bytes = (gradient_parts + 1) * stride * 2;

    __device__ Bfloat16Agent(const StageLayout<Real, bfloat16> &place, const PanelRequest &, int, unsigned char *beside)
        : parts_(reinterpret_cast<bfloat16 *>(beside)), mask_(parts_ + gradient_parts * stride),
          at_parts_(shared_address(parts_ + (matrix_column() - 2) * stride + matrix_row())) {
        // Each lane supplies one address to the instruction ldmatrix: that of eight consecutive variables of one
        // column, which are one row of an 8 x 8 matrix. One ldmatrix loads sixteen variables of two octets of columns.
        // The element at_column_[b] is the lane's byte offset in a stage for the two octets 2b and 2b + 1.
#pragma unroll
        for (int b = 0; b < (octets + 1) / 2; b++) {
            const int c = 2 * b * column_block + matrix_column(), stored = c < 2 ? c : c - gradient_parts;
            // Octets may extend past the last column. The products of such columns are not used.
            at_column_[b] = place.column_at(stored < place.columns ? stored : 0) + matrix_row() * 2;
        }
    }

    __device__ static double factor(int, int) { return 1; }

    // Splits g into its three parts. Stores them and the mask of the free variables in shared memory, where all lanes
    // of the warp can read them. Also adds the terms of g's_new and g'g in double precision.
    __device__ void prepare(const DeviceVectors<Real, bfloat16> &v, const PanelRequest &request, int tile,
                            const StageLayout<Real, bfloat16> &place, unsigned char *stage,
                            const VariablesAhead<Real, lane_variables> &at, const bool (&is_free)[lane_variables]) {
        const int lane = threadIdx.x % 32;
        const auto s_new = Elements<bfloat16, lane_variables>::load(place.column(stage, 1) + lane * lane_variables);
#pragma unroll
        for (int k = 0; k < lane_variables; k++) {
            sums_.square += static_cast<double>(at.g[k]) * at.g[k];
            sums_.slope += at.g[k] * s_new[k];
        }
        store_parts(static_cast<float>(at.g[0]), static_cast<float>(at.g[1]), parts_ + lane * 2, stride);
        if (free_gram) {
            const unsigned own_free = (is_free[0] ? 0xffffu : 0) | (is_free[1] ? 0xffff0000u : 0);
            any_free_ = __ballot_sync(~0u, own_free);
            *reinterpret_cast<unsigned *>(mask_ + lane * 2) = own_free;
            // If no variable of the tile is free and all columns except g are 0, the only product that is not 0 is g'g.
            // It has been added above, so the tile is not multiplied.
            idle_ = any_free_ == 0 && v.zero_tiles.tracked() &&
                    v.zero_tiles.all_known(v.zero_tiles.columns(tile), request, request.fresh);
            if (idle_ && request.fresh) {
                const auto y = Elements<bfloat16, lane_variables>::load(place.column(stage, 0) + lane * lane_variables);
                idle_ = !__any_sync(~0u, y.any_not_zero());
            }
        }
    }

    __device__ void multiply(unsigned char *stage, const bool (&)[lane_variables]) {
        const unsigned stage_at = shared_address(stage);
#pragma unroll
        for (int group = 0; group < variables / 16; group++) {
            if (idle_) break;
            unsigned w[Products::even][2], mask[2] = {};
#pragma unroll
            for (int b = 0; b < (octets + 1) / 2; b++)
                load_matrices((b == 0 && of_parts() ? at_parts_ : stage_at + at_column_[b]) + group * 32, w[2 * b],
                              w[2 * b + 1]);
            if (free_gram) {
                const bfloat16 *const own = mask_ + group * 16 + threadIdx.x % 4 * 2;
                mask[0] = *reinterpret_cast<const unsigned *>(own);
                mask[1] = *reinterpret_cast<const unsigned *>(own + 8);
            }
            constexpr int lanes = 16 / lane_variables;
            products_.add(w, mask, any_free_ >> group * lanes & ((1u << lanes) - 1));
        }
        if (--until_passed_on_ == 0) {
            products_.pass_on();
            until_passed_on_ = tiles_passed_on;
        }
    }

    // Stores the products of this warp in shared memory, where the other warps of the block can read them.
    __device__ void store_products(double *warp_products) {
        const int warp = threadIdx.x / 32;
        products_.pass_on();
        products_.store(warp_products + warp * Products::elements);
        const GradientSums sums{warp_sum(sums_.slope), warp_sum(sums_.square)};
        if (threadIdx.x % 32 == 0) sums_of_warps()[warp] = sums;
    }
    // Adds the products of the warps and calls store(entry, value) for each product of the block.
    template <class Store>
    __device__ static void store_sums(double *warp_products, const PanelRequest &, const ProductsLayout &layout,
                                      const Store &store) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, columns = layout.columns;
        // One thread per product adds the values of the warps in the order of the warps. The sum replaces the value of
        // the first warp.
        for (int e = threadIdx.x; e < Products::elements; e += products_threads) {
            double sum = warp_products[e];
#pragma unroll
            for (int k = 1; k < products_warps; k++) sum += warp_products[k * Products::elements + e];
            warp_products[e] = sum;
        }
        __syncthreads();
        // Returns the product of panel columns i and j. The panel column g is multiplied as three columns, its parts. A
        // product with g is therefore the sum of the products with the parts.
        const auto sum_of = [&](int i, int j, const auto &place_of) {
            const auto first = [](int column) { return column <= panel::gradient ? column : column + 1; };
            const auto count = [](int column) { return column == panel::gradient ? gradient_parts : 1; };
            double sum = 0;
            if (i == panel::displacement || j == panel::displacement) return sum;
            for (int a = 0; a < count(i); a++)
                for (int b = 0; b < count(j); b++) sum += warp_products[place_of(first(i) + a, first(j) + b)];
            return sum;
        };
        for (int i = free_gram ? warp : columns; i < columns; i += products_warps)
            for (int j = i + lane; j < columns; j += 32)
                store(layout.free_gram + panel::gram_index(i, j, columns),
                      sum_of(i, j, [](int a, int b) { return Products::place_over_free(min(a, b), max(a, b)); }));
        for (int e = threadIdx.x; e < panel::leading * columns; e += products_threads) {
            const int i = e / columns, j = e % columns;
            const bool is_slope = min(i, j) == panel::s_new && max(i, j) == panel::gradient,
                       is_square = i == panel::gradient && j == panel::gradient;
            double over_all = is_slope || is_square ? 0 : sum_of(i, j, Products::place_over_all);
            for (int k = 0; (is_slope || is_square) && k < products_warps; k++)
                over_all += is_slope ? sums_of_warps()[k].slope : sums_of_warps()[k].square;
            store(layout.leading_products + i * columns + j, over_all);
        }
    }

  private:
    static constexpr bool free_gram = over_free_variables(kind);
    __device__ static int matrix_column() { return threadIdx.x % 32 / 16 * column_block + threadIdx.x % 8; }
    __device__ static int matrix_row() { return threadIdx.x % 32 / 8 % 2 * 8; }
    __device__ static bool of_parts() { return matrix_column() >= 2 && matrix_column() < 2 + gradient_parts; }
    __device__ static GradientSums *sums_of_warps() {
        __shared__ GradientSums sums[products_warps];
        return sums;
    }

    bfloat16 *const parts_, *const mask_;
    const unsigned at_parts_;
    int at_column_[(octets + 1) / 2];
    Products products_;
    GradientSums sums_;
    unsigned any_free_ = 0;
    bool idle_ = false;
    int until_passed_on_ = tiles_passed_on;
};

} // namespace cudaopt
