// f and g of few variables as one kernel, with one block per value of f, without synchronisation with the host. The
// kernel starts before the solver's previous kernel has ended, and lets the next one start early as well. A rank's
// outermost rows are written directly to its neighbours' GPUs. Each value is stored in words that contain the number of
// the round, so that a reader recognises a value that has arrived without fences, flags or reads over the link. The
// exchange after each evaluation confirms that the values have been read.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "testfuncs/rosenbrock.hpp"
#include "testfuncs/torsion.hpp"

namespace cudaopt::bench {

// Torsion's energy on a run of whole rows; the rows beyond its ends are other ranks', or the boundary.
struct PartEnergy {
    struct Column {
        testfuncs::EdgeColumn<testfuncs::LinearNode> edges;
        bool first_part;
        CUDA_OPT_HD void enter(const testfuncs::Neighbourhood &) {}
        CUDA_OPT_HD double operator()(testfuncs::Sides sides, const testfuncs::Neighbourhood &v, Sum &f) const {
            sides.lowest = sides.lowest && first_part; // elsewhere the edge downwards is the other rank's
            return edges(sides, v, f);
        }
    };
    testfuncs::Torsion::Energy whole;
    const double *below, *above; // NULL: the boundary
    int64_t nx;

    CUDA_OPT_HD double boundary(int64_t i, int64_t j) const {
        if (i < 0 || i >= nx) return 0;
        const double *const row = j < 0 ? below : above;
        return row ? row[i] : 0;
    }
    CUDA_OPT_HD Column column(int64_t i) const { return {whole.column(i), below == nullptr}; }
};

// Rows of nx variables, cut into parts that have as many rows each as they can, each with an f of its own.
struct Parts {
    const double *x;
    double *g, *f;
    int64_t nx, rows;
    int count;
    CUDA_OPT_HD int64_t begin(int part) const { return rows * part / count; }
};

struct RosenbrockParts {
    Parts of;
    CUDA_OPT_HD int64_t terms(int part) const { return (of.begin(part + 1) - of.begin(part)) * of.nx / 2; }
    static std::size_t shared_bytes(int64_t) { return 0; }
    __device__ void meet(int, unsigned, double *) const {}
    CUDA_OPT_HD auto rule(int part, const double *) const {
        const int64_t at = of.begin(part) * of.nx;
        return testfuncs::Rosenbrock::Block<double>{of.x + at, of.g + at};
    }
};

// A value on its way, each half in a word with the round in its upper 32 bits: a word is written and read whole.
struct alignas(16) Halo {
    uint64_t low, high;

    __device__ void put(double value, unsigned round) {
        const uint64_t tag = static_cast<uint64_t>(round) << 32, bits = __double_as_longlong(value);
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(this), "l"(tag | (bits & 0xffffffffu)),
                     "l"(tag | bits >> 32)
                     : "memory");
    }
    __device__ double await(unsigned round) const {
        constexpr long long most = 20'000'000'000; // some ten seconds' cycles: the other rank has failed
        const long long begin = clock64();
        for (;;) {
            uint64_t first, second;
            asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                         : "=l"(first), "=l"(second)
                         : "l"(this)
                         : "memory");
            if (first >> 32 == round && second >> 32 == round)
                return __longlong_as_double(static_cast<long long>(second << 32 | (first & 0xffffffffu)));
            if (clock64() - begin > most) __trap();
        }
    }
};

// Where a neighbour takes this rank's row, in the memory of its GPU, and where its own arrives; NULL: there is none.
struct Neighbour {
    Halo *to;
    const Halo *from;

    __device__ void send(const double *row, int64_t nx, unsigned round) const {
        for (int64_t i = threadIdx.x; to && i < nx; i += block_threads) to[i].put(row[i], round);
    }
    __device__ void receive(double *row, int64_t nx, unsigned round) const {
        for (int64_t i = threadIdx.x; from && i < nx; i += block_threads) row[i] = from[i].await(round);
    }
};

// The neighbours' rows are received behind each other in shared memory.
struct TorsionParts {
    Parts of;
    testfuncs::Torsion::Energy energy;
    Neighbour below, above;
    static std::size_t shared_bytes(int64_t nx) { return 2 * static_cast<std::size_t>(nx) * sizeof(double); }
    __device__ void meet(int part, unsigned round, double *rows) const {
        const bool first = part == 0, last = part == of.count - 1;
        if (first) below.send(of.x, of.nx, round);
        if (last) above.send(of.x + (of.rows - 1) * of.nx, of.nx, round);
        if (first) below.receive(rows, of.nx, round);
        if (last) above.receive(rows + of.nx, of.nx, round);
        __syncthreads();
    }
    CUDA_OPT_HD testfuncs::Grid grid(int part) const { return {of.nx, of.begin(part + 1) - of.begin(part)}; }
    CUDA_OPT_HD int64_t terms(int part) const {
        const testfuncs::Grid here = grid(part);
        return here.nx * ((here.ny + testfuncs::strip_rows - 1) / testfuncs::strip_rows);
    }
    CUDA_OPT_HD auto rule(int part, const double *rows) const {
        const int64_t first = of.begin(part), end = of.begin(part + 1);
        const double *const row_below = below.from ? rows : nullptr;
        const double *const row_above = above.from ? rows + of.nx : nullptr;
        const PartEnergy here{energy, first > 0 ? of.x + (first - 1) * of.nx : row_below,
                              end < of.rows ? of.x + end * of.nx : row_above, of.nx};
        return testfuncs::Strip<double, PartEnergy>{of.x + first * of.nx, of.g + first * of.nx, grid(part), here};
    }
};

template <class Function>
__global__ void __launch_bounds__(block_threads)
    evaluate_parts(const __grid_constant__ Function function, unsigned round) {
    extern __shared__ double neighbours_rows[]; // below, above
    trigger_programmatic_launch();
    grid_dependency_sync();
    const int part = static_cast<int>(blockIdx.x);
    function.meet(part, round, neighbours_rows);
    const Sum f =
        record_of_block<Sum>(threadIdx.x, function.terms(part), block_threads, function.rule(part, neighbours_rows));
    if (threadIdx.x == 0) function.of.f[part] = f.v;
}

// early: the device is of compute capability 9 or more. Returns what the launch returned.
template <class Function>
cudaError_t evaluate_in_one(const Function &function, unsigned round, bool early, cudaStream_t stream) {
    const Parts &of = function.of;
    const std::size_t shared = Function::shared_bytes(of.nx);
    return early ? launch_early_clusters(evaluate_parts<Function>, of.count, 1, block_threads, shared, stream, function,
                                         round)
                 : launch(evaluate_parts<Function>, of.count, block_threads, shared, stream, function, round);
}

} // namespace cudaopt::bench
