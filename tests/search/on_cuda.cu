#include "on_cuda.hpp"

namespace search_test {

template <class Objective, int N, class Real>
Outcome cuda_search(const Problem &p, int64_t first_piece, Vector *history) {
    cudaopt::CudaSearch<Objective, N, Real> search(Objective(), p.lower, p.upper, p.options);
    if (first_piece != in_one_piece) search.advance(first_piece);
    search.run();
    if (history) *history = search.history();
    return outcome_of(search, p.options.walks);
}

template Outcome cuda_search<Bowl, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<BowlBySums, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<BowlBySums, 20>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<Rosenbrock, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<Rosenbrock, 20>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<RosenbrockByTerms, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<RosenbrockByTerms, 20>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<TerracesBySums, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<StairsByTerms, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<Holes, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<HolesBySums, 0>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<Terraces, 0, float>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<TerracesBySums, 0, float>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<TerracesBySums, 20, float>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<StairsByTerms, 0, float>(const Problem &, int64_t, Vector *);
template Outcome cuda_search<Nowhere, 0>(const Problem &, int64_t, Vector *);

} // namespace search_test
