// The problems of one set with a C interface, for programs in other languages: tools/compare_tao loads it. It is built
// twice, for the small problems and for those on which initial Hessians are compared.
#include <algorithm>

#include "bench/metric/problem_set.hpp"
#include "tests/problems/problem.hpp"

using cudaopt_problems::Problem;

namespace {

const cudaopt_problems::Problems &problems() {
#ifdef CUDA_OPT_METRIC_PROBLEMS
    return cudaopt::bench::metric_problems();
#else
    return cudaopt_problems::all_problems();
#endif
}

const Problem &problem(int k) { return problems().at(static_cast<std::size_t>(k)); }
void copy(const cudaopt_problems::Vector &from, double *to) { std::copy(from.begin(), from.end(), to); }

} // namespace

extern "C" {

int small_problems_count() { return static_cast<int>(problems().size()); }
const char *small_problem_name(int k) { return problem(k).name.c_str(); }
int small_problem_size(int k) { return problem(k).n(); }
int small_problem_bounded(int k) { return problem(k).bounded(); }
void small_problem_start(int k, double *x) { copy(problem(k).start, x); }
void small_problem_lower(int k, double *l) { copy(problem(k).lower, l); }
void small_problem_upper(int k, double *u) { copy(problem(k).upper, u); }

double small_problem_evaluate(int k, const double *x, double *g) {
    const cudaopt_problems::Vector point(x, x + problem(k).n());
    cudaopt_problems::Vector gradient(point.size());
    const double f = problem(k).evaluate(point, gradient);
    copy(gradient, g);
    return f;
}

} // extern "C"
