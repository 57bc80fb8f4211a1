// f and g of few variables as one kernel, which nothing has to wait for on the host: a block for each value of f. It is
// in place before the solver's kernel in front of it has ended, and lets the one behind it be. The rows of neighbours
// are read where they are, in the memory of their GPU, when a flag says that they are written; the exchange that
// follows each evaluation says that they have been read.
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
    CUDA_OPT_HD auto rule(int part) const {
        const int64_t at = of.begin(part) * of.nx;
        return testfuncs::Rosenbrock::Block<double>{of.x + at, of.g + at};
    }
};

struct TorsionParts {
    Parts of;
    testfuncs::Torsion::Energy energy;
    const double *below, *above; // the neighbours' rows, or NULL
    CUDA_OPT_HD testfuncs::Grid grid(int part) const { return {of.nx, of.begin(part + 1) - of.begin(part)}; }
    CUDA_OPT_HD int64_t terms(int part) const {
        const testfuncs::Grid here = grid(part);
        return here.nx * ((here.ny + testfuncs::strip_rows - 1) / testfuncs::strip_rows);
    }
    CUDA_OPT_HD auto rule(int part) const {
        const int64_t first = of.begin(part), end = of.begin(part + 1);
        const PartEnergy here{energy, first > 0 ? of.x + (first - 1) * of.nx : below,
                              end < of.rows ? of.x + end * of.nx : above, of.nx};
        return testfuncs::Strip<double, PartEnergy>{of.x + first * of.nx, of.g + first * of.nx, grid(part), here};
    }
};

// Of the neighbours, each NULL where there is none: where to tell them that this rank's x of that round is written, and
// where they tell of theirs.
struct Neighbours {
    unsigned *tell_below, *tell_above;
    const unsigned *from_below, *from_above;

    __device__ void meet(unsigned round) const {
        if (threadIdx.x == 0) {
            if (blockIdx.x == 0) {
                __threadfence_system(); // x before the flags
                if (tell_below) tell(tell_below, round);
                if (tell_above) tell(tell_above, round);
            }
            if (from_below) await(from_below, round);
            if (from_above) await(from_above, round);
        }
        __syncthreads();
    }

  private:
    __device__ static void tell(unsigned *flag, unsigned round) {
        asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(round) : "memory");
    }
    __device__ static void await(const unsigned *flag, unsigned round) {
        constexpr long long most = 20'000'000'000; // some ten seconds' cycles: the other rank has failed
        const long long begin = clock64();
        unsigned there;
        do {
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(there) : "l"(flag) : "memory");
            if (clock64() - begin > most) __trap();
        } while (static_cast<int>(there - round) < 0);
    }
};

template <class Function>
__global__ void __launch_bounds__(block_threads)
    evaluate_parts(const __grid_constant__ Function function, Neighbours neighbours, unsigned round) {
    let_next_begin();
    await_kernel_before();
    neighbours.meet(round);
    const int part = static_cast<int>(blockIdx.x);
    const Sum f = record_of_block<Sum>(threadIdx.x, function.terms(part), block_threads, function.rule(part));
    if (threadIdx.x == 0) function.of.f[part] = f.v;
}

// early: the device is of compute capability 9 or more. Returns what the launch returned.
template <class Function>
cudaError_t evaluate_in_one(const Function &function, const Neighbours &neighbours, unsigned round, bool early,
                            cudaStream_t stream) {
    return early ? launch_early(evaluate_parts<Function>, function.of.count, block_threads, 0, stream, function,
                                neighbours, round)
                 : launch(evaluate_parts<Function>, function.of.count, block_threads, 0, stream, function, neighbours,
                          round);
}

} // namespace cudaopt::bench
