// The problems of bench_metric with a C interface, for programs in other languages: tools/compare_tao and
// bench/python/scaled_problems.py load it.
#include <algorithm>

#include "bench/metric/problem_set.hpp"

using cudaopt_problems::Problem;

namespace {

const Problem &problem(int k) { return cudaopt::bench::metric_problems().at(static_cast<std::size_t>(k)); }
void copy(const cudaopt_problems::Vector &from, double *to) { std::copy(from.begin(), from.end(), to); }

} // namespace

extern "C" {

int small_problems_count() { return static_cast<int>(cudaopt::bench::metric_problems().size()); }
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
