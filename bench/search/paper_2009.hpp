// The figures printed in Zhu and Curry (2009): a GeForce GTX 280 and one thread of a Core 2 Duo of 2.5 GHz, in single
// precision; times in milliseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace cudaopt::bench {

struct PaperValues {
    double best, mean_best;
};

struct PaperRow {
    std::string_view function;
    double cpu_ms, gpu_ms, speed_up; // table 4: 15,360 walks in 20 variables, 20 iterations
    PaperValues cpu, gpu; // table 5: what was found in 30 variables in 10 s, in rounds of 20 iterations, in 10 runs;
                          // the CPU ends its one round. Three decimals
    double cpu_spent_ms, gpu_spent_ms; // table 5: of such a run
};

inline constexpr PaperRow paper_functions[] = {
    {"ackley", 9523.4, 78.2, 121.8, {0.000, 0.000}, {0.000, 0.000}, 19907, 10074},
    {"griewank", 9675, 92.2, 104.9, {0.064, 0.126}, {0.004, 0.007}, 21271, 10070},
    {"penalised-1", 63537.5, 484.3, 131.2, {0.000, 0.001}, {0.000, 0.000}, 140970, 10041},
    {"penalised-2", 61865.6, 509.4, 121.4, {0.008, 0.021}, {0.000, 0.000}, 136574, 10374},
    {"quartic", 2375, 51.6, 46.0, {0.000, 0.000}, {0.000, 0.000}, 10131, 10066},
    {"rastrigin", 9465.6, 70.3, 134.6, {54.588, 73.593}, {18.196, 24.666}, 21036, 10076},
    {"rosenbrock", 6421.9, 70.3, 91.3, {22.340, 25.946}, {1.020, 13.146}, 14430, 10078},
    {"schwefel-1.2", 15353.1, 117.2, 131.0, {4417.340, 5036.064}, {279.460, 539.862}, 46755, 10251},
    {"schwefel-2.22", 1890.7, 50, 37.8, {0.000, 0.000}, {0.000, 0.000}, 13441, 10042},
    {"schwefel-2.21", 2120.3, 46.9, 45.2, {12.900, 17.660}, {3.200, 3.510}, 12494, 10027},
    {"sphere", 1393.7, 45.3, 30.8, {0.000, 0.000}, {0.000, 0.000}, 11708, 10045},
    {"step", 6943.8, 50, 138.9, {0.000, 0.000}, {0.000, 0.000}, 15142, 10030},
};

// Whether a value is as low as the paper's, at its three decimals.
inline bool as_low(double value, double of_paper) { return std::round(1000 * value) <= std::round(1000 * of_paper); }

// Table 1: Ackley in 20 variables, 20 iterations, the mean of 10 runs.
struct PaperWalks {
    int64_t walks;
    double gpu_ms, cpu_ms, speed_up;
};

inline constexpr PaperWalks paper_table1[] = {{2048, 21.9, 1267.1, 57.86},
                                              {4096, 29.7, 2543.7, 85.65},
                                              {8192, 51.6, 5098.4, 98.81},
                                              {12288, 64.1, 7629.6, 119.03},
                                              {15360, 76.6, 9535.9, 124.49}};

inline const PaperWalks *paper_walks(int64_t walks) {
    for (const PaperWalks &row : paper_table1)
        if (row.walks == walks) return &row;
    return nullptr;
}

// Tables 2 and 3: 15,360 walks, 20 variables, 20 iterations. Table 2 has the CPU's time of a part of the program beside
// that of the program with the GPU. Table 3 has the calls of the GPU by a profiler: their time on the GPU and on the
// CPU, and the share of the GPU's time; it is of a run of another length than table 2.
struct PaperPart {
    double gpu_ms, cpu_ms, percent; // percent: the GPU's time over the CPU's
};
inline constexpr PaperPart paper_setup = {33.81, 46.60, 72.5}, paper_best = {6.57, 4.65, 141.5},
                           paper_search = {35.73, 9446.68, 0.4};
struct PaperCalls {
    double calls, gpu_us, cpu_us, percent;
};
inline constexpr double not_printed = std::numeric_limits<double>::quiet_NaN();
inline constexpr PaperCalls paper_kernel = {21, 729850, 110, 98.5}, paper_starts = {22, 1138, 199, 0.2},
                            paper_copies = {107, 9717, not_printed, 1.3};

// The paper's box where it is not the function's own here.
inline constexpr double paper_ackley = 30;

} // namespace cudaopt::bench
