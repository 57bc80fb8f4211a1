// This header defines accumulators for a sweep, which is a traversal of all variables. The result of a sweep is a
// record: a plain struct of accumulators whose function join() joins two records member by member. Joining with a
// default-constructed record changes nothing.
#pragma once

#include "exec/annotations.hpp"

#include <cmath>
#include <cstdint>

namespace cudaopt {

// Sum accumulates the sum of the values. It is always in double precision. Therefore no decision of the algorithm
// depends on the precision in which vectors are stored.
struct Sum {
    double v = 0;
    CUDA_OPT_HD void add(double x) { v += x; }
    CUDA_OPT_HD void join(const Sum &other) { v += other.v; }
};

// Max accumulates the largest value, or -Inf if there is none. It propagates NaN, which the comparison x > v alone
// would not do.
struct Max {
    double v = -INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x > v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Max &other) { add(other.v); }
};

// Min accumulates the smallest value, or +Inf if there is none. It propagates NaN.
struct Min {
    double v = INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x < v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Min &other) { add(other.v); }
};

// Count accumulates the number of variables that have a property.
struct Count {
    int64_t v = 0;
    CUDA_OPT_HD void add(bool yes) { v += yes; }
    CUDA_OPT_HD void join(const Count &other) { v += other.v; }
};

// RecordOf<Rule> is the type of the record to which rule(i, record) adds the results of variable i. It is void if the
// rule only writes elements of vectors and is called as rule(i).
template <class Rule> void record_of(void (Rule::*)(int64_t) const);
template <class Rule, class Record> Record record_of(void (Rule::*)(int64_t, Record &) const);
template <class Rule> using RecordOf = decltype(record_of(&Rule::operator()));

} // namespace cudaopt
