// Solves of the problems of problem_set.hpp with noise, which is added to f and g anew at each evaluation.
#pragma once

#include <vector>

namespace cudaopt::bench {

void show_noise(const std::vector<double> &sizes, int m, int seeds); // one row for each size of the noise

} // namespace cudaopt::bench
