// Table 5 of Zhu and Curry (2009): the values that 15,360 walks found in 30 variables within a time limit of about 10
// s, in rounds of 20 iterations from new random starts, 10 runs; on a CPU, which ends its one round, and on a GPU of
// 2009.
#pragma once

#include <string_view>

namespace cudaopt::bench {

struct PaperValues {
    double best, mean_best;
};

struct PaperRow {
    std::string_view function;
    PaperValues cpu, gpu;
};

inline constexpr PaperRow paper_table5[] = {
    {"ackley", {0.000, 0.000}, {0.000, 0.000}},        {"griewank", {0.064, 0.126}, {0.004, 0.007}},
    {"penalised-1", {0.000, 0.001}, {0.000, 0.000}},   {"penalised-2", {0.008, 0.021}, {0.000, 0.000}},
    {"quartic", {0.000, 0.000}, {0.000, 0.000}},       {"rastrigin", {54.588, 73.593}, {18.196, 24.666}},
    {"rosenbrock", {22.340, 25.946}, {1.020, 13.146}}, {"schwefel-1.2", {4417.340, 5036.064}, {279.460, 539.862}},
    {"schwefel-2.22", {0.000, 0.000}, {0.000, 0.000}}, {"schwefel-2.21", {12.900, 17.660}, {3.200, 3.510}},
    {"sphere", {0.000, 0.000}, {0.000, 0.000}},        {"step", {0.000, 0.000}, {0.000, 0.000}},
};

// NULL: no function of the paper.
inline const PaperValues *paper_values(std::string_view function, bool gpu) {
    for (const PaperRow &row : paper_table5)
        if (row.function == function) return gpu ? &row.gpu : &row.cpu;
    return nullptr;
}

} // namespace cudaopt::bench
