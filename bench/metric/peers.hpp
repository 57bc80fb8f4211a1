// Reads rows that tools/compare_tao has written: the results of other solvers on the same problems.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::bench {

struct PeerRow {
    std::string problem, solver;
    int m = 0;
    bool solved = false;
    double evaluations = 0;
};

// Throws std::invalid_argument where the file is not there or has another head.
std::vector<PeerRow> read_peers(const std::string &path);

} // namespace cudaopt::bench
