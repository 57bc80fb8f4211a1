// Searches by functor on CUDA, compiled by nvcc without contraction.
#pragma once

#include "naive.hpp"
#include "objectives.hpp"

namespace search_test {

// In place of the iterations of a first piece: the search is not cut into two.
constexpr int64_t in_one_piece = -1;

// As host_search(), with the history where the options ask for it.
template <class Objective, int N, class Real = double>
Outcome cuda_search(const Problem &p, int64_t first_piece = in_one_piece, Vector *history = nullptr);

} // namespace search_test
