// The figures printed in "Parallel L-BFGS-B Algorithm on GPU" (2014), for comparison in the tables: an Intel Xeon W5590
// and an NVIDIA GTX 580, double precision.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace cudaopt::bench::paper_2014 {

constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

// Its runs end when the energy decreases by less than 1e-64: CUDA_OPT_FACTR, and 3.0's factr, for an energy up to 1.
constexpr double least_decrease = 1e-64;
constexpr double factr = least_decrease / std::numeric_limits<double>::epsilon();

// Shares of the iterations, in percent, by |t_c - t*| / t* in the bins of CauchyDifferences; there is none from 35
// to 40.
using Shares = std::array<double, 10>;

struct SharesOfProblem {
    const char *problem; // ours; the paper's clusters are in two or in three dimensions, it does not say in which
    Shares percent;
};

// Table 1: n = 40,000, [-1, 1].
inline constexpr SharesOfProblem table_1[] = {
    {"torsion", {85.23, 12.19, 1.41, 0.35, 0, 0.35, 0.12, 0, not_given, 0.35}},
    {"bearing", {55.14, 35.26, 3.40, 1.00, 0.70, 0.60, 0.30, 0.50, not_given, 3.10}},
    {"minimal-surface", {100, 0, 0, 0, 0, 0, 0, 0, not_given, 0}},
    {"optimal-design", {86.41, 8.99, 1.10, 0.80, 0.30, 0.40, 0.20, 0, not_given, 1.80}},
    {"ginzburg-landau-1d", {100, 0, 0, 0, 0, 0, 0, 0, not_given, 0}},
    {"lennard-jones-3d", {100, 0, 0, 0, 0, 0, 0, 0, not_given, 0}},
    {"combustion", {100, 0, 0, 0, 0, 0, 0, 0, not_given, 0}},
    {"ginzburg-landau-2d", {98.70, 1.30, 0, 0, 0, 0, 0, 0, not_given, 0}},
};

inline const Shares *shares_of(const std::string &problem) {
    for (const SharesOfProblem &row : table_1)
        if (problem == row.problem) return &row.percent;
    return nullptr;
}

// Tables 2 and 3: tessellations; times in milliseconds. The CPU's time includes its I/O.
struct Tessellation {
    int64_t sites, resolution;
    double evaluation;
    int cpu_iterations;
    double cpu, cpu_io;
    int gpu_iterations;
    double gpu, speed_up, energy_difference;
    Shares percent;
};

inline constexpr double none = not_given; // short, for the next table
inline constexpr Tessellation tessellations[] = {
    {200, 512, 2.39, 53, 0.65, 0.38, 59, 1.09, 0.60, -4.79e-5, {100, 0, 0, 0, 0, 0, 0, 0, none, 0}},
    {500, 512, 2.38, 56, 1.02, 0.38, 56, 1.13, 0.90, 0, {98.39, 0, 0, 0, 0, 1.61, 0, 0, none, 0}},
    {1000, 1024, 8.70, 74, 1.81, 0.51, 74, 1.16, 1.56, 0, {100, 0, 0, 0, 0, 0, 0, 0, none, 0}},
    {2000, 1024, 8.76, 61, 3.37, 0.74, 61, 1.24, 2.72, 0, {100, 0, 0, 0, 0, 0, 0, 0, none, 0}},
    {4000, 1024, 8.85, 48, 6.21, 1.12, 48, 1.33, 4.67, 0, {98.41, 0, 0, 0, 0, 0, 0, 0, none, 1.59}},
    {4000, 2048, 41.38, 106, 6.51, 1.18, 106, 1.40, 4.65, 0, {99.07, 0, 0, 0, 0, 0, 0, 0, none, 0.93}},
    {6000, 2048, 41.84, 89, 11.2, 1.53, 71, 1.53, 7.32, 3.79e-7, {99.14, 0, 0, 0, 0, 0, 0, 0.86, none, 0}},
    {8000, 2048, 41.87, 76, 12.61, 1.92, 72, 1.60, 7.88, -3.38e-8, {98.72, 0, 1.28, 0, 0, 0, 0, 0, none, 0}},
    {10000, 2048, 41.92, 69, 15.48, 2.27, 69, 1.71, 9.05, 0, {98.61, 0, 0, 0, 1.39, 0, 0, 0, none, 0}},
    {20000, 2048, 42.43, 45, 30.09, 4.05, 55, 2.19, 13.74, -2.31e-8, {96.43, 0, 1.79, 0, 0, 0, 0, 0, none, 1.79}},
    {40000, 2048, 43.96, 34, 74.18, 9.19, 34, 3.18, 23.33, 0, {97.37, 0, 2.63, 0, 0, 0, 0, 0, none, 0}},
    {60000, 2048, 44.97, 28, 112.07, 12.81, 28, 4.06, 27.60, 0, {97.06, 0, 0, 0, 0, 0, 0, 0, none, 2.94}},
};

inline const Tessellation *tessellation(int64_t sites, int64_t resolution) {
    for (const Tessellation &row : tessellations)
        if (row.sites == sites && row.resolution == resolution) return &row;
    return nullptr;
}

// Table 4: torsion, times in milliseconds. t_star: the mean of the exact Cauchy points, on the CPU; t_c: of the
// approximate ones, on the GPU.
struct Torsion {
    int64_t n;
    double evaluation, t_star;
    int cpu_iterations;
    double cpu, t_c;
    int gpu_iterations;
    double gpu, gpu_io, speed_up, energy_difference;
};

inline constexpr Torsion table_4[] = {
    {4000000, 141.09, 0.09, 4197, 3351.68, 0.10, 3971, 137.16, 17.92, 24.44, 5.88e-11},
    {2250000, 79.62, 0.09, 2917, 2200.41, 0.10, 3213, 78.58, 9.97, 28.00, -4.52e-12},
    {1440000, 51.29, 0.07, 2915, 1473.86, 0.09, 2636, 51.50, 6.45, 28.62, 8.78e-12},
    {1000000, 36.07, 0.08, 2310, 782.62, 0.08, 1907, 36.61, 4.30, 21.38, 7.86e-12},
    {640000, 23.12, 0.07, 1685, 427.75, 0.08, 1793, 24.23, 2.70, 17.65, 3.98e-12},
    {360000, 13.11, 0.08, 1272, 220.40, 0.09, 1315, 15.27, 1.57, 14.43, 2.44e-12},
    {160000, 5.91, 0.17, 921, 117.74, 0.18, 1035, 8.17, 0.63, 14.41, -1.85e-12},
    {40000, 1.53, 0.24, 549, 15.09, 0.24, 464, 3.27, 0.20, 4.61, -1.91e-13},
    {10000, 0.39, 0.26, 241, 3.59, 0.26, 237, 1.92, 0.19, 1.87, 3.00e-14},
    {6400, 0.25, 0.26, 193, 2.29, 0.26, 199, 1.60, 0.08, 1.43, -6.90e-14},
    {3600, 0.14, 0.26, 144, 1.34, 0.27, 155, 1.50, 0.08, 0.89, 1.20e-14},
    {1600, 0.06, 0.26, 133, 0.93, 0.26, 105, 1.41, 0.05, 0.66, -9.99e-16},
    {400, 0.02, 0.26, 52, 0.20, 0.25, 49, 1.17, 0.04, 0.17, -9.99e-15},
};

inline const Torsion *torsion(int64_t n) {
    for (const Torsion &row : table_4)
        if (row.n == n) return &row;
    return nullptr;
}

// Milliseconds of an iteration of the solver for each site or variable: the slopes in figures 6 and 9.
constexpr double figure_6_cpu = 1.61e-3, figure_6_gpu = 8.03e-5, figure_9_cpu = 8.75e-4, figure_9_gpu = 3.03e-5;

} // namespace cudaopt::bench::paper_2014
