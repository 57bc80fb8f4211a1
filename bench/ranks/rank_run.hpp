// A timed solve on several GPUs of one process, with one thread per GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::bench {

struct RankRunOptions {
    int ranks = 1;
    std::string problem = "torsion"; // or "rosenbrock"
    int64_t nx = 1000, ny = 1000;    // torsion's grid, of which each rank has whole rows; rosenbrock: n = nx ny
    int m = 5, history_bits = 64;
    int64_t iterations = 50;
    bool nccl = false;          // the packets by NCCL, else in host memory
    bool log = false;           // rank 0's, to standard output
    bool alone = false;         // of one rank: a handle that is told nothing of ranks
    bool f_of_segments = false; // f is summed by segments, so that its bits do not depend on the ranks
    int repeat = 1;             // solves
    bool timed = false;         // CUDA_OPT_TIMED
    bool late = false;          // evaluations in one kernel begin when the solver's kernel has ended
    bool general = false;       // evaluations as those of many variables, be there ever so few
    bool hash = false;          // of x at the end
    bool parts = false;         // where the time goes
};

// What an evaluation takes of a rank's thread: its launch; the solver's call that waits for this rank's numbers; the
// exchange; the call that joins, decides and launches the next step.
constexpr int parts_of_evaluation = 4;
struct Spread {
    double tenth, median, ninth; // what one, five and nine of ten keep below, seconds
};

struct RankRunResult {
    int64_t n, iterations, evaluations, exchanges, bytes; // bytes: that one rank has sent
    // An iteration after the fifth, wall time: the median of the solves, the least, what nine of ten keep below.
    double seconds, least_seconds, ninth_seconds;
    double f, pg_norm2;
    int64_t workspace; // bytes, of rank 0
    uint64_t hash;     // 0 unless asked for
    int devices;
    std::string message;
    std::vector<std::vector<Spread>> parts; // of each rank, where asked for
};

// Throws std::runtime_error.
RankRunResult run_ranks(const RankRunOptions &options);

} // namespace cudaopt::bench
